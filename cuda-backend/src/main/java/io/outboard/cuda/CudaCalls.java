package io.outboard.cuda;

/**
 * The calls of the CUDA runtime that a memory source makes, so that its logic runs over a simulated device as well.
 *
 * <p>Each call returns CUDA's code, {@link #SUCCESS} or an error, and throws nothing, whether JCuda's exceptions are on
 * or off. Results go to element 0 of the caller's array, and only on success. Safe for any number of threads, as CUDA
 * is; the current device is one for each thread.
 */
interface CudaCalls {

    /** The code of a call that worked. */
    int SUCCESS = 0;

    int deviceCount(int[] count);

    /** 0 where no driver is installed; that is success too. */
    int driverVersion(int[] version);

    int runtimeVersion(int[] version);

    int deviceName(String[] name, int device);

    int currentDevice(int[] device);

    int setDevice(int device);

    /** Of the current device, in bytes. */
    int memoryInfo(long[] freeBytes, long[] totalBytes);

    int malloc(long[] address, long sizeBytes);

    int free(long address);

    /**
     * Forgets the last error, which CUDA keeps for each thread. Whoever handles an error must do so, else the program's
     * next check after a kernel launch finds it and blames the kernel.
     */
    void clearLastError();

    String nameOf(int code);
}
