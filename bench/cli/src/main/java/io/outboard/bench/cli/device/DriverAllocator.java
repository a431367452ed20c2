package io.outboard.bench.cli.device;

/**
 * A driver allocator is an allocator of the CUDA driver, measured as a benchmark's baseline. Its allocations live in
 * numbered slots.
 *
 * <p>A slot owns one JCuda pointer that is reused for every allocation in the slot, so the baseline makes no garbage
 * and its time is that of JCuda's call alone. JCuda's exceptions must be off, as they are by default; codes are
 * returned.
 *
 * <p>Thread-safety: confined to the thread that opened the allocator, whose current device or context the allocator
 * changes until it is closed. Cost: that of the driver, a microsecond to a millisecond. When memory runs out,
 * {@link #allocate} returns CUDA's code.
 */
public interface DriverAllocator extends AutoCloseable {

    /**
     * Returns the name of the driver's function in reports.
     *
     * @return {@code cudaMalloc} or {@code cuMemAllocAsync}
     */
    String name();

    /**
     * Describes what a reader of the numbers must know about how the function was called.
     *
     * @return one line, may be empty
     */
    String settings();

    /**
     * Allocates into a slot.
     *
     * @param slot a free slot, {@code 0 <= slot < slots}
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}, not checked
     * @return CUDA's code; after 0 the slot is in use, otherwise it stays free
     * @throws IllegalStateException if the slot is in use; nothing changes
     */
    int allocate(int slot, long sizeBytes);

    /**
     * Frees the allocation in a slot.
     *
     * @param slot a slot in use, {@code 0 <= slot < slots}
     * @return CUDA's code; after 0 the slot is free, otherwise it stays in use
     * @throws IllegalStateException if the slot is free; nothing changes
     */
    int free(int slot);

    /**
     * Waits until the device has done all that was requested.
     *
     * @return CUDA's code, 0 for success
     */
    int synchronize();

    /**
     * Returns the name of a code that a method of this interface returned.
     *
     * @param code any code
     * @return for example {@code cudaErrorMemoryAllocation}
     */
    String codeName(int code);

    /**
     * Returns how much memory the device reports as in use: total less free, of all processes together.
     *
     * @return bytes, 0 or more
     * @throws io.outboard.cuda.driver.CudaFailureException if CUDA fails
     */
    long usedBytes();

    /**
     * Frees all slots, restores every setting that was changed, and releases what the driver held in reserve for the
     * slots. Idempotent.
     *
     * @throws io.outboard.cuda.driver.CudaFailureException if CUDA fails; every step was tried nevertheless
     */
    @Override
    void close();
}
