package io.outboard.cuda.internal.memory;

/**
 * The calls of the CUDA driver that take addresses and memory apart, which JCuda 12.6.0 has but can't make: its
 * {@code cuMemCreate} reads the allocation flags from the wrong object. So the logic above them runs over a simulated
 * device as well.
 *
 * <p>Each call returns the driver's code, a {@code CUresult}, and throws nothing, unless it says so. Results go to element 0 of the
 * caller's array, and only on success. Safe for any number of threads. None needs a context.
 */
public interface VirtualMemoryCalls {

    /** What sizes and addresses must be multiples of, for memory of a device. */
    int granularity(long[] bytes, int device);

    int reserve(long[] address, long sizeBytes, long alignmentBytes);

    /**
     * Makes memory, perhaps the first of several, all of {@code wantedBytes} together: who lends it makes others give back for all of them at
     * once. Throws only if the memory is another process's to lend, which refuses in words that a code hasn't, or can't be imported.
     */
    int create(long[] handle, long sizeBytes, int device, long wantedBytes);

    int map(long address, long sizeBytes, long handle);

    /** Lets a device read and write there, or not any more. */
    int setAccess(long address, long sizeBytes, int device, boolean access);

    /** Only whole mappings, as many as there are in the range. */
    int unmap(long address, long sizeBytes);

    /** The memory itself goes once it is mapped nowhere. */
    int release(long handle);

    /** All are tried; the answer is the first code that isn't success. */
    default int releaseAll(final long[] handles, final int count) {
        int code = CudaCalls.SUCCESS;
        for (int i = 0; i < count; i++) {
            final int released = release(handles[i]);
            code = code == CudaCalls.SUCCESS ? released : code;
        }
        return code;
    }

    int freeAddresses(long address, long sizeBytes);
}
