package io.outboard.cuda.internal.memory;

/**
 * The calls of the CUDA driver by which a process makes memory that another one maps. None needs a context, so a
 * process that only lends takes none of the device's memory for itself.
 *
 * <p>Each call returns the driver's code, a {@code CUresult}, and throws nothing. Results go to element 0 of the
 * caller's array, and only on success. Safe for any number of threads.
 */
public interface SharedMemoryCalls {

    /** Bytes of {@link #uuid}. */
    int UUID_BYTES = 16;

    /** Starts the driver, unless it is started. */
    int initialize();

    /** Asks what every process calls a device, whatever its number there. It sets {@link #UUID_BYTES} elements. */
    int uuid(byte[] uuid, int device);

    int totalBytes(long[] bytes, int device);

    /** Asks what sizes must be multiples of, for memory that others map. */
    int granularity(long[] bytes, int device);

    /** Makes memory that can be exported, and that is zero when another process maps it. */
    int create(long[] handle, long sizeBytes, int device);

    /** Makes a descriptor of this process, which can be sent to others, and which keeps the memory as a handle does. */
    int exportDescriptor(int[] descriptor, long handle);

    /** Makes a handle of the memory behind a descriptor, which may be closed then. */
    int importDescriptor(long[] handle, int descriptor);

    /** Releases a handle; the memory itself goes once nobody has a handle, a descriptor or a mapping. */
    int release(long handle);

    /** Closes a descriptor. The answer is that of Linux: 0, or -1 if this process has no such descriptor. */
    int closeDescriptor(int descriptor);
}
