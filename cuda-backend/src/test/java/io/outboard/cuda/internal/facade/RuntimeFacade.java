package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.internal.facade.JCudaBinding.ELEMENT;
import static io.outboard.cuda.internal.facade.JCudaBinding.POINTER;
import static io.outboard.cuda.internal.facade.JCudaBinding.handleOf;

import java.util.function.ToIntFunction;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import jcuda.runtime.cudaStream_t;

/**
 * This facade does what {@code OutboardRuntime} does, over any pools, in the place of JCuda, unless a test sets another
 * original.
 */
class RuntimeFacade {

    private final JCudaBinding binding = new JCudaBinding(true);
    private final Facade facade;

    /** The functions are in fields, since the real facade's lambdas capture nothing and make no garbage. */
    private final Facade.Allocation<Pointer> malloc = this::originalCudaMalloc;

    private final ToIntFunction<Pointer> free = this::originalCudaFree;

    RuntimeFacade(final ContextPools pools) {
        facade = Facade.ofRuntime(pools, binding);
    }

    void setExceptionsEnabled(final boolean enabled) {
        binding.setExceptionsEnabled(enabled);
        originalSetExceptionsEnabled(enabled);
    }

    int cudaMalloc(final Pointer devPtr, final long size) {
        return facade.allocate(devPtr, POINTER, size, malloc);
    }

    int cudaMallocPitch(final Pointer devPtr, final long[] pitch, final long width, final long height) {
        return facade.allocateRows(
                devPtr,
                POINTER,
                pitch,
                ELEMENT,
                width,
                height,
                () -> originalCudaMallocPitch(devPtr, pitch, width, height));
    }

    int cudaMalloc3D(final cudaPitchedPtr pitchDevPtr, final cudaExtent extent) {
        return binding.allocateSlices(facade, pitchDevPtr, extent, () -> originalCudaMalloc3D(pitchDevPtr, extent));
    }

    int cudaFree(final Pointer devPtr) {
        return facade.free(devPtr, POINTER, free);
    }

    int cudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
        return facade.memoryInfo(freeBytes, ELEMENT, () -> originalCudaMemGetInfo(freeBytes, totalBytes));
    }

    int cudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
        return facade.shareMemory(handle, devPtr, POINTER, () -> originalCudaIpcGetMemHandle(handle, devPtr));
    }

    int cudaSetDevice(final int device) {
        return facade.choose(() -> originalCudaSetDevice(device));
    }

    int cudaDeviceReset() {
        return facade.resetDevice(this::originalCudaDeviceReset);
    }

    int cudaDeviceEnablePeerAccess(final int peerDevice, final int flags) {
        return facade.changeViewOfDevice(true, peerDevice, () -> originalCudaDeviceEnablePeerAccess(peerDevice, flags));
    }

    int cudaDeviceDisablePeerAccess(final int peerDevice) {
        return facade.changeViewOfDevice(false, peerDevice, () -> originalCudaDeviceDisablePeerAccess(peerDevice));
    }

    int cudaStreamDestroy(final cudaStream_t stream) {
        return facade.destroyStream(handleOf(stream), () -> originalCudaStreamDestroy(stream));
    }

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

    void originalSetExceptionsEnabled(final boolean enabled) {
        JCuda.setExceptionsEnabled(enabled);
    }
}
