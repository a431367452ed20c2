package io.outboard.cuda.internal.memory;

/**
 * The calls of CUDA that a memory source and a pool make, so that their logic runs over a simulated device as well.
 *
 * <p>Each call returns CUDA's code, {@link #SUCCESS} or an error, and throws nothing, whether JCuda's exceptions are on
 * or off. Results go to element 0 of the caller's array, and only on success. Safe for any number of threads, as CUDA
 * is; the current device is one for each thread.
 */
public interface CudaCalls {

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

    /**
     * Forgets the last error, which CUDA keeps for each thread. Whoever handles an error must do so, else the program's
     * next check after a kernel launch finds it and blames the kernel.
     */
    void clearLastError();

    String nameOf(int code);

    // Of the driver: these leave alone the last error that the runtime keeps for the program. Handles are JCuda's
    // native pointers. Codes have the same numbers as the runtime's.

    /** 0 where the thread has none. */
    int currentContext(long[] context);

    int pushContext(long context);

    int popContext();

    /** Waits for all work in the current context. */
    int synchronize();

    /** Of a stream that exists; of stream 0 the current one. */
    int streamContext(long[] context, long stream);

    /** The primary context of a device; 0 where it isn't there, or was reset. */
    int primaryContext(long[] context, int device);

    /** In the current context. Never waits. */
    int allocate(long[] address, long sizeBytes);

    /** As {@link #allocate}; with the pitch that the driver chooses for the width. */
    int allocatePitch(long[] address, long[] pitchBytes, long widthBytes, long height);

    /** Waits for all work in the context that the address is of. */
    int release(long address);

    /** Of the current context's device, in bytes. */
    int contextMemoryInfo(long[] freeBytes, long[] totalBytes);

    /** A number that no other stream of the process has, nor will have. */
    int streamId(long[] id, long stream);

    /**
     * Whether a stream has finished, without an exception or garbage if it hasn't. Stream 0 has once every blocking stream has,
     * the default ones of threads included; to ask joins none of them (seen on an H200 with driver 580).
     */
    int queryStream(long stream);

    /** An event that keeps no time. */
    int createEvent(long[] event);

    int destroyEvent(long event);

    int recordEvent(long event, long stream);

    /** Whether {@link #recordContext} works: not with a driver before 12.5, nor before JDK 22. */
    boolean recordsContexts();

    /**
     * Records an event of a context after all work that was submitted to it before, whether it is current or not. While a stream of it is
     * captured this fails, and ends the capture.
     */
    int recordContext(long event, long context);

    /** Without an exception or garbage if it hasn't finished. */
    int queryEvent(long event);

    /** A {@code CUstreamCaptureStatus}. */
    int captureStatus(int[] status, long stream);

    /** A {@code CUstreamCaptureMode} of the calling thread, against the one that it had. */
    int exchangeCaptureMode(int[] mode);
}
