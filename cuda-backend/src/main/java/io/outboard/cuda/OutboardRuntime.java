package io.outboard.cuda;

import static io.outboard.cuda.internal.facade.JCudaBinding.ELEMENT;
import static io.outboard.cuda.internal.facade.JCudaBinding.POINTER;
import static io.outboard.cuda.internal.facade.JCudaBinding.handleOf;

import io.outboard.cuda.internal.facade.Facade;
import io.outboard.cuda.internal.facade.JCudaBinding;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import jcuda.runtime.cudaStream_t;

/**
 * This class has the functions of {@code jcuda.runtime.JCuda} for device memory, with the same signatures, over a pool
 * for each device: a program changes the import and keeps its code. <b>{@link #cudaFree} is no barrier</b>, unlike
 * CUDA's own, unless {@link OutboardOptions#freeIsBarrier} says so. A program that copies to pinned memory without
 * waiting, frees, and then reads the copy needs a barrier.
 *
 * <p>Algorithm: a {@link io.outboard.pool.Pool}, made as {@link OutboardOptions} says when the device is chosen or its
 * memory is first requested. Return codes, exceptions and corner cases are CUDA's: a size of 0, a Java null, and
 * whatever the pool can't serve go to JCuda itself with the same arguments. CUDA's last error is left alone by a call
 * that succeeds, unless the driver served it at the second attempt. Memory of the driver or of other libraries, and
 * managed memory, is recognised by its address and passed on to JCuda, too. These are the differences from JCuda:
 *
 * <ul>
 *   <li>A double free or a pointer into a block is refused with {@code cudaErrorInvalidValue}, and nothing changes;
 *   CUDA's last error isn't set.
 *   <li>After an error that breaks the context, such as a kernel's access to a wrong address, {@link #cudaMalloc} and
 *       {@link #cudaFree} succeed as long as the pool neither grows nor waits; CUDA's own calls report the error from
 *       then on.
 *   <li>A pool's memory can't be shared by {@link #cudaIpcGetMemHandle}. Other devices read and write the memory after
 *   {@link #cudaDeviceEnablePeerAccess} or {@link OutboardDriver#cuCtxEnablePeerAccess}; if a library enables the
 *   access natively, {@link OutboardOptions#growInPlace} must be false.
 *   <li>A thread's device is remembered, so the device must be changed by {@link #cudaSetDevice} and not by JCuda's
 *   function. A device must be reset by {@link #cudaDeviceReset}, and contexts must be changed by
 *   {@link OutboardDriver}.
 *   <li>With all policies but {@code IMMEDIATE}, captures into graphs must be begun and ended by
 *   {@link OutboardDriver}. Of other captures, the pool sees those on blocking streams; a capture on a non-blocking
 *   stream, or one that begins while the pool asks about the device's work, is broken.
 * </ul>
 *
 * <p>Thread-safety: safe for any number of threads; a {@link Pointer} is confined to one. Cost: tens of nanoseconds, no
 * call of the driver and no garbage for {@link #cudaMalloc} and {@link #cudaFree}, as long as the pool neither grows
 * nor waits. When the pool has reached its share of the device, or the device is full, JCuda's own function is called,
 * a second time after empty regions were given back if the first call fails. The function's code is returned; if it is
 * an error, the caller's pointer becomes null.
 */
public final class OutboardRuntime {

    private static final JCudaBinding BINDING = new JCudaBinding(true);
    private static final Facade FACADE = Facade.ofRuntime(Outboard.POOLS, BINDING);

    private OutboardRuntime() {}

    /**
     * Sets whether errors are thrown as {@link jcuda.CudaException} rather than returned, in this class and in
     * {@code JCuda}, whose own switch is set as well. Errors are returned at first.
     *
     * @param enabled true to throw
     */
    public static void setExceptionsEnabled(final boolean enabled) {
        BINDING.setExceptionsEnabled(enabled);
        JCuda.setExceptionsEnabled(enabled);
    }

    // The functions below allocate and free memory.

    /**
     * Allocates memory of the calling thread's device.
     *
     * @param devPtr set to the address, a multiple of 256; to null on failure
     * @param size in bytes; for 0 CUDA gives null and success
     * @return CUDA's code, {@code cudaErrorMemoryAllocation} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaMalloc(final Pointer devPtr, final long size) {
        return FACADE.allocate(devPtr, POINTER, size, JCuda::cudaMalloc);
    }

    /**
     * Allocates rows, each at a multiple of the pitch, which is the driver's own for that width.
     *
     * @param devPtr set to the address; to null on failure
     * @param pitch element 0 is set to the length of a row in bytes
     * @param width of a row in bytes
     * @param height rows
     * @return CUDA's code, {@code cudaErrorMemoryAllocation} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaMallocPitch(final Pointer devPtr, final long[] pitch, final long width, final long height) {
        return FACADE.allocateRows(
                devPtr,
                POINTER,
                pitch,
                ELEMENT,
                width,
                height,
                () -> JCuda.cudaMallocPitch(devPtr, pitch, width, height));
    }

    /**
     * Allocates slices of rows, each at a multiple of the pitch, which is the driver's own for that width.
     *
     * @param pitchDevPtr set to address, pitch, width and height; its pointer to null on failure
     * @param extent width in bytes, height and depth
     * @return CUDA's code, {@code cudaErrorMemoryAllocation} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaMalloc3D(final cudaPitchedPtr pitchDevPtr, final cudaExtent extent) {
        return BINDING.allocateSlices(FACADE, pitchDevPtr, extent, () -> JCuda.cudaMalloc3D(pitchDevPtr, extent));
    }

    /**
     * Frees memory, as safely as {@code JCuda.cudaFree} if the policy is {@code STRICT}, but usually without a wait:
     * earlier work may be unfinished when this function returns. With {@link OutboardOptions#freeIsBarrier} earlier
     * work has finished, unless a stream is being captured into a graph.
     *
     * @param devPtr memory that this class or JCuda allocated, on any thread and any device, or a null pointer
     * @return CUDA's code, {@code cudaErrorInvalidValue} if no block in use starts at the address; nothing has changed
     *     then
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaFree(final Pointer devPtr) {
        return FACADE.free(devPtr, POINTER, JCuda::cudaFree);
    }

    /**
     * Tells what is free on the calling thread's device, in bytes.
     *
     * @param freeBytes element 0 is set to what the driver and the pool have free together
     * @param totalBytes element 0 is set to all memory of the device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
        return FACADE.memoryInfo(freeBytes, ELEMENT, () -> JCuda.cudaMemGetInfo(freeBytes, totalBytes));
    }

    /**
     * Makes a handle by which another process opens memory. Such a handle names a whole allocation of the driver. A
     * handle of a pool's memory would open the whole region, with everything that other parts of the program keep in
     * the region. So a pool's memory is refused; memory to share must be allocated by {@code JCuda.cudaMalloc}.
     *
     * @param handle set, for memory that JCuda allocated
     * @param devPtr memory to share
     * @return CUDA's code, {@code cudaErrorNotSupported} for a pool's memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
        return FACADE.shareMemory(handle, devPtr, POINTER, () -> JCuda.cudaIpcGetMemHandle(handle, devPtr));
    }

    /**
     * Opens another process's memory by JCuda's own function.
     *
     * @param devPtr set to the address
     * @param handle of another process
     * @param flags as JCuda's
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaIpcOpenMemHandle(final Pointer devPtr, final cudaIpcMemHandle handle, final int flags) {
        return JCuda.cudaIpcOpenMemHandle(devPtr, handle, flags);
    }

    /**
     * Closes another process's memory by JCuda's own function.
     *
     * @param devPtr memory that was opened
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaIpcCloseMemHandle(final Pointer devPtr) {
        return JCuda.cudaIpcCloseMemHandle(devPtr);
    }

    // The functions below choose, reset and connect devices.

    /**
     * Lets the calling thread use another device, and so another pool.
     *
     * @param device its number
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaSetDevice(final int device) {
        return FACADE.choose(() -> JCuda.cudaSetDevice(device));
    }

    /**
     * Resets the calling thread's device. The memory of the device's primary context is gone, and so is that context's
     * pool; the next allocation makes a new pool. Contexts that the program made by the driver's API stay, with their
     * memory and their pools. While such a context is current, CUDA returns success and resets nothing.
     *
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaDeviceReset() {
        return FACADE.resetDevice(JCuda::cudaDeviceReset);
    }

    /**
     * Resets the calling thread's device, by the name that {@link #cudaDeviceReset} had before CUDA 4.
     *
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaThreadExit() {
        return FACADE.resetDevice(JCuda::cudaDeviceReset);
    }

    /**
     * Lets the calling thread's device read and write the memory of another device, including memory that is allocated
     * later, the driver's and the pool's.
     *
     * @param peerDevice the other device
     * @param flags 0
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaDeviceEnablePeerAccess(final int peerDevice, final int flags) {
        return FACADE.changeViewOfDevice(true, peerDevice, () -> JCuda.cudaDeviceEnablePeerAccess(peerDevice, flags));
    }

    /**
     * Undoes {@link #cudaDeviceEnablePeerAccess}.
     *
     * @param peerDevice the other device
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaDeviceDisablePeerAccess(final int peerDevice) {
        return FACADE.changeViewOfDevice(false, peerDevice, () -> JCuda.cudaDeviceDisablePeerAccess(peerDevice));
    }

    // The function below destroys streams.

    /**
     * Destroys a stream. Memory that the stream's unfinished work uses stays safe, also if JCuda destroys the stream. A
     * capture of the stream ends.
     *
     * @param stream the stream
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaStreamDestroy(final cudaStream_t stream) {
        return FACADE.destroyStream(handleOf(stream), () -> JCuda.cudaStreamDestroy(stream));
    }
}
