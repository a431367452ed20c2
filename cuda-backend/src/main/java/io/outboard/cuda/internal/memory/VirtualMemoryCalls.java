package io.outboard.cuda.internal.memory;

/**
 * This interface has the calls of the CUDA driver that handle addresses and memory separately. JCuda 12.6.0 has these
 * calls but can't make them: its {@code cuMemCreate} reads the allocation flags from the wrong object. Tests have a
 * simulated device instead.
 *
 * <p>Each call returns the driver's code, a {@code CUresult}, and throws nothing, unless it says so. Results go to
 * element 0 of the caller's array, and only on success. Safe for any number of threads. No call needs a context.
 */
public interface VirtualMemoryCalls {

    /** Asks what sizes and addresses must be multiples of, for memory of a device. */
    int granularity(long[] bytes, int device);

    int reserve(long[] address, long sizeBytes, long alignmentBytes);

    /**
     * Makes memory. If {@code wantedBytes} is more, the memory is the first of several pieces of so many bytes
     * together, and a lender makes other clients give back enough for all pieces at once. The call throws only if a
     * lender refuses, with the reason, or if the lent memory can't be imported.
     */
    int create(long[] handle, long sizeBytes, int device, long wantedBytes);

    int map(long address, long sizeBytes, long handle);

    /** Lets a device read and write mapped memory, or takes the access away. */
    int setAccess(long address, long sizeBytes, int device, boolean access);

    /** Unmaps whole mappings, as many as there are in the range. */
    int unmap(long address, long sizeBytes);

    /** Releases a handle; the memory itself goes once it is mapped nowhere. */
    int release(long handle);

    /** Tries to release all handles; the answer is the first code that isn't success. */
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
