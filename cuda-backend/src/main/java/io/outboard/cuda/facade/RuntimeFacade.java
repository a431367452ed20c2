package io.outboard.cuda.facade;

import io.outboard.cuda.memory.CudaCalls;
import io.outboard.cuda.memory.DevicePointers;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import jcuda.runtime.cudaStream_t;

/** {@code OutboardRuntime} over any pools and any CUDA; that class documents each function. Not for applications. */
public class RuntimeFacade extends PooledCalls {

    public RuntimeFacade(final ContextPools pools) {
        super(pools, cudaError::stringFor, true);
    }

    // Memory

    public int cudaMalloc(final Pointer devPtr, final long size) {
        final ContextPool pool = pools.ofRuntime();
        final long address = pool == null || devPtr == null || size <= 0 ? 0 : pool.allocate(size);
        if (address > ContextPool.NOT_SERVED) {
            DevicePointers.set(devPtr, address);
            return CudaCalls.SUCCESS;
        }
        return allocated(address, pool, devPtr, () -> originalCudaMalloc(devPtr, size));
    }

    public int cudaMallocPitch(final Pointer devPtr, final long[] pitch, final long width, final long height) {
        return allocateRows(
                pools.ofRuntime(),
                devPtr,
                pitch,
                width,
                height,
                () -> originalCudaMallocPitch(devPtr, pitch, width, height));
    }

    public int cudaMalloc3D(final cudaPitchedPtr pitchDevPtr, final cudaExtent extent) {
        final ContextPool pool = pools.ofRuntime();
        final boolean ordinary = pitchDevPtr != null && extent != null && extent.depth > 0 && extent.height > 0;
        // No more rows than can be counted; else the driver refuses.
        final long rows = !ordinary || extent.depth > Long.MAX_VALUE / extent.height ? 0 : extent.height * extent.depth;
        final long pitchBytes = pool == null || rows == 0 ? 0 : pool.pitchOf(extent.width, rows);
        final Pointer pointer = !ordinary || pitchDevPtr.ptr == null ? new Pointer() : pitchDevPtr.ptr;
        final long address = allocate(pool, pointer, pitchBytes * rows);
        if (address > ContextPool.NOT_SERVED) {
            pitchDevPtr.ptr = pointer;
            pitchDevPtr.pitch = pitchBytes;
            pitchDevPtr.xsize = extent.width;
            pitchDevPtr.ysize = extent.height;
        }
        return allocated(address, pool, pointer, () -> {
            final int code = ask(() -> originalCudaMalloc3D(pitchDevPtr, extent));
            if (code != CudaCalls.SUCCESS && pitchDevPtr.ptr != null) {
                DevicePointers.set(pitchDevPtr.ptr, 0);
            }
            return code;
        });
    }

    public int cudaFree(final Pointer devPtr) {
        final ContextPool owner = owner(devPtr);
        if (owner != null) {
            return result(owner.free(DevicePointers.address(devPtr)));
        }
        final int code = ask(() -> originalCudaFree(devPtr));
        if (code == CudaCalls.SUCCESS && DevicePointers.address(devPtr) == 0) {
            // The usual way to make a context.
            pools.prepare();
        }
        return result(code);
    }

    public int cudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
        return memoryInfo(true, freeBytes, () -> originalCudaMemGetInfo(freeBytes, totalBytes));
    }

    public int cudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
        return shareMemory(handle, devPtr, () -> originalCudaIpcGetMemHandle(handle, devPtr));
    }

    // Devices

    public int cudaSetDevice(final int device) {
        return choose(() -> originalCudaSetDevice(device));
    }

    public int cudaDeviceReset() {
        return result(pools.exclusively(() -> {
            final int device = pools.currentDevice();
            // While a context beside the primary one is current, CUDA answers with success and leaves both as they are.
            final boolean surely = pools.isCurrent(pools.primaryOf(device));
            return pools.endPrimary(device, surely, () -> ask(this::originalCudaDeviceReset));
        }));
    }

    public int cudaDeviceEnablePeerAccess(final int peerDevice, final int flags) {
        return changeView(
                true, () -> pools.primaryOf(peerDevice), () -> originalCudaDeviceEnablePeerAccess(peerDevice, flags));
    }

    public int cudaDeviceDisablePeerAccess(final int peerDevice) {
        return changeView(
                false, () -> pools.primaryOf(peerDevice), () -> originalCudaDeviceDisablePeerAccess(peerDevice));
    }

    public int cudaStreamDestroy(final cudaStream_t stream) {
        return destroyStream(stream, () -> originalCudaStreamDestroy(stream));
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

    int originalCudaStreamDestroy(final cudaStream_t stream) {
        return JCuda.cudaStreamDestroy(stream);
    }

    int originalCudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
        return JCuda.cudaIpcGetMemHandle(handle, devPtr);
    }

    @Override
    void originalSetExceptionsEnabled(final boolean enabled) {
        JCuda.setExceptionsEnabled(enabled);
    }
}
