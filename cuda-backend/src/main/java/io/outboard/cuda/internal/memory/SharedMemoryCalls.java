package io.outboard.cuda.internal.memory;

/**
 * This interface has the calls of the CUDA driver by which a process makes memory that another process maps. No call
 * needs a context, so a process that only lends takes none of the device's memory for itself.
 *
 * <p>Each call returns the driver's code, a {@code CUresult}, and throws nothing. Results go to element 0 of the
 * caller's array, and only on success. Safe for any number of threads.
 */
public interface SharedMemoryCalls {

    /** The number of bytes of {@link #uuid}. */
    int UUID_BYTES = 16;

    /** Starts the driver, unless it is started. */
    int initialize();

    /** Asks for a device's UUID, which is the same in every process. The call sets {@link #UUID_BYTES} elements. */
    int uuid(byte[] uuid, int device);

    int totalBytes(long[] bytes, int device);

    /** Asks what sizes must be multiples of, for memory that other processes map. */
    int granularity(long[] bytes, int device);

    /** Makes memory that can be exported, and that is zero when another process maps it. */
    int create(long[] handle, long sizeBytes, int device);

    /**
     * Makes a file descriptor of memory, which can be sent to other processes, and which keeps the memory as a handle
     * does.
     */
    int exportDescriptor(int[] descriptor, long handle);

    /** Makes a handle of the memory behind a descriptor, which may be closed afterwards. */
    int importDescriptor(long[] handle, int descriptor);

    /** Releases a handle; the memory itself goes once nobody has a handle, a descriptor or a mapping. */
    int release(long handle);

    /** Closes a descriptor. The answer is that of Linux: 0, or -1 if this process has no such descriptor. */
    int closeDescriptor(int descriptor);
}
