package io.outboard.cuda;

import io.outboard.cuda.internal.facade.Facade;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * The functions of {@code jcuda.driver.JCudaDriver} that have to do with device memory, with the same signatures, over
 * the pools that {@link OutboardRuntime} uses: a program changes the import and keeps its code. <b>{@link #cuMemFree}
 * is no barrier</b>, as CUDA's own is, unless {@link OutboardOptions#freeIsBarrier} says so: a program that copies to
 * pinned memory without waiting, frees, and reads what was copied, needs that.
 *
 * <p>Algorithm, codes and corner cases are as there. There is a pool for each context, since memory, streams and events
 * are a context's. A thread's context is remembered, so it is to be changed by the functions here and not by
 * JCudaDriver's, or by {@link OutboardRuntime#cudaSetDevice}; and contexts are to be ended here or by {@link
 * OutboardRuntime#cudaDeviceReset}. A thread without a context gets JCudaDriver's answer.
 *
 * <p>While a stream is captured into a graph, {@link #cuMemAllocAsync} on it is JCudaDriver's, so that memory and graph
 * belong together.
 *
 * <p>Thread-safety: safe for any number of threads; a {@link CUdeviceptr} is confined to one. Cost: tens of
 * nanoseconds, no call of the driver and no garbage for {@link #cuMemAlloc} and {@link #cuMemFree}, as long as the pool
 * neither grows nor asks the device; {@link #cuMemAllocAsync} and {@link #cuMemFreeAsync} ask for the stream's context.
 * When the pool has reached its share of the device, or the device is full, JCudaDriver's own function is called; its
 * code is the answer, and the caller's pointer is null then.
 */
public final class OutboardDriver {

    private static final Facade FACADE = Facade.ofDriver(Outboard.POOLS);

    private OutboardDriver() {}

    /**
     * Lets errors be thrown as {@link jcuda.CudaException} rather than returned, here and in {@code JCudaDriver}, whose
     * own switch is turned as well. This is off at first.
     *
     * @param enabled true to throw
     */
    public static void setExceptionsEnabled(final boolean enabled) {
        FACADE.setExceptionsEnabled(enabled);
        JCudaDriver.setExceptionsEnabled(enabled);
    }

    // Memory

    /**
     * Allocates memory in the calling thread's context.
     *
     * @param dptr set to the address, a multiple of 256; to null on failure
     * @param bytesize in bytes; CUDA refuses 0
     * @return CUDA's code, {@code CUDA_ERROR_OUT_OF_MEMORY} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemAlloc(final CUdeviceptr dptr, final long bytesize) {
        return FACADE.allocate(dptr, bytesize, JCudaDriver::cuMemAlloc);
    }

    /**
     * Allocates rows, each at a multiple of the pitch, which is the driver's own for that width.
     *
     * @param dptr set to the address; to null on failure
     * @param pPitch element 0 is set to the length of a row in bytes
     * @param widthInBytes of a row
     * @param height rows
     * @param elementSizeBytes 4, 8 or 16
     * @return CUDA's code, {@code CUDA_ERROR_OUT_OF_MEMORY} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemAllocPitch(
            final CUdeviceptr dptr,
            final long[] pPitch,
            final long widthInBytes,
            final long height,
            final int elementSizeBytes) {
        final boolean ordinary = elementSizeBytes == 4 || elementSizeBytes == 8 || elementSizeBytes == 16;
        return FACADE.allocateRows(
                dptr,
                ordinary ? pPitch : null,
                widthInBytes,
                height,
                () -> JCudaDriver.cuMemAllocPitch(dptr, pPitch, widthInBytes, height, elementSizeBytes));
    }

    /**
     * Allocates memory for work on one stream, in the stream's context. If the policy is {@code STREAM_ORDERED}, what
     * was freed on the stream comes first. If that context has no pool, JCudaDriver serves it.
     *
     * @param dptr set to the address; to null on failure
     * @param bytesize in bytes
     * @param hStream where the memory is used first
     * @return CUDA's code, {@code CUDA_ERROR_OUT_OF_MEMORY} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemAllocAsync(final CUdeviceptr dptr, final long bytesize, final CUstream hStream) {
        return FACADE.allocateAsync(dptr, bytesize, hStream, JCudaDriver::cuMemAllocAsync);
    }

    /**
     * Frees memory, as safely as {@code JCudaDriver.cuMemFree} if the policy is {@code STRICT}, but without a wait as a
     * rule.
     *
     * @param dptr what was allocated here or by JCudaDriver, by whichever thread, in whichever context
     * @return CUDA's code, {@code CUDA_ERROR_INVALID_VALUE} if no block in use starts there; nothing has changed then
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemFree(final CUdeviceptr dptr) {
        return FACADE.free(dptr, JCudaDriver::cuMemFree);
    }

    /**
     * Frees memory that only work on one stream uses. A pool's memory can't be freed as part of a graph. If stream and
     * memory are of two contexts, the memory comes back as if {@link #cuMemFree} freed it, once all work of both
     * contexts so far has finished.
     *
     * @param dptr what was allocated here or by JCudaDriver
     * @param hStream where the memory was used last
     * @return CUDA's code, {@code CUDA_ERROR_INVALID_VALUE} if no block in use starts there, {@code
     *     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED} for a pool's memory on a stream that is captured; nothing has changed
     *     then
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemFreeAsync(final CUdeviceptr dptr, final CUstream hStream) {
        return FACADE.freeAsync(dptr, hStream, JCudaDriver::cuMemFreeAsync);
    }

    /**
     * Tells what is free on the context's device, in bytes.
     *
     * @param free element 0 is set to what the driver has free, and the pool too
     * @param total element 0 is set to what the device has
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemGetInfo(final long[] free, final long[] total) {
        return FACADE.memoryInfo(free, () -> JCudaDriver.cuMemGetInfo(free, total));
    }

    /**
     * Finds the allocation that has an address: of a pool's memory the block and not the region, in O(blocks).
     *
     * @param pbase set to the first address, unless null
     * @param psize element 0 is set to the size in bytes, unless null; of a pool a multiple of 256
     * @param dptr an address in it
     * @return CUDA's code, {@code CUDA_ERROR_NOT_FOUND} if nothing in use is there
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemGetAddressRange(final CUdeviceptr pbase, final long[] psize, final CUdeviceptr dptr) {
        return FACADE.addressRange(pbase, psize, dptr, () -> JCudaDriver.cuMemGetAddressRange(pbase, psize, dptr));
    }

    /**
     * Makes a handle by which another process opens memory. A pool's memory is refused; {@link
     * OutboardRuntime#cudaIpcGetMemHandle} says why.
     *
     * @param pHandle set, for memory that JCudaDriver allocated
     * @param dptr memory to share
     * @return CUDA's code, {@code CUDA_ERROR_NOT_SUPPORTED} for a pool's memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuIpcGetMemHandle(final CUipcMemHandle pHandle, final CUdeviceptr dptr) {
        return FACADE.shareMemory(pHandle, dptr, () -> JCudaDriver.cuIpcGetMemHandle(pHandle, dptr));
    }

    // Streams

    /**
     * Destroys a stream. Memory that its unfinished work uses stays safe, also if JCudaDriver destroys it. A capture of
     * it ends.
     *
     * @param hStream the stream
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuStreamDestroy(final CUstream hStream) {
        return FACADE.destroyStream(hStream, () -> JCudaDriver.cuStreamDestroy(hStream));
    }

    /**
     * Begins to capture a stream into a graph. Until all captures have ended, no pool waits for the device or marks its
     * work, so what was freed comes back later: pools grow meanwhile. If a thread is waiting for the device on a pool's
     * behalf, this waits until it has done so, some 300 ms at most.
     *
     * @param hStream the stream
     * @param mode as JCudaDriver's
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuStreamBeginCapture(final CUstream hStream, final int mode) {
        return FACADE.beginCapture(hStream, () -> JCudaDriver.cuStreamBeginCapture(hStream, mode));
    }

    /**
     * Ends the capture of a stream.
     *
     * @param hStream the stream
     * @param phGraph set to the graph
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuStreamEndCapture(final CUstream hStream, final CUgraph phGraph) {
        return FACADE.endCapture(hStream, () -> JCudaDriver.cuStreamEndCapture(hStream, phGraph));
    }

    // Contexts

    /**
     * Creates a context and makes it the calling thread's.
     *
     * @param pctx set to the context
     * @param flags as JCudaDriver's
     * @param dev the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxCreate(final CUcontext pctx, final int flags, final CUdevice dev) {
        return FACADE.make(pctx, () -> JCudaDriver.cuCtxCreate(pctx, flags, dev));
    }

    /**
     * Destroys a context. All its memory is gone, and so is its pool.
     *
     * @param ctx the context
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxDestroy(final CUcontext ctx) {
        return FACADE.end(ctx, true, () -> JCudaDriver.cuCtxDestroy(ctx));
    }

    /**
     * Lets the calling thread use another context, and so another pool.
     *
     * @param ctx the context
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxSetCurrent(final CUcontext ctx) {
        return FACADE.choose(() -> JCudaDriver.cuCtxSetCurrent(ctx));
    }

    /**
     * Lets the calling thread use another context for a while.
     *
     * @param ctx the context
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxPushCurrent(final CUcontext ctx) {
        return FACADE.choose(() -> JCudaDriver.cuCtxPushCurrent(ctx));
    }

    /**
     * Lets the calling thread use the context that it used before.
     *
     * @param pctx set to the context that was current
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxPopCurrent(final CUcontext pctx) {
        return FACADE.choose(() -> JCudaDriver.cuCtxPopCurrent(pctx));
    }

    /**
     * Gives up one use of a context. With the last one it is destroyed: all its memory is gone, and so is its pool.
     *
     * @param ctx the context, the calling thread's
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    @SuppressWarnings("deprecation")
    public static int cuCtxDetach(final CUcontext ctx) {
        return FACADE.end(ctx, false, () -> JCudaDriver.cuCtxDetach(ctx));
    }

    /**
     * Holds a device's primary context, and makes it if it isn't there.
     *
     * @param pctx set to the context
     * @param dev the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuDevicePrimaryCtxRetain(final CUcontext pctx, final CUdevice dev) {
        return FACADE.make(pctx, () -> JCudaDriver.cuDevicePrimaryCtxRetain(pctx, dev));
    }

    /**
     * Lets go of a device's primary context. With the last release all its memory is gone, and so is its pool.
     *
     * @param dev the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuDevicePrimaryCtxRelease(final CUdevice dev) {
        return FACADE.endPrimary(dev, false, () -> JCudaDriver.cuDevicePrimaryCtxRelease(dev));
    }

    /**
     * Resets a device's primary context. All its memory is gone, and so is its pool; the next allocation makes a new
     * one.
     *
     * @param dev the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuDevicePrimaryCtxReset(final CUdevice dev) {
        return FACADE.endPrimary(dev, true, () -> JCudaDriver.cuDevicePrimaryCtxReset(dev));
    }

    /**
     * Lets the current context read and write the memory of another, also what is allocated later, be it the driver's
     * or a pool's.
     *
     * @param peerContext the other one
     * @param flags 0
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxEnablePeerAccess(final CUcontext peerContext, final int flags) {
        return FACADE.changeView(true, peerContext, () -> JCudaDriver.cuCtxEnablePeerAccess(peerContext, flags));
    }

    /**
     * Undoes {@link #cuCtxEnablePeerAccess}.
     *
     * @param peerContext the other one
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxDisablePeerAccess(final CUcontext peerContext) {
        return FACADE.changeView(false, peerContext, () -> JCudaDriver.cuCtxDisablePeerAccess(peerContext));
    }
}
