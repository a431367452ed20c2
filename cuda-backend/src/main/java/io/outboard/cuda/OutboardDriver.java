package io.outboard.cuda;

import static io.outboard.cuda.internal.facade.JCudaBinding.ELEMENT;
import static io.outboard.cuda.internal.facade.JCudaBinding.POINTER;
import static io.outboard.cuda.internal.facade.JCudaBinding.addressOf;
import static io.outboard.cuda.internal.facade.JCudaBinding.handleOf;
import static io.outboard.cuda.internal.facade.JCudaBinding.numberOf;

import io.outboard.cuda.internal.facade.Facade;
import io.outboard.cuda.internal.facade.JCudaBinding;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * This class has the functions of {@code jcuda.driver.JCudaDriver} for device memory, with the same signatures, over
 * the pools that {@link OutboardRuntime} uses: a program changes the import and keeps its code. <b>{@link #cuMemFree}
 * is no barrier</b>, unlike CUDA's own, unless {@link OutboardOptions#freeIsBarrier} says so. A program that copies to
 * pinned memory without waiting, frees, and then reads the copy needs a barrier.
 *
 * <p>Algorithm, codes and corner cases are those of {@link OutboardRuntime}. There is a pool for each context, since
 * memory, streams and events belong to a context. A thread's context is remembered, so the context must be changed by
 * the functions of this class or by {@link OutboardRuntime#cudaSetDevice}, and not by JCudaDriver's; and contexts must
 * be ended by this class or by {@link OutboardRuntime#cudaDeviceReset}. A thread without a context gets JCudaDriver's
 * answer.
 *
 * <p>While a stream is captured into a graph, {@link #cuMemAllocAsync} on that stream is JCudaDriver's, so that memory
 * and graph belong together.
 *
 * <p>Thread-safety: safe for any number of threads; a {@link CUdeviceptr} is confined to one. Cost: tens of
 * nanoseconds, no call of the driver and no garbage for {@link #cuMemAlloc} and {@link #cuMemFree}, as long as the pool
 * neither grows nor asks the device; {@link #cuMemAllocAsync} and {@link #cuMemFreeAsync} ask the driver for the
 * stream's context. When the pool has reached its share of the device, or the device is full, JCudaDriver's own
 * function is called, whose code is returned; if that fails too, the caller's pointer becomes null.
 */
public final class OutboardDriver {

    private static final JCudaBinding BINDING = new JCudaBinding(false);
    private static final Facade FACADE = Facade.ofDriver(Outboard.POOLS, BINDING);

    private OutboardDriver() {}

    /**
     * Sets whether errors are thrown as {@link jcuda.CudaException} rather than returned, in this class and in
     * {@code JCudaDriver}, whose own switch is set as well. Errors are returned at first.
     *
     * @param enabled true to throw
     */
    public static void setExceptionsEnabled(final boolean enabled) {
        BINDING.setExceptionsEnabled(enabled);
        JCudaDriver.setExceptionsEnabled(enabled);
    }

    // The functions below allocate and free memory.

    /**
     * Allocates memory in the calling thread's context.
     *
     * @param dptr set to the address, a multiple of 256; to null on failure
     * @param bytesize in bytes; CUDA refuses 0
     * @return CUDA's code, {@code CUDA_ERROR_OUT_OF_MEMORY} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemAlloc(final CUdeviceptr dptr, final long bytesize) {
        return FACADE.allocate(dptr, POINTER, bytesize, JCudaDriver::cuMemAlloc);
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
                POINTER,
                ordinary ? pPitch : null,
                ELEMENT,
                widthInBytes,
                height,
                () -> JCudaDriver.cuMemAllocPitch(dptr, pPitch, widthInBytes, height, elementSizeBytes));
    }

    /**
     * Allocates memory for work on one stream, in the stream's context. If the policy is {@code STREAM_ORDERED}, memory
     * that was freed on the stream is reused first. If the stream's context has no pool, JCudaDriver serves the
     * request.
     *
     * @param dptr set to the address; to null on failure
     * @param bytesize in bytes
     * @param hStream the stream that uses the memory first
     * @return CUDA's code, {@code CUDA_ERROR_OUT_OF_MEMORY} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemAllocAsync(final CUdeviceptr dptr, final long bytesize, final CUstream hStream) {
        return FACADE.allocateAsync(dptr, POINTER, bytesize, hStream, handleOf(hStream), JCudaDriver::cuMemAllocAsync);
    }

    /**
     * Frees memory, as safely as {@code JCudaDriver.cuMemFree} if the policy is {@code STRICT}, but usually without a
     * wait.
     *
     * @param dptr memory that this class or JCudaDriver allocated, on any thread and in any context
     * @return CUDA's code, {@code CUDA_ERROR_INVALID_VALUE} if no block in use starts at the address; nothing has
     *     changed then
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemFree(final CUdeviceptr dptr) {
        return FACADE.free(dptr, POINTER, JCudaDriver::cuMemFree);
    }

    /**
     * Frees memory that only work on one stream uses. A pool's memory can't be freed as part of a graph. If stream and
     * memory belong to two contexts, the memory is reused once all work so far in both contexts has finished, as after
     * {@link #cuMemFree}.
     *
     * @param dptr memory that this class or JCudaDriver allocated
     * @param hStream the stream that used the memory last
     * @return CUDA's code, {@code CUDA_ERROR_INVALID_VALUE} if no block in use starts at the address,
     *     {@code CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED} for a pool's memory on a stream that is captured; nothing has
     *     changed then
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemFreeAsync(final CUdeviceptr dptr, final CUstream hStream) {
        return FACADE.freeAsync(dptr, POINTER, hStream, handleOf(hStream), JCudaDriver::cuMemFreeAsync);
    }

    /**
     * Tells what is free on the context's device, in bytes.
     *
     * @param free element 0 is set to what the driver and the pool have free together
     * @param total element 0 is set to all memory of the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemGetInfo(final long[] free, final long[] total) {
        return FACADE.memoryInfo(free, ELEMENT, () -> JCudaDriver.cuMemGetInfo(free, total));
    }

    /**
     * Finds the allocation that contains an address. In a pool's memory that is the block and not the region, found in
     * O(blocks).
     *
     * @param pbase set to the first address, unless null
     * @param psize element 0 is set to the size in bytes, unless null; a multiple of 256 for a pool's memory
     * @param dptr an address in the allocation
     * @return CUDA's code, {@code CUDA_ERROR_NOT_FOUND} if no memory in use is at the address
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuMemGetAddressRange(final CUdeviceptr pbase, final long[] psize, final CUdeviceptr dptr) {
        return FACADE.addressRange(
                pbase,
                POINTER,
                psize,
                ELEMENT,
                addressOf(dptr),
                () -> JCudaDriver.cuMemGetAddressRange(pbase, psize, dptr));
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
        return FACADE.shareMemory(pHandle, dptr, POINTER, () -> JCudaDriver.cuIpcGetMemHandle(pHandle, dptr));
    }

    // The functions below destroy streams, and begin and end captures.

    /**
     * Destroys a stream. Memory that the stream's unfinished work uses stays safe, also if JCudaDriver destroys the
     * stream. A capture of the stream ends.
     *
     * @param hStream the stream
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuStreamDestroy(final CUstream hStream) {
        return FACADE.destroyStream(handleOf(hStream), () -> JCudaDriver.cuStreamDestroy(hStream));
    }

    /**
     * Begins to capture a stream into a graph. Until all captures have ended, no pool waits for the device or marks its
     * work, so freed memory is reused later, and pools grow meanwhile. If a thread is waiting for the device on a
     * pool's behalf, this function waits for that thread, some 300 ms at most.
     *
     * @param hStream the stream
     * @param mode as JCudaDriver's
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuStreamBeginCapture(final CUstream hStream, final int mode) {
        return FACADE.beginCapture(handleOf(hStream), () -> JCudaDriver.cuStreamBeginCapture(hStream, mode));
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
        return FACADE.endCapture(handleOf(hStream), () -> JCudaDriver.cuStreamEndCapture(hStream, phGraph));
    }

    // The functions below make, choose and end contexts.

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
        return FACADE.make(() -> handleOf(pctx), () -> JCudaDriver.cuCtxCreate(pctx, flags, dev));
    }

    /**
     * Destroys a context. All its memory is gone, and so is its pool.
     *
     * @param ctx the context
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxDestroy(final CUcontext ctx) {
        return FACADE.end(handleOf(ctx), true, () -> JCudaDriver.cuCtxDestroy(ctx));
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
     * Gives up one use of a context. After the last use the context is destroyed: all its memory is gone, and so is its
     * pool.
     *
     * @param ctx the context, the calling thread's
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    @SuppressWarnings("deprecation")
    public static int cuCtxDetach(final CUcontext ctx) {
        return FACADE.end(handleOf(ctx), false, () -> JCudaDriver.cuCtxDetach(ctx));
    }

    /**
     * Retains a device's primary context, which is made if there is none.
     *
     * @param pctx set to the context
     * @param dev the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuDevicePrimaryCtxRetain(final CUcontext pctx, final CUdevice dev) {
        return FACADE.make(() -> handleOf(pctx), () -> JCudaDriver.cuDevicePrimaryCtxRetain(pctx, dev));
    }

    /**
     * Releases a device's primary context. With the last release all memory of the context is gone, and so is its pool.
     *
     * @param dev the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuDevicePrimaryCtxRelease(final CUdevice dev) {
        return FACADE.endPrimary(numberOf(dev), false, () -> JCudaDriver.cuDevicePrimaryCtxRelease(dev));
    }

    /**
     * Resets a device's primary context. All memory of the context is gone, and so is its pool; the next allocation
     * makes a new pool.
     *
     * @param dev the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuDevicePrimaryCtxReset(final CUdevice dev) {
        return FACADE.endPrimary(numberOf(dev), true, () -> JCudaDriver.cuDevicePrimaryCtxReset(dev));
    }

    /**
     * Lets the current context read and write the memory of another context, including memory that is allocated later,
     * the driver's and the pool's.
     *
     * @param peerContext the other context
     * @param flags 0
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxEnablePeerAccess(final CUcontext peerContext, final int flags) {
        return FACADE.changeView(
                true, handleOf(peerContext), () -> JCudaDriver.cuCtxEnablePeerAccess(peerContext, flags));
    }

    /**
     * Undoes {@link #cuCtxEnablePeerAccess}.
     *
     * @param peerContext the other context
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cuCtxDisablePeerAccess(final CUcontext peerContext) {
        return FACADE.changeView(false, handleOf(peerContext), () -> JCudaDriver.cuCtxDisablePeerAccess(peerContext));
    }
}
