package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.internal.facade.JCudaBinding.ELEMENT;
import static io.outboard.cuda.internal.facade.JCudaBinding.POINTER;
import static io.outboard.cuda.internal.facade.JCudaBinding.addressOf;
import static io.outboard.cuda.internal.facade.JCudaBinding.handleOf;
import static io.outboard.cuda.internal.facade.JCudaBinding.numberOf;

import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * This facade does what {@code OutboardDriver} does, over any pools, in the place of JCudaDriver, unless a test sets
 * another original.
 */
class DriverFacade {

    private final JCudaBinding binding = new JCudaBinding(false);
    private final Facade facade;

    /** The functions are in fields, since the real facade's lambdas capture nothing and make no garbage. */
    private final Facade.Allocation<CUdeviceptr> alloc = this::originalCuMemAlloc;

    private final ToIntFunction<CUdeviceptr> free = this::originalCuMemFree;
    private final Facade.AsyncAllocation<CUdeviceptr, CUstream> allocAsync = this::originalCuMemAllocAsync;
    private final ToIntBiFunction<CUdeviceptr, CUstream> freeAsync = this::originalCuMemFreeAsync;

    DriverFacade(final ContextPools pools) {
        facade = Facade.ofDriver(pools, binding);
    }

    void setExceptionsEnabled(final boolean enabled) {
        binding.setExceptionsEnabled(enabled);
        originalSetExceptionsEnabled(enabled);
    }

    int cuMemAlloc(final CUdeviceptr dptr, final long bytesize) {
        return facade.allocate(dptr, POINTER, bytesize, alloc);
    }

    int cuMemAllocPitch(
            final CUdeviceptr dptr,
            final long[] pPitch,
            final long widthInBytes,
            final long height,
            final int elementSizeBytes) {
        final boolean ordinary = elementSizeBytes == 4 || elementSizeBytes == 8 || elementSizeBytes == 16;
        return facade.allocateRows(
                dptr,
                POINTER,
                ordinary ? pPitch : null,
                ELEMENT,
                widthInBytes,
                height,
                () -> originalCuMemAllocPitch(dptr, pPitch, widthInBytes, height, elementSizeBytes));
    }

    int cuMemAllocAsync(final CUdeviceptr dptr, final long bytesize, final CUstream hStream) {
        return facade.allocateAsync(dptr, POINTER, bytesize, hStream, handleOf(hStream), allocAsync);
    }

    int cuMemFree(final CUdeviceptr dptr) {
        return facade.free(dptr, POINTER, free);
    }

    int cuMemFreeAsync(final CUdeviceptr dptr, final CUstream hStream) {
        return facade.freeAsync(dptr, POINTER, hStream, handleOf(hStream), freeAsync);
    }

    int cuMemGetInfo(final long[] free, final long[] total) {
        return facade.memoryInfo(free, ELEMENT, () -> originalCuMemGetInfo(free, total));
    }

    int cuMemGetAddressRange(final CUdeviceptr pbase, final long[] psize, final CUdeviceptr dptr) {
        return facade.addressRange(
                pbase,
                POINTER,
                psize,
                ELEMENT,
                addressOf(dptr),
                () -> originalCuMemGetAddressRange(pbase, psize, dptr));
    }

    int cuIpcGetMemHandle(final CUipcMemHandle pHandle, final CUdeviceptr dptr) {
        return facade.shareMemory(pHandle, dptr, POINTER, () -> originalCuIpcGetMemHandle(pHandle, dptr));
    }

    int cuStreamDestroy(final CUstream hStream) {
        return facade.destroyStream(handleOf(hStream), () -> originalCuStreamDestroy(hStream));
    }

    int cuStreamBeginCapture(final CUstream hStream, final int mode) {
        return facade.beginCapture(handleOf(hStream), () -> originalCuStreamBeginCapture(hStream, mode));
    }

    int cuStreamEndCapture(final CUstream hStream, final CUgraph phGraph) {
        return facade.endCapture(handleOf(hStream), () -> originalCuStreamEndCapture(hStream, phGraph));
    }

    int cuCtxCreate(final CUcontext pctx, final int flags, final CUdevice dev) {
        return facade.make(() -> handleOf(pctx), () -> originalCuCtxCreate(pctx, flags, dev));
    }

    int cuCtxSetCurrent(final CUcontext ctx) {
        return facade.choose(() -> originalCuCtxSetCurrent(ctx));
    }

    int cuCtxPushCurrent(final CUcontext ctx) {
        return facade.choose(() -> originalCuCtxPushCurrent(ctx));
    }

    int cuCtxPopCurrent(final CUcontext pctx) {
        return facade.choose(() -> originalCuCtxPopCurrent(pctx));
    }

    int cuCtxDestroy(final CUcontext ctx) {
        return facade.end(handleOf(ctx), true, () -> originalCuCtxDestroy(ctx));
    }

    int cuCtxDetach(final CUcontext ctx) {
        return facade.end(handleOf(ctx), false, () -> originalCuCtxDetach(ctx));
    }

    int cuDevicePrimaryCtxRetain(final CUcontext pctx, final CUdevice dev) {
        return facade.make(() -> handleOf(pctx), () -> originalCuDevicePrimaryCtxRetain(pctx, dev));
    }

    int cuDevicePrimaryCtxRelease(final CUdevice dev) {
        return facade.endPrimary(numberOf(dev), false, () -> originalCuDevicePrimaryCtxRelease(dev));
    }

    int cuDevicePrimaryCtxReset(final CUdevice dev) {
        return facade.endPrimary(numberOf(dev), true, () -> originalCuDevicePrimaryCtxReset(dev));
    }

    int cuCtxEnablePeerAccess(final CUcontext peerContext, final int flags) {
        return facade.changeView(true, handleOf(peerContext), () -> originalCuCtxEnablePeerAccess(peerContext, flags));
    }

    int cuCtxDisablePeerAccess(final CUcontext peerContext) {
        return facade.changeView(false, handleOf(peerContext), () -> originalCuCtxDisablePeerAccess(peerContext));
    }

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

    void originalSetExceptionsEnabled(final boolean enabled) {
        JCudaDriver.setExceptionsEnabled(enabled);
    }
}
