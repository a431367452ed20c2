package io.outboard.bench.cli.device;

/**
 * An allocator of the CUDA driver as a benchmark's baseline: allocations live in numbered slots.
 *
 * <p>A slot owns one JCuda pointer that is reused for every allocation in it, so the baseline makes no garbage and is
 * charged for nothing but JCuda's call. JCuda's exceptions must be off, as they are by default; codes are returned.
 *
 * <p>Thread-safety: confined to the thread that opened it, whose current device or context it holds until it is closed.
 * Cost: that of the driver, a microsecond to a millisecond. When memory runs out, {@link #allocate} returns CUDA's
 * code.
 */
public interface DriverAllocator extends AutoCloseable {

    /**
     * The driver's function, as reports name it.
     *
     * @return {@code cudaMalloc} or {@code cuMemAllocAsync}
     */
    String name();

    /**
     * What else a reader of the numbers must know about how the function was called.
     *
     * @return one line, may be empty
     */
    String settings();

    /**
     * Allocates into a slot.
     *
     * @param slot a free one, {@code 0 <= slot < slots}
     * @param sizeBytes what to ask for in bytes, {@code 0 < sizeBytes}, not checked
     * @return CUDA's code: 0, and the slot is in use; otherwise it stays free
     * @throws IllegalStateException if the slot is in use; nothing changes
     */
    int allocate(int slot, long sizeBytes);

    /**
     * Frees what is in a slot.
     *
     * @param slot one in use, {@code 0 <= slot < slots}
     * @return CUDA's code: 0, and the slot is free; otherwise it stays in use
     * @throws IllegalStateException if the slot is free; nothing changes
     */
    int free(int slot);

    /**
     * Waits until all that was asked for has happened on the device.
     *
     * @return CUDA's code, 0 for success
     */
    int synchronize();

    /**
     * The name of a code that a call here returned.
     *
     * @param code any code
     * @return such as {@code cudaErrorMemoryAllocation}
     */
    String codeName(int code);

    /**
     * What the device reports as in use: total less free, of all processes together.
     *
     * @return bytes, 0 or more
     * @throws io.outboard.cuda.driver.CudaFailureException if CUDA fails
     */
    long usedBytes();

    /**
     * Frees all slots, puts back every setting that was changed, and returns what the driver held in reserve for them.
     * Idempotent.
     *
     * @throws io.outboard.cuda.driver.CudaFailureException if CUDA fails; everything was tried
     */
    @Override
    void close();
}
