package io.outboard.cuda;

import io.outboard.cuda.internal.facade.Facade;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import jcuda.runtime.cudaStream_t;

/**
 * The functions of {@code jcuda.runtime.JCuda} that have to do with device memory, with the same signatures, over a
 * pool for each device: a program changes the import and keeps its code. <b>{@link #cudaFree} is no barrier</b>, as
 * CUDA's own is, unless {@link OutboardOptions#freeIsBarrier} says so: a program that copies to pinned memory without
 * waiting, frees, and reads what was copied, needs that.
 *
 * <p>Algorithm: a {@link io.outboard.pool.Pool}, made as {@link OutboardOptions} says when the device is chosen or its
 * memory first asked for. Return codes, exceptions and corner cases are CUDA's: a size of 0, a Java null, and whatever
 * the pool can't serve go to JCuda itself with the same arguments. CUDA's last error is left alone by a call that
 * succeeds, unless the driver served it at the second attempt. Memory of the driver, of other libraries, and managed
 * memory is told by its address and passed on likewise. What differs from JCuda:
 *
 * <ul>
 *   <li>A double free or a pointer into a block is refused with {@code cudaErrorInvalidValue}, and nothing changes;
 *   CUDA's last error isn't set by it.
 *   <li>After an error that breaks the context, a kernel's access to a wrong address, say, {@link #cudaMalloc} and
 *       {@link #cudaFree} succeed as long as the pool neither grows nor waits; CUDA's own calls report it from then on.
 *   <li>A pool's memory can't be shared by {@link #cudaIpcGetMemHandle}. Other devices read and write it if that was
 *   said by {@link #cudaDeviceEnablePeerAccess} or {@link OutboardDriver#cuCtxEnablePeerAccess}; where a library says
 *   so natively, {@link OutboardOptions#growInPlace} is to be false.
 *   <li>A thread's device is remembered, so it is to be changed by {@link #cudaSetDevice} and not by JCuda's. A device
 *   is to be reset by {@link #cudaDeviceReset}, and contexts are to be changed by {@link OutboardDriver}.
 *   <li>With all policies but {@code IMMEDIATE} captures into graphs are to be begun and ended by {@link
 *   OutboardDriver}. Of others the pool sees those on blocking streams; but one on another stream, or one that begins
 *   while the pool asks for the device's work, is broken.
 * </ul>
 *
 * <p>Thread-safety: safe for any number of threads; a {@link Pointer} is confined to one. Cost: tens of nanoseconds, no
 * call of the driver and no garbage for {@link #cudaMalloc} and {@link #cudaFree}, as long as the pool neither grows
 * nor waits. When the pool has reached its share of the device, or the device is full, JCuda's own function is called,
 * after regions that are empty have been given back if need be; its code is the answer, and the caller's pointer is
 * null then.
 */
public final class OutboardRuntime {

    private static final Facade FACADE = Facade.ofRuntime(Outboard.POOLS);

    private OutboardRuntime() {}

    /**
     * Lets errors be thrown as {@link jcuda.CudaException} rather than returned, here and in {@code JCuda}, whose own
     * switch is turned as well. This is off at first.
     *
     * @param enabled true to throw
     */
    public static void setExceptionsEnabled(final boolean enabled) {
        FACADE.setExceptionsEnabled(enabled);
        JCuda.setExceptionsEnabled(enabled);
    }

    // Memory

    /**
     * Allocates memory of the calling thread's device.
     *
     * @param devPtr set to the address, a multiple of 256; to null on failure
     * @param size in bytes; for 0 CUDA gives null and success
     * @return CUDA's code, {@code cudaErrorMemoryAllocation} if there is no memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaMalloc(final Pointer devPtr, final long size) {
        return FACADE.allocate(devPtr, size, JCuda::cudaMalloc);
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
                devPtr, pitch, width, height, () -> JCuda.cudaMallocPitch(devPtr, pitch, width, height));
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
        return FACADE.allocateSlices(pitchDevPtr, extent, () -> JCuda.cudaMalloc3D(pitchDevPtr, extent));
    }

    /**
     * Frees memory, as safely as {@code JCuda.cudaFree} if the policy is {@code STRICT}, but without a wait as a rule:
     * work that was submitted before may be unfinished when this returns. With {@link OutboardOptions#freeIsBarrier} it
     * has finished, unless a stream is being captured into a graph.
     *
     * @param devPtr what was allocated here or by JCuda, by whichever thread, for whichever device, or null memory
     * @return CUDA's code, {@code cudaErrorInvalidValue} if no block in use starts there; nothing has changed then
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaFree(final Pointer devPtr) {
        return FACADE.free(devPtr, JCuda::cudaFree);
    }

    /**
     * Tells what is free on the calling thread's device, in bytes.
     *
     * @param freeBytes element 0 is set to what the driver has free, and the pool too
     * @param totalBytes element 0 is set to what the device has
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
        return FACADE.memoryInfo(freeBytes, () -> JCuda.cudaMemGetInfo(freeBytes, totalBytes));
    }

    /**
     * Makes a handle by which another process opens memory. Such a handle names a whole allocation of the driver: of a
     * pool's memory it would open the region, from its first byte, with all that other parts of the program keep there.
     * So that is refused; memory to be shared is to be allocated by {@code JCuda.cudaMalloc}.
     *
     * @param handle set, for memory that JCuda allocated
     * @param devPtr memory to share
     * @return CUDA's code, {@code cudaErrorNotSupported} for a pool's memory
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
        return FACADE.shareMemory(handle, devPtr, () -> JCuda.cudaIpcGetMemHandle(handle, devPtr));
    }

    /**
     * Opens another process's memory; JCuda's own function.
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
     * Closes another process's memory; JCuda's own function.
     *
     * @param devPtr what was opened
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaIpcCloseMemHandle(final Pointer devPtr) {
        return JCuda.cudaIpcCloseMemHandle(devPtr);
    }

    // Devices

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
     * Resets the calling thread's device. The memory of its primary context is gone, and so is that one's pool; the
     * next allocation makes a new one. Contexts that the program made by the driver's API stay, with their memory and
     * their pools; while one of them is current, CUDA answers with success and leaves the primary context alone, too.
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
     * Lets the calling thread's device read and write the memory of another, also what is allocated later, be it the
     * driver's or a pool's.
     *
     * @param peerDevice the other one
     * @param flags 0
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaDeviceEnablePeerAccess(final int peerDevice, final int flags) {
        return FACADE.changeView(true, peerDevice, () -> JCuda.cudaDeviceEnablePeerAccess(peerDevice, flags));
    }

    /**
     * Undoes {@link #cudaDeviceEnablePeerAccess}.
     *
     * @param peerDevice the other one
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaDeviceDisablePeerAccess(final int peerDevice) {
        return FACADE.changeView(false, peerDevice, () -> JCuda.cudaDeviceDisablePeerAccess(peerDevice));
    }

    // Streams

    /**
     * Destroys a stream. Memory that its unfinished work uses stays safe, also if JCuda destroys it. A capture of it
     * ends.
     *
     * @param stream the stream
     * @return CUDA's code
     * @throws jcuda.CudaException if the code is an error and exceptions are enabled
     */
    public static int cudaStreamDestroy(final cudaStream_t stream) {
        return FACADE.destroyStream(stream, () -> JCuda.cudaStreamDestroy(stream));
    }
}
