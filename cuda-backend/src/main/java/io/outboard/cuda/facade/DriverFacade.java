package io.outboard.cuda.facade;

import io.outboard.core.InvalidAddressException;
import io.outboard.cuda.memory.CudaCalls;
import io.outboard.cuda.memory.DevicePointers;
import java.util.function.IntSupplier;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/** {@code OutboardDriver} over any pools and any CUDA; that class documents each function. Not for applications. */
public class DriverFacade extends PooledCalls {

    public DriverFacade(final ContextPools pools) {
        super(pools, CUresult::stringFor, false);
    }

    // Memory

    public int cuMemAlloc(final CUdeviceptr dptr, final long bytesize) {
        final ContextPool pool = pools.ofDriver();
        final long address = pool == null || dptr == null || bytesize <= 0 ? 0 : pool.allocate(bytesize);
        if (address > ContextPool.NOT_SERVED) {
            DevicePointers.set(dptr, address);
            return CudaCalls.SUCCESS;
        }
        return allocated(address, pool, dptr, () -> originalCuMemAlloc(dptr, bytesize));
    }

    public int cuMemAllocPitch(
            final CUdeviceptr dptr,
            final long[] pPitch,
            final long widthInBytes,
            final long height,
            final int elementSizeBytes) {
        final boolean ordinary = elementSizeBytes == 4 || elementSizeBytes == 8 || elementSizeBytes == 16;
        return allocateRows(
                pools.ofDriver(),
                dptr,
                pPitch,
                ordinary ? widthInBytes : 0,
                height,
                () -> originalCuMemAllocPitch(dptr, pPitch, widthInBytes, height, elementSizeBytes));
    }

    public int cuMemAllocAsync(final CUdeviceptr dptr, final long bytesize, final CUstream hStream) {
        final long stream = handleOf(hStream);
        // The memory is to be of the stream's context, whichever is current.
        final ContextPool pool = stream == 0 ? pools.ofDriver() : pools.inContext(pools.contextOf(stream));
        final long address = pool == null || dptr == null || hStream == null || bytesize <= 0
                ? ContextPool.NOT_SERVED
                : pool.allocateAsync(bytesize, stream);
        if (address > ContextPool.NOT_SERVED) {
            DevicePointers.set(dptr, address);
            return CudaCalls.SUCCESS;
        }
        return allocated(
                address,
                pool == null ? pools.ofDriver() : pool,
                dptr,
                () -> originalCuMemAllocAsync(dptr, bytesize, hStream));
    }

    public int cuMemFree(final CUdeviceptr dptr) {
        final ContextPool owner = owner(dptr);
        return owner == null
                ? original(() -> originalCuMemFree(dptr))
                : result(owner.free(DevicePointers.address(dptr)));
    }

    public int cuMemFreeAsync(final CUdeviceptr dptr, final CUstream hStream) {
        final ContextPool owner = owner(dptr);
        if (owner == null) {
            return original(() -> originalCuMemFreeAsync(dptr, hStream));
        }
        final long stream = handleOf(hStream);
        // Each context has a default stream of its own; the current one is known without a question.
        final long home = stream == 0 && pools.ofDriver() == owner ? owner.context() : pools.contextOf(stream);
        return result(owner.freeAsync(DevicePointers.address(dptr), stream, home));
    }

    public int cuMemGetInfo(final long[] free, final long[] total) {
        return memoryInfo(false, free, () -> originalCuMemGetInfo(free, total));
    }

    public int cuMemGetAddressRange(final CUdeviceptr pbase, final long[] psize, final CUdeviceptr dptr) {
        final ContextPool owner = owner(dptr);
        if (owner == null) {
            return original(() -> originalCuMemGetAddressRange(pbase, psize, dptr));
        }
        final Range range = rangeAt(owner, DevicePointers.address(dptr));
        if (range == null) {
            return result(CUresult.CUDA_ERROR_NOT_FOUND);
        }
        if (pbase != null) {
            DevicePointers.set(pbase, range.address);
        }
        if (psize != null) {
            psize[0] = range.sizeBytes;
        }
        return CudaCalls.SUCCESS;
    }

    public int cuIpcGetMemHandle(final CUipcMemHandle pHandle, final CUdeviceptr dptr) {
        return shareMemory(pHandle, dptr, () -> originalCuIpcGetMemHandle(pHandle, dptr));
    }

    private record Range(long address, long sizeBytes) {}

    /** The block in use that has an address; null if it is free or in limbo. */
    private static @Nullable Range rangeAt(final ContextPool owner, final long wanted) {
        final Range[] found = new Range[1];
        owner.pool().forEachBlock((address, sizeBytes, free) -> {
            if (!free && wanted >= address && wanted - address < sizeBytes) {
                found[0] = new Range(address, sizeBytes);
            }
        });
        if (found[0] != null) {
            try {
                owner.pool().sizeOf(found[0].address);
            } catch (final InvalidAddressException e) {
                // Limbo: freed already, as far as the program is concerned.
                return null;
            }
        }
        return found[0];
    }

    // Streams

    public int cuStreamDestroy(final CUstream hStream) {
        return destroyStream(hStream, () -> originalCuStreamDestroy(hStream));
    }

    public int cuStreamBeginCapture(final CUstream hStream, final int mode) {
        final long stream = handleOf(hStream);
        // Before, so that no other thread synchronises in between.
        final boolean begun = pools.captures().begin(stream, pools.contextOf(stream));
        final int code = ask(() -> originalCuStreamBeginCapture(hStream, mode));
        if (begun && code != CudaCalls.SUCCESS) {
            pools.captures().ended(stream);
        }
        return result(code);
    }

    public int cuStreamEndCapture(final CUstream hStream, final CUgraph phGraph) {
        final int code = ask(() -> originalCuStreamEndCapture(hStream, phGraph));
        if (code != CUresult.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
            pools.captures().ended(handleOf(hStream));
        }
        return result(code);
    }

    // Contexts

    public int cuCtxCreate(final CUcontext pctx, final int flags, final CUdevice dev) {
        return choose(() -> make(pctx, () -> originalCuCtxCreate(pctx, flags, dev)));
    }

    public int cuCtxSetCurrent(final CUcontext ctx) {
        return choose(() -> originalCuCtxSetCurrent(ctx));
    }

    public int cuCtxPushCurrent(final CUcontext ctx) {
        return choose(() -> originalCuCtxPushCurrent(ctx));
    }

    public int cuCtxPopCurrent(final CUcontext pctx) {
        return choose(() -> originalCuCtxPopCurrent(pctx));
    }

    public int cuCtxDestroy(final CUcontext ctx) {
        return end(ctx, true, () -> originalCuCtxDestroy(ctx));
    }

    public int cuCtxDetach(final CUcontext ctx) {
        // The last one to detach destroys it, and it was current, as CUDA demands.
        return end(ctx, false, () -> originalCuCtxDetach(ctx));
    }

    public int cuDevicePrimaryCtxRetain(final CUcontext pctx, final CUdevice dev) {
        return choose(() -> make(pctx, () -> originalCuDevicePrimaryCtxRetain(pctx, dev)));
    }

    public int cuDevicePrimaryCtxRelease(final CUdevice dev) {
        // Others may hold it still.
        return endPrimary(dev, false, () -> originalCuDevicePrimaryCtxRelease(dev));
    }

    public int cuDevicePrimaryCtxReset(final CUdevice dev) {
        return endPrimary(dev, true, () -> originalCuDevicePrimaryCtxReset(dev));
    }

    public int cuCtxEnablePeerAccess(final CUcontext peerContext, final int flags) {
        return changeView(true, () -> handleOf(peerContext), () -> originalCuCtxEnablePeerAccess(peerContext, flags));
    }

    public int cuCtxDisablePeerAccess(final CUcontext peerContext) {
        return changeView(false, () -> handleOf(peerContext), () -> originalCuCtxDisablePeerAccess(peerContext));
    }

    private int make(final CUcontext made, final IntSupplier call) {
        return pools.exclusively(() -> {
            final int code = ask(call);
            if (code == CudaCalls.SUCCESS) {
                pools.contextMade(DevicePointers.handle(made));
            }
            return code;
        });
    }

    private int endPrimary(final CUdevice dev, final boolean surely, final IntSupplier call) {
        final int device = dev == null ? ContextPools.NO_DEVICE : (int) DevicePointers.handle(dev);
        return result(pools.exclusively(() -> pools.endPrimary(device, surely, () -> ask(call))));
    }

    /** What ends a context surely, or only if it isn't current any more afterwards. */
    private int end(final CUcontext ctx, final boolean surely, final IntSupplier call) {
        final long context = handleOf(ctx);
        final int code = pools.exclusively(() -> pools.end(context, () -> {
            final int answer = ask(call);
            if (answer == CudaCalls.SUCCESS && (surely || !pools.isCurrent(context))) {
                pools.contextEnded(context);
            }
            return answer;
        }));
        pools.forget();
        return result(code);
    }

    // What it stands for; a test puts another in its place

    int originalCuMemAlloc(final CUdeviceptr dptr, final long bytesize) {
        return JCudaDriver.cuMemAlloc(dptr, bytesize);
    }

    int originalCuMemAllocPitch(
            final CUdeviceptr dptr,
            final long[] pPitch,
            final long widthInBytes,
            final long height,
            final int elementSizeBytes) {
        return JCudaDriver.cuMemAllocPitch(dptr, pPitch, widthInBytes, height, elementSizeBytes);
    }

    int originalCuMemAllocAsync(final CUdeviceptr dptr, final long bytesize, final CUstream hStream) {
        return JCudaDriver.cuMemAllocAsync(dptr, bytesize, hStream);
    }

    int originalCuMemFree(final CUdeviceptr dptr) {
        return JCudaDriver.cuMemFree(dptr);
    }

    int originalCuMemFreeAsync(final CUdeviceptr dptr, final CUstream hStream) {
        return JCudaDriver.cuMemFreeAsync(dptr, hStream);
    }

    int originalCuMemGetInfo(final long[] free, final long[] total) {
        return JCudaDriver.cuMemGetInfo(free, total);
    }

    int originalCuMemGetAddressRange(final CUdeviceptr pbase, final long[] psize, final CUdeviceptr dptr) {
        return JCudaDriver.cuMemGetAddressRange(pbase, psize, dptr);
    }

    int originalCuIpcGetMemHandle(final CUipcMemHandle pHandle, final CUdeviceptr dptr) {
        return JCudaDriver.cuIpcGetMemHandle(pHandle, dptr);
    }

    int originalCuStreamDestroy(final CUstream hStream) {
        return JCudaDriver.cuStreamDestroy(hStream);
    }

    int originalCuStreamBeginCapture(final CUstream hStream, final int mode) {
        return JCudaDriver.cuStreamBeginCapture(hStream, mode);
    }

    int originalCuStreamEndCapture(final CUstream hStream, final CUgraph phGraph) {
        return JCudaDriver.cuStreamEndCapture(hStream, phGraph);
    }

    int originalCuCtxCreate(final CUcontext pctx, final int flags, final CUdevice dev) {
        return JCudaDriver.cuCtxCreate(pctx, flags, dev);
    }

    int originalCuCtxDestroy(final CUcontext ctx) {
        return JCudaDriver.cuCtxDestroy(ctx);
    }

    int originalCuCtxSetCurrent(final CUcontext ctx) {
        return JCudaDriver.cuCtxSetCurrent(ctx);
    }

    int originalCuCtxPushCurrent(final CUcontext ctx) {
        return JCudaDriver.cuCtxPushCurrent(ctx);
    }

    int originalCuCtxPopCurrent(final CUcontext pctx) {
        return JCudaDriver.cuCtxPopCurrent(pctx);
    }

    @SuppressWarnings("deprecation")
    int originalCuCtxDetach(final CUcontext ctx) {
        return JCudaDriver.cuCtxDetach(ctx);
    }

    int originalCuDevicePrimaryCtxRetain(final CUcontext pctx, final CUdevice dev) {
        return JCudaDriver.cuDevicePrimaryCtxRetain(pctx, dev);
    }

    int originalCuDevicePrimaryCtxRelease(final CUdevice dev) {
        return JCudaDriver.cuDevicePrimaryCtxRelease(dev);
    }

    int originalCuDevicePrimaryCtxReset(final CUdevice dev) {
        return JCudaDriver.cuDevicePrimaryCtxReset(dev);
    }

    int originalCuCtxEnablePeerAccess(final CUcontext peerContext, final int flags) {
        return JCudaDriver.cuCtxEnablePeerAccess(peerContext, flags);
    }

    int originalCuCtxDisablePeerAccess(final CUcontext peerContext) {
        return JCudaDriver.cuCtxDisablePeerAccess(peerContext);
    }

    @Override
    void originalSetExceptionsEnabled(final boolean enabled) {
        JCudaDriver.setExceptionsEnabled(enabled);
    }
}
