package io.outboard.cuda.facade;

import io.outboard.cuda.memory.DevicePointers;
import java.util.function.IntSupplier;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import jcuda.runtime.cudaStream_t;

/** {@code OutboardRuntime} over any pools and any CUDA; that class documents each function. Not for applications. */
public class RuntimeFacade {

    private final ContextPools pools;
    private final PooledCalls calls;

    public RuntimeFacade(final ContextPools pools) {
        this.pools = pools;
        calls = new PooledCalls(pools, cudaError::stringFor, true);
    }

    public void setExceptionsEnabled(final boolean enabled) {
        calls.enableExceptions(enabled);
        originalSetExceptionsEnabled(enabled);
    }

    // Memory

    public int cudaMalloc(final Pointer devPtr, final long size) {
        final ContextPool pool = pools.ofRuntime();
        final int served = calls.allocate(pool, devPtr, size);
        if (served != PooledCalls.ASK_DRIVER) {
            return calls.result(served);
        }
        return calls.result(calls.allocateByDriver(
                pool, devPtr, cudaError.cudaErrorMemoryAllocation, () -> originalCudaMalloc(devPtr, size)));
    }

    public int cudaMallocPitch(final Pointer devPtr, final long[] pitch, final long width, final long height) {
        final ContextPool pool = pools.ofRuntime();
        final long pitchBytes = pitch == null ? 0 : calls.pitchOf(pool, width, height);
        if (pitchBytes > 0) {
            final int served = calls.allocate(pool, devPtr, pitchBytes * height);
            pitch[0] = served == cudaError.cudaSuccess ? pitchBytes : pitch[0];
            if (served != PooledCalls.ASK_DRIVER) {
                return calls.result(served);
            }
        }
        return calls.result(calls.allocateByDriver(
                pool,
                devPtr,
                cudaError.cudaErrorMemoryAllocation,
                () -> originalCudaMallocPitch(devPtr, pitch, width, height)));
    }

    public int cudaMalloc3D(final cudaPitchedPtr pitchDevPtr, final cudaExtent extent) {
        final ContextPool pool = pools.ofRuntime();
        if (pitchDevPtr != null && extent != null && extent.depth > 0 && extent.height > 0) {
            // No more rows than can be counted; else the driver refuses.
            final long rows = extent.depth > Long.MAX_VALUE / extent.height ? 0 : extent.height * extent.depth;
            final long pitchBytes = calls.pitchOf(pool, extent.width, rows);
            final Pointer pointer = pitchDevPtr.ptr == null ? new Pointer() : pitchDevPtr.ptr;
            final int served =
                    pitchBytes > 0 ? calls.allocate(pool, pointer, pitchBytes * rows) : PooledCalls.ASK_DRIVER;
            if (served == cudaError.cudaSuccess) {
                pitchDevPtr.ptr = pointer;
                pitchDevPtr.pitch = pitchBytes;
                pitchDevPtr.xsize = extent.width;
                pitchDevPtr.ysize = extent.height;
            }
            if (served != PooledCalls.ASK_DRIVER) {
                return calls.result(served);
            }
        }
        final int code = calls.allocateByDriver(
                pool, null, cudaError.cudaErrorMemoryAllocation, () -> originalCudaMalloc3D(pitchDevPtr, extent));
        if (code != cudaError.cudaSuccess && pitchDevPtr != null && pitchDevPtr.ptr != null) {
            DevicePointers.set(pitchDevPtr.ptr, 0);
        }
        return calls.result(code);
    }

    public int cudaFree(final Pointer devPtr) {
        final ContextPool owner = calls.owner(devPtr);
        return calls.result(
                owner == null ? calls.ask(() -> originalCudaFree(devPtr)) : owner.free(DevicePointers.address(devPtr)));
    }

    public int cudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
        final int code = calls.ask(() -> originalCudaMemGetInfo(freeBytes, totalBytes));
        if (code == cudaError.cudaSuccess) {
            PooledCalls.addUnused(pools.ofRuntime(), freeBytes);
        }
        return calls.result(code);
    }

    public int cudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
        if (handle != null && calls.owner(devPtr) != null) {
            return calls.result(cudaError.cudaErrorNotSupported);
        }
        return calls.result(calls.ask(() -> originalCudaIpcGetMemHandle(handle, devPtr)));
    }

    public int cudaIpcOpenMemHandle(final Pointer devPtr, final cudaIpcMemHandle handle, final int flags) {
        return calls.result(calls.ask(() -> originalCudaIpcOpenMemHandle(devPtr, handle, flags)));
    }

    public int cudaIpcCloseMemHandle(final Pointer devPtr) {
        return calls.result(calls.ask(() -> originalCudaIpcCloseMemHandle(devPtr)));
    }

    // Devices

    public int cudaSetDevice(final int device) {
        final int code = calls.ask(() -> originalCudaSetDevice(device));
        pools.forget();
        return calls.result(code);
    }

    public int cudaDeviceReset() {
        return calls.result(pools.exclusively(() -> {
            final int device = pools.currentDevice();
            // While a context beside the primary one is current, CUDA answers with success and leaves both as they are.
            final boolean surely = pools.isCurrent(pools.primaryOf(device));
            return pools.endPrimary(device, surely, () -> calls.ask(this::originalCudaDeviceReset));
        }));
    }

    public int cudaDeviceEnablePeerAccess(final int peerDevice, final int flags) {
        final int code = calls.ask(() -> originalCudaDeviceEnablePeerAccess(peerDevice, flags));
        // A library may have done so by itself, unseen.
        final boolean enabled = code == cudaError.cudaSuccess || code == cudaError.cudaErrorPeerAccessAlreadyEnabled;
        final int shown = enabled ? pools.changeView(pools.primaryOf(peerDevice), true) : code;
        return calls.result(shown == cudaError.cudaSuccess ? code : shown);
    }

    public int cudaDeviceDisablePeerAccess(final int peerDevice) {
        final int code = calls.ask(() -> originalCudaDeviceDisablePeerAccess(peerDevice));
        return calls.result(
                code == cudaError.cudaSuccess ? pools.changeView(pools.primaryOf(peerDevice), false) : code);
    }

    // Streams

    public int cudaStreamCreate(final cudaStream_t stream) {
        return create(stream, () -> originalCudaStreamCreate(stream));
    }

    public int cudaStreamCreateWithFlags(final cudaStream_t stream, final int flags) {
        return create(stream, () -> originalCudaStreamCreateWithFlags(stream, flags));
    }

    public int cudaStreamCreateWithPriority(final cudaStream_t stream, final int flags, final int priority) {
        return create(stream, () -> originalCudaStreamCreateWithPriority(stream, flags, priority));
    }

    public int cudaStreamDestroy(final cudaStream_t stream) {
        pools.streamEnds(PooledCalls.handleOf(stream));
        return calls.result(calls.ask(() -> originalCudaStreamDestroy(stream)));
    }

    private int create(final cudaStream_t stream, final IntSupplier call) {
        final int code = calls.ask(call);
        if (code == cudaError.cudaSuccess) {
            calls.streamCreated(pools.ofRuntime(), stream);
        }
        return calls.result(code);
    }

    // What it stands for; a test puts another in its place

    int originalCudaMalloc(final Pointer devPtr, final long size) {
        return JCuda.cudaMalloc(devPtr, size);
    }

    int originalCudaMallocPitch(final Pointer devPtr, final long[] pitch, final long width, final long height) {
        return JCuda.cudaMallocPitch(devPtr, pitch, width, height);
    }

    int originalCudaMalloc3D(final cudaPitchedPtr pitchDevPtr, final cudaExtent extent) {
        return JCuda.cudaMalloc3D(pitchDevPtr, extent);
    }

    int originalCudaFree(final Pointer devPtr) {
        return JCuda.cudaFree(devPtr);
    }

    int originalCudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
        return JCuda.cudaMemGetInfo(freeBytes, totalBytes);
    }

    int originalCudaSetDevice(final int device) {
        return JCuda.cudaSetDevice(device);
    }

    int originalCudaDeviceReset() {
        return JCuda.cudaDeviceReset();
    }

    int originalCudaDeviceEnablePeerAccess(final int peerDevice, final int flags) {
        return JCuda.cudaDeviceEnablePeerAccess(peerDevice, flags);
    }

    int originalCudaDeviceDisablePeerAccess(final int peerDevice) {
        return JCuda.cudaDeviceDisablePeerAccess(peerDevice);
    }

    int originalCudaStreamCreate(final cudaStream_t stream) {
        return JCuda.cudaStreamCreate(stream);
    }

    int originalCudaStreamCreateWithFlags(final cudaStream_t stream, final int flags) {
        return JCuda.cudaStreamCreateWithFlags(stream, flags);
    }

    int originalCudaStreamCreateWithPriority(final cudaStream_t stream, final int flags, final int priority) {
        return JCuda.cudaStreamCreateWithPriority(stream, flags, priority);
    }

    int originalCudaStreamDestroy(final cudaStream_t stream) {
        return JCuda.cudaStreamDestroy(stream);
    }

    int originalCudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
        return JCuda.cudaIpcGetMemHandle(handle, devPtr);
    }

    int originalCudaIpcOpenMemHandle(final Pointer devPtr, final cudaIpcMemHandle handle, final int flags) {
        return JCuda.cudaIpcOpenMemHandle(devPtr, handle, flags);
    }

    int originalCudaIpcCloseMemHandle(final Pointer devPtr) {
        return JCuda.cudaIpcCloseMemHandle(devPtr);
    }

    void originalSetExceptionsEnabled(final boolean enabled) {
        JCuda.setExceptionsEnabled(enabled);
    }
}
