package io.outboard.cuda;

import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import jcuda.runtime.cudaStream_t;

/** The functions of {@link JCuda} that {@link RuntimeFacade} stands for, so that it can be tested over a fake. */
interface RuntimeApi {

    int cudaMalloc(Pointer devPtr, long size);

    int cudaMallocPitch(Pointer devPtr, long[] pitch, long width, long height);

    int cudaMalloc3D(cudaPitchedPtr pitchDevPtr, cudaExtent extent);

    int cudaFree(Pointer devPtr);

    int cudaMemGetInfo(long[] freeBytes, long[] totalBytes);

    int cudaSetDevice(int device);

    int cudaDeviceReset();

    int cudaStreamCreate(cudaStream_t stream);

    int cudaStreamCreateWithFlags(cudaStream_t stream, int flags);

    int cudaStreamCreateWithPriority(cudaStream_t stream, int flags, int priority);

    int cudaStreamDestroy(cudaStream_t stream);

    int cudaIpcGetMemHandle(cudaIpcMemHandle handle, Pointer devPtr);

    int cudaIpcOpenMemHandle(Pointer devPtr, cudaIpcMemHandle handle, int flags);

    int cudaIpcCloseMemHandle(Pointer devPtr);

    void setExceptionsEnabled(boolean enabled);

    /** By JCuda. */
    final class OfJCuda implements RuntimeApi {

        @Override
        public int cudaMalloc(final Pointer devPtr, final long size) {
            return JCuda.cudaMalloc(devPtr, size);
        }

        @Override
        public int cudaMallocPitch(final Pointer devPtr, final long[] pitch, final long width, final long height) {
            return JCuda.cudaMallocPitch(devPtr, pitch, width, height);
        }

        @Override
        public int cudaMalloc3D(final cudaPitchedPtr pitchDevPtr, final cudaExtent extent) {
            return JCuda.cudaMalloc3D(pitchDevPtr, extent);
        }

        @Override
        public int cudaFree(final Pointer devPtr) {
            return JCuda.cudaFree(devPtr);
        }

        @Override
        public int cudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
            return JCuda.cudaMemGetInfo(freeBytes, totalBytes);
        }

        @Override
        public int cudaSetDevice(final int device) {
            return JCuda.cudaSetDevice(device);
        }

        @Override
        public int cudaDeviceReset() {
            return JCuda.cudaDeviceReset();
        }

        @Override
        public int cudaStreamCreate(final cudaStream_t stream) {
            return JCuda.cudaStreamCreate(stream);
        }

        @Override
        public int cudaStreamCreateWithFlags(final cudaStream_t stream, final int flags) {
            return JCuda.cudaStreamCreateWithFlags(stream, flags);
        }

        @Override
        public int cudaStreamCreateWithPriority(final cudaStream_t stream, final int flags, final int priority) {
            return JCuda.cudaStreamCreateWithPriority(stream, flags, priority);
        }

        @Override
        public int cudaStreamDestroy(final cudaStream_t stream) {
            return JCuda.cudaStreamDestroy(stream);
        }

        @Override
        public int cudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
            return JCuda.cudaIpcGetMemHandle(handle, devPtr);
        }

        @Override
        public int cudaIpcOpenMemHandle(final Pointer devPtr, final cudaIpcMemHandle handle, final int flags) {
            return JCuda.cudaIpcOpenMemHandle(devPtr, handle, flags);
        }

        @Override
        public int cudaIpcCloseMemHandle(final Pointer devPtr) {
            return JCuda.cudaIpcCloseMemHandle(devPtr);
        }

        @Override
        public void setExceptionsEnabled(final boolean enabled) {
            JCuda.setExceptionsEnabled(enabled);
        }
    }
}
