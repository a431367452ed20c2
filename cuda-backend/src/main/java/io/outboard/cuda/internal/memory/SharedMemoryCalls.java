package io.outboard.cuda.internal.memory;

/**
 * The calls of the CUDA driver by which a process makes memory that another one maps. None needs a context, so who only lends takes none
 * of the device's memory for itself.
 *
 * <p>Each call returns the driver's code, a {@code CUresult}, and throws nothing. Results go to element 0 of the caller's
 * array, and only on success. Safe for any number of threads.
 */
public interface SharedMemoryCalls {

    /** Bytes of {@link #uuid}. */
    int UUID_BYTES = 16;

    /** Starts the driver, unless it has been. */
    int initialize();

    /** What a device is called on every process's side, whatever its number there. Sets {@link #UUID_BYTES} elements. */
    int uuid(byte[] uuid, int device);

    int totalBytes(long[] bytes, int device);

    /** What sizes must be multiples of, for memory that others map. */
    int granularity(long[] bytes, int device);

    /** Memory that can be exported. What is made for another process is zero. */
    int create(long[] handle, long sizeBytes, int device);

    /** A descriptor of this process, which others can be sent, and which keeps the memory as a handle does. */
    int exportDescriptor(int[] descriptor, long handle);

    /** Memory behind a descriptor, which may be closed then. */
    int importDescriptor(long[] handle, int descriptor);

    /** The memory itself goes once nobody has a handle, a descriptor or a mapping. */
    int release(long handle);

    /** Of Linux: 0, or -1 if it is none of this process. */
    int closeDescriptor(int descriptor);
}
