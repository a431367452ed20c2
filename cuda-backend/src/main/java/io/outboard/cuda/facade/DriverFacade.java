package io.outboard.cuda.facade;

import io.outboard.core.InvalidAddressException;
import io.outboard.cuda.memory.ContextWork;
import io.outboard.cuda.memory.DevicePointers;
import java.util.function.IntSupplier;
import java.util.function.LongToIntFunction;
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
public class DriverFacade {

    private static final int OUT_OF_MEMORY = CUresult.CUDA_ERROR_OUT_OF_MEMORY;

    private final ContextPools pools;
    private final PooledCalls calls;

    public DriverFacade(final ContextPools pools) {
        this.pools = pools;
        calls = new PooledCalls(pools, CUresult::stringFor, false);
    }

    public void setExceptionsEnabled(final boolean enabled) {
        calls.enableExceptions(enabled);
        originalSetExceptionsEnabled(enabled);
    }

    // Memory

    public int cuMemAlloc(final CUdeviceptr dptr, final long bytesize) {
        final ContextPool pool = pools.ofDriver();
        final int served = calls.allocate(pool, dptr, bytesize);
        if (served != PooledCalls.ASK_DRIVER) {
            return calls.result(served);
        }
        return calls.result(
                calls.allocateByDriver(pool, dptr, OUT_OF_MEMORY, () -> originalCuMemAlloc(dptr, bytesize)));
    }

    public int cuMemAllocPitch(
            final CUdeviceptr dptr,
            final long[] pPitch,
            final long widthInBytes,
            final long height,
            final int elementSizeBytes) {
        final ContextPool pool = pools.ofDriver();
        final boolean ordinary =
                pPitch != null && (elementSizeBytes == 4 || elementSizeBytes == 8 || elementSizeBytes == 16);
        final long pitchBytes = ordinary ? calls.pitchOf(pool, widthInBytes, height) : 0;
        if (pitchBytes > 0) {
            final int served = calls.allocate(pool, dptr, pitchBytes * height);
            pPitch[0] = served == CUresult.CUDA_SUCCESS ? pitchBytes : pPitch[0];
            if (served != PooledCalls.ASK_DRIVER) {
                return calls.result(served);
            }
        }
        return calls.result(calls.allocateByDriver(
                pool,
                dptr,
                OUT_OF_MEMORY,
                () -> originalCuMemAllocPitch(dptr, pPitch, widthInBytes, height, elementSizeBytes)));
    }

    public int cuMemAllocAsync(final CUdeviceptr dptr, final long bytesize, final CUstream hStream) {
        final long stream = PooledCalls.handleOf(hStream);
        // The memory is to be of the stream's context, whichever is current. Of other streams the driver knows it.
        final ContextPool pool = stream == ContextWork.DEFAULT_STREAM ? pools.ofDriver() : pools.ofStream(stream);
        if (pool != null && dptr != null && hStream != null && bytesize > 0) {
            final int served = PooledCalls.allocated(pool.allocateAsync(bytesize, stream), dptr);
            if (served != PooledCalls.ASK_DRIVER) {
                return calls.result(served);
            }
        }
        return calls.result(calls.allocateByDriver(
                pool == null ? pools.ofDriver() : pool,
                dptr,
                OUT_OF_MEMORY,
                () -> originalCuMemAllocAsync(dptr, bytesize, hStream)));
    }

    public int cuMemFree(final CUdeviceptr dptr) {
        final ContextPool owner = calls.owner(dptr);
        return calls.result(
                owner == null ? calls.ask(() -> originalCuMemFree(dptr)) : owner.free(DevicePointers.address(dptr)));
    }

    public int cuMemFreeAsync(final CUdeviceptr dptr, final CUstream hStream) {
        final ContextPool owner = calls.owner(dptr);
        if (owner == null) {
            return calls.result(calls.ask(() -> originalCuMemFreeAsync(dptr, hStream)));
        }
        final long address = DevicePointers.address(dptr);
        final long stream = PooledCalls.handleOf(hStream);
        // Each context has a default stream of its own.
        final boolean known = stream == ContextWork.DEFAULT_STREAM ? pools.ofDriver() == owner : owner.knows(stream);
        return calls.result(known ? owner.freeAsync(address, stream) : owner.freeAfterOther(address, stream));
    }

    public int cuMemGetInfo(final long[] free, final long[] total) {
        final int code = calls.ask(() -> originalCuMemGetInfo(free, total));
        if (code == CUresult.CUDA_SUCCESS) {
            PooledCalls.addUnused(pools.ofDriver(), free);
        }
        return calls.result(code);
    }

    public int cuMemGetAddressRange(final CUdeviceptr pbase, final long[] psize, final CUdeviceptr dptr) {
        final ContextPool owner = calls.owner(dptr);
        if (owner == null) {
            return calls.result(calls.ask(() -> originalCuMemGetAddressRange(pbase, psize, dptr)));
        }
        final Range range = rangeAt(owner, DevicePointers.address(dptr));
        if (range == null) {
            return calls.result(CUresult.CUDA_ERROR_NOT_FOUND);
        }
        if (pbase != null) {
            DevicePointers.set(pbase, range.address);
        }
        if (psize != null) {
            psize[0] = range.sizeBytes;
        }
        return CUresult.CUDA_SUCCESS;
    }

    public int cuIpcGetMemHandle(final CUipcMemHandle pHandle, final CUdeviceptr dptr) {
        if (pHandle != null && calls.owner(dptr) != null) {
            return calls.result(CUresult.CUDA_ERROR_NOT_SUPPORTED);
        }
        return calls.result(calls.ask(() -> originalCuIpcGetMemHandle(pHandle, dptr)));
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

    public int cuStreamCreate(final CUstream phStream, final int flags) {
        return create(phStream, () -> originalCuStreamCreate(phStream, flags));
    }

    public int cuStreamCreateWithPriority(final CUstream phStream, final int flags, final int priority) {
        return create(phStream, () -> originalCuStreamCreateWithPriority(phStream, flags, priority));
    }

    public int cuStreamDestroy(final CUstream hStream) {
        pools.streamEnds(PooledCalls.handleOf(hStream));
        return calls.result(calls.ask(() -> originalCuStreamDestroy(hStream)));
    }

    public int cuStreamBeginCapture(final CUstream hStream, final int mode) {
        final long stream = PooledCalls.handleOf(hStream);
        // Before, so that no other thread synchronises in between.
        final boolean begun = pools.captures().begin(stream, pools.contextOf(stream));
        final int code = calls.ask(() -> originalCuStreamBeginCapture(hStream, mode));
        if (begun && code != CUresult.CUDA_SUCCESS) {
            pools.captures().ended(stream);
        }
        return calls.result(code);
    }

    public int cuStreamEndCapture(final CUstream hStream, final CUgraph phGraph) {
        final int code = calls.ask(() -> originalCuStreamEndCapture(hStream, phGraph));
        if (code != CUresult.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD) {
            pools.captures().ended(PooledCalls.handleOf(hStream));
        }
        return calls.result(code);
    }

    private int create(final CUstream stream, final IntSupplier call) {
        final int code = calls.ask(call);
        if (code == CUresult.CUDA_SUCCESS) {
            calls.streamCreated(pools.ofDriver(), stream);
        }
        return calls.result(code);
    }

    // Contexts

    public int cuCtxCreate(final CUcontext pctx, final int flags, final CUdevice dev) {
        return change(() -> {
            final int code = calls.ask(() -> originalCuCtxCreate(pctx, flags, dev));
            if (code == CUresult.CUDA_SUCCESS) {
                pools.contextMade(DevicePointers.handle(pctx));
            }
            return code;
        });
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
        return end(ctx, context -> {
            final int code = calls.ask(() -> originalCuCtxDestroy(ctx));
            if (code == CUresult.CUDA_SUCCESS) {
                pools.contextEnded(context);
            }
            return code;
        });
    }

    public int cuCtxDetach(final CUcontext ctx) {
        return end(ctx, context -> {
            final int code = calls.ask(() -> originalCuCtxDetach(ctx));
            // The last one to detach destroys it, and it was current, as CUDA demands.
            if (code == CUresult.CUDA_SUCCESS && !pools.isCurrent(context)) {
                pools.contextEnded(context);
            }
            return code;
        });
    }

    public int cuDevicePrimaryCtxRetain(final CUcontext pctx, final CUdevice dev) {
        return change(() -> {
            final int code = calls.ask(() -> originalCuDevicePrimaryCtxRetain(pctx, dev));
            if (code == CUresult.CUDA_SUCCESS) {
                pools.contextMade(DevicePointers.handle(pctx));
            }
            return code;
        });
    }

    public int cuDevicePrimaryCtxRelease(final CUdevice dev) {
        // Others may hold it still.
        return endPrimary(dev, false, () -> originalCuDevicePrimaryCtxRelease(dev));
    }

    public int cuDevicePrimaryCtxReset(final CUdevice dev) {
        return endPrimary(dev, true, () -> originalCuDevicePrimaryCtxReset(dev));
    }

    public int cuCtxEnablePeerAccess(final CUcontext peerContext, final int flags) {
        final int code = calls.ask(() -> originalCuCtxEnablePeerAccess(peerContext, flags));
        // A library may have done so by itself, unseen.
        final boolean enabled =
                code == CUresult.CUDA_SUCCESS || code == CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        final int shown = enabled ? pools.changeView(DevicePointers.handle(peerContext), true) : code;
        return calls.result(shown == CUresult.CUDA_SUCCESS ? code : shown);
    }

    public int cuCtxDisablePeerAccess(final CUcontext peerContext) {
        final int code = calls.ask(() -> originalCuCtxDisablePeerAccess(peerContext));
        return calls.result(
                code == CUresult.CUDA_SUCCESS ? pools.changeView(DevicePointers.handle(peerContext), false) : code);
    }

    private int endPrimary(final CUdevice dev, final boolean surely, final IntSupplier call) {
        final int device = dev == null ? ContextPools.NO_DEVICE : (int) DevicePointers.handle(dev);
        return change(() -> pools.endPrimary(device, surely, () -> calls.ask(call)));
    }

    private int end(final CUcontext ctx, final LongToIntFunction call) {
        final long context = ctx == null ? 0 : DevicePointers.handle(ctx);
        return change(() -> pools.end(context, () -> call.applyAsInt(context)));
    }

    private int choose(final IntSupplier call) {
        final int code = calls.ask(call);
        pools.forget();
        return calls.result(code);
    }

    /** Makes or ends a context. */
    private int change(final IntSupplier call) {
        final int code = pools.exclusively(call);
        pools.forget();
        return calls.result(code);
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

    int originalCuStreamCreate(final CUstream phStream, final int flags) {
        return JCudaDriver.cuStreamCreate(phStream, flags);
    }

    int originalCuStreamCreateWithPriority(final CUstream phStream, final int flags, final int priority) {
        return JCudaDriver.cuStreamCreateWithPriority(phStream, flags, priority);
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

    void originalSetExceptionsEnabled(final boolean enabled) {
        JCudaDriver.setExceptionsEnabled(enabled);
    }
}
