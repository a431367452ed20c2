package io.outboard.cuda;

import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** The functions of {@link JCudaDriver} that {@link DriverFacade} stands for, so that it can be tested over a fake. */
interface DriverApi {

    int cuMemAlloc(CUdeviceptr dptr, long bytesize);

    int cuMemAllocPitch(CUdeviceptr dptr, long[] pPitch, long widthInBytes, long height, int elementSizeBytes);

    int cuMemAllocAsync(CUdeviceptr dptr, long bytesize, CUstream hStream);

    int cuMemFree(CUdeviceptr dptr);

    int cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream);

    int cuMemGetInfo(long[] free, long[] total);

    int cuMemGetAddressRange(CUdeviceptr pbase, long[] psize, CUdeviceptr dptr);

    int cuIpcGetMemHandle(CUipcMemHandle pHandle, CUdeviceptr dptr);

    int cuStreamCreate(CUstream phStream, int flags);

    int cuStreamCreateWithPriority(CUstream phStream, int flags, int priority);

    int cuStreamDestroy(CUstream hStream);

    int cuStreamBeginCapture(CUstream hStream, int mode);

    int cuStreamEndCapture(CUstream hStream, CUgraph phGraph);

    int cuCtxCreate(CUcontext pctx, int flags, CUdevice dev);

    int cuCtxDestroy(CUcontext ctx);

    int cuCtxSetCurrent(CUcontext ctx);

    int cuCtxPushCurrent(CUcontext ctx);

    int cuCtxPopCurrent(CUcontext pctx);

    int cuCtxDetach(CUcontext ctx);

    int cuDevicePrimaryCtxRetain(CUcontext pctx, CUdevice dev);

    int cuDevicePrimaryCtxRelease(CUdevice dev);

    int cuDevicePrimaryCtxReset(CUdevice dev);

    void setExceptionsEnabled(boolean enabled);

    /** By JCuda. */
    final class OfJCuda implements DriverApi {

        @Override
        public int cuMemAlloc(final CUdeviceptr dptr, final long bytesize) {
            return JCudaDriver.cuMemAlloc(dptr, bytesize);
        }

        @Override
        public int cuMemAllocPitch(
                final CUdeviceptr dptr,
                final long[] pPitch,
                final long widthInBytes,
                final long height,
                final int elementSizeBytes) {
            return JCudaDriver.cuMemAllocPitch(dptr, pPitch, widthInBytes, height, elementSizeBytes);
        }

        @Override
        public int cuMemAllocAsync(final CUdeviceptr dptr, final long bytesize, final CUstream hStream) {
            return JCudaDriver.cuMemAllocAsync(dptr, bytesize, hStream);
        }

        @Override
        public int cuMemFree(final CUdeviceptr dptr) {
            return JCudaDriver.cuMemFree(dptr);
        }

        @Override
        public int cuMemFreeAsync(final CUdeviceptr dptr, final CUstream hStream) {
            return JCudaDriver.cuMemFreeAsync(dptr, hStream);
        }

        @Override
        public int cuMemGetInfo(final long[] free, final long[] total) {
            return JCudaDriver.cuMemGetInfo(free, total);
        }

        @Override
        public int cuMemGetAddressRange(final CUdeviceptr pbase, final long[] psize, final CUdeviceptr dptr) {
            return JCudaDriver.cuMemGetAddressRange(pbase, psize, dptr);
        }

        @Override
        public int cuIpcGetMemHandle(final CUipcMemHandle pHandle, final CUdeviceptr dptr) {
            return JCudaDriver.cuIpcGetMemHandle(pHandle, dptr);
        }

        @Override
        public int cuStreamCreate(final CUstream phStream, final int flags) {
            return JCudaDriver.cuStreamCreate(phStream, flags);
        }

        @Override
        public int cuStreamCreateWithPriority(final CUstream phStream, final int flags, final int priority) {
            return JCudaDriver.cuStreamCreateWithPriority(phStream, flags, priority);
        }

        @Override
        public int cuStreamDestroy(final CUstream hStream) {
            return JCudaDriver.cuStreamDestroy(hStream);
        }

        @Override
        public int cuStreamBeginCapture(final CUstream hStream, final int mode) {
            return JCudaDriver.cuStreamBeginCapture(hStream, mode);
        }

        @Override
        public int cuStreamEndCapture(final CUstream hStream, final CUgraph phGraph) {
            return JCudaDriver.cuStreamEndCapture(hStream, phGraph);
        }

        @Override
        public int cuCtxCreate(final CUcontext pctx, final int flags, final CUdevice dev) {
            return JCudaDriver.cuCtxCreate(pctx, flags, dev);
        }

        @Override
        public int cuCtxDestroy(final CUcontext ctx) {
            return JCudaDriver.cuCtxDestroy(ctx);
        }

        @Override
        public int cuCtxSetCurrent(final CUcontext ctx) {
            return JCudaDriver.cuCtxSetCurrent(ctx);
        }

        @Override
        public int cuCtxPushCurrent(final CUcontext ctx) {
            return JCudaDriver.cuCtxPushCurrent(ctx);
        }

        @Override
        public int cuCtxPopCurrent(final CUcontext pctx) {
            return JCudaDriver.cuCtxPopCurrent(pctx);
        }

        @Override
        @SuppressWarnings("deprecation")
        public int cuCtxDetach(final CUcontext ctx) {
            return JCudaDriver.cuCtxDetach(ctx);
        }

        @Override
        public int cuDevicePrimaryCtxRetain(final CUcontext pctx, final CUdevice dev) {
            return JCudaDriver.cuDevicePrimaryCtxRetain(pctx, dev);
        }

        @Override
        public int cuDevicePrimaryCtxRelease(final CUdevice dev) {
            return JCudaDriver.cuDevicePrimaryCtxRelease(dev);
        }

        @Override
        public int cuDevicePrimaryCtxReset(final CUdevice dev) {
            return JCudaDriver.cuDevicePrimaryCtxReset(dev);
        }

        @Override
        public void setExceptionsEnabled(final boolean enabled) {
            JCudaDriver.setExceptionsEnabled(enabled);
        }
    }
}
