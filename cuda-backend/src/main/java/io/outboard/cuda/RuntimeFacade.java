package io.outboard.cuda;

import java.util.function.IntSupplier;
import jcuda.Pointer;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import jcuda.runtime.cudaStream_t;

/** {@link OutboardRuntime} over any pools and any CUDA; that class documents each function. */
final class RuntimeFacade {

    private final DevicePools pools;
    private final RuntimeApi api;
    private final PooledCalls calls;

    RuntimeFacade(final DevicePools pools, final RuntimeApi api) {
        this.pools = pools;
        this.api = api;
        calls = new PooledCalls(pools, cudaError::stringFor, true);
    }

    void setExceptionsEnabled(final boolean enabled) {
        calls.enableExceptions(enabled);
        api.setExceptionsEnabled(enabled);
    }

    // Memory

    int cudaMalloc(final Pointer devPtr, final long size) {
        final DevicePool pool = pools.ofRuntime();
        if (calls.allocate(pool, devPtr, size)) {
            return cudaError.cudaSuccess;
        }
        return calls.result(calls.allocateByDriver(
                pool, devPtr, cudaError.cudaErrorMemoryAllocation, () -> api.cudaMalloc(devPtr, size)));
    }

    int cudaMallocPitch(final Pointer devPtr, final long[] pitch, final long width, final long height) {
        final DevicePool pool = pools.ofRuntime();
        final long pitchBytes = pitch == null ? 0 : calls.pitchOf(pool, width, height);
        if (pitchBytes > 0 && calls.allocate(pool, devPtr, pitchBytes * height)) {
            pitch[0] = pitchBytes;
            return cudaError.cudaSuccess;
        }
        return calls.result(calls.allocateByDriver(
                pool,
                devPtr,
                cudaError.cudaErrorMemoryAllocation,
                () -> api.cudaMallocPitch(devPtr, pitch, width, height)));
    }

    int cudaMalloc3D(final cudaPitchedPtr pitchDevPtr, final cudaExtent extent) {
        final DevicePool pool = pools.ofRuntime();
        if (pitchDevPtr != null && extent != null && extent.depth > 0 && extent.height > 0) {
            // No more rows than can be counted; else the driver refuses.
            final long rows = extent.depth > Long.MAX_VALUE / extent.height ? 0 : extent.height * extent.depth;
            final long pitchBytes = calls.pitchOf(pool, extent.width, rows);
            final Pointer pointer = pitchDevPtr.ptr == null ? new Pointer() : pitchDevPtr.ptr;
            if (pitchBytes > 0 && calls.allocate(pool, pointer, pitchBytes * rows)) {
                pitchDevPtr.ptr = pointer;
                pitchDevPtr.pitch = pitchBytes;
                pitchDevPtr.xsize = extent.width;
                pitchDevPtr.ysize = extent.height;
                return cudaError.cudaSuccess;
            }
        }
        final int code = calls.allocateByDriver(
                pool, null, cudaError.cudaErrorMemoryAllocation, () -> api.cudaMalloc3D(pitchDevPtr, extent));
        if (code != cudaError.cudaSuccess && pitchDevPtr != null && pitchDevPtr.ptr != null) {
            DevicePointers.set(pitchDevPtr.ptr, 0);
        }
        return calls.result(code);
    }

    int cudaFree(final Pointer devPtr) {
        final DevicePool owner = calls.owner(devPtr);
        return calls.result(
                owner == null ? calls.ask(() -> api.cudaFree(devPtr)) : owner.free(DevicePointers.address(devPtr)));
    }

    int cudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
        final int code = calls.ask(() -> api.cudaMemGetInfo(freeBytes, totalBytes));
        if (code == cudaError.cudaSuccess) {
            PooledCalls.addUnused(pools.ofRuntime(), freeBytes);
        }
        return calls.result(code);
    }

    int cudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
        if (handle != null && calls.owner(devPtr) != null) {
            return calls.result(cudaError.cudaErrorNotSupported);
        }
        return calls.result(calls.ask(() -> api.cudaIpcGetMemHandle(handle, devPtr)));
    }

    int cudaIpcOpenMemHandle(final Pointer devPtr, final cudaIpcMemHandle handle, final int flags) {
        return calls.result(calls.ask(() -> api.cudaIpcOpenMemHandle(devPtr, handle, flags)));
    }

    int cudaIpcCloseMemHandle(final Pointer devPtr) {
        return calls.result(calls.ask(() -> api.cudaIpcCloseMemHandle(devPtr)));
    }

    // Devices

    int cudaSetDevice(final int device) {
        final int code = calls.ask(() -> api.cudaSetDevice(device));
        pools.forget();
        return calls.result(code);
    }

    int cudaDeviceReset() {
        return calls.result(pools.exclusively(() -> {
            final int device = pools.currentDevice();
            // While a context beside the primary one is current, CUDA answers with success and leaves both as they are.
            final boolean surely = pools.isCurrent(pools.primaryOf(device));
            return pools.endPrimary(device, surely, () -> calls.ask(api::cudaDeviceReset));
        }));
    }

    // Streams

    int cudaStreamCreate(final cudaStream_t stream) {
        return create(stream, () -> api.cudaStreamCreate(stream));
    }

    int cudaStreamCreateWithFlags(final cudaStream_t stream, final int flags) {
        return create(stream, () -> api.cudaStreamCreateWithFlags(stream, flags));
    }

    int cudaStreamCreateWithPriority(final cudaStream_t stream, final int flags, final int priority) {
        return create(stream, () -> api.cudaStreamCreateWithPriority(stream, flags, priority));
    }

    int cudaStreamDestroy(final cudaStream_t stream) {
        pools.streamEnds(PooledCalls.handleOf(stream));
        return calls.result(calls.ask(() -> api.cudaStreamDestroy(stream)));
    }

    private int create(final cudaStream_t stream, final IntSupplier call) {
        final int code = calls.ask(call);
        if (code == cudaError.cudaSuccess) {
            calls.streamCreated(pools.ofRuntime(), stream);
        }
        return calls.result(code);
    }
}
