package io.outboard.cuda.internal.memory;

import java.nio.ByteBuffer;

/**
 * This interface has the calls of CUDA that a memory source and a pool make. Tests have a simulated device instead.
 *
 * <p>Each call returns CUDA's code, {@link #SUCCESS} or an error, and throws nothing, whether JCuda's exceptions are on
 * or off. Results go to element 0 of the caller's array, and only on success. Safe for any number of threads, as CUDA
 * is; each thread has its own current device.
 */
public interface CudaCalls {

    /** The code of a call that worked. */
    int SUCCESS = 0;

    int deviceCount(int[] count);

    /** Asks for the driver's version. Without a driver the version is 0, and the code is success then, too. */
    int driverVersion(int[] version);

    int runtimeVersion(int[] version);

    int deviceName(String[] name, int device);

    int currentDevice(int[] device);

    int setDevice(int device);

    /** Asks for the free and the total memory of the current device, in bytes. */
    int memoryInfo(long[] freeBytes, long[] totalBytes);

    /**
     * Forgets the last error, which CUDA keeps for each thread. A caller that handles an error must clear it: otherwise
     * the program's next check after a kernel launch finds the error, and blames the kernel.
     */
    void clearLastError();

    // The calls below are the driver's, which don't change the last error that the runtime keeps for the program.
    // Handles are JCuda's native pointers. The driver's codes have the same numbers as the runtime's.

    /** Asks for the thread's context, which is 0 if the thread has none. */
    int currentContext(long[] context);

    int pushContext(long context);

    int popContext();

    /** Waits for all work in the current context. */
    int synchronize();

    /** Asks for the context of a stream that exists; for stream 0 that is the current context. */
    int streamContext(long[] context, long stream);

    /** Asks for a device's primary context, which is 0 if there is none, or if it was reset. */
    int primaryContext(long[] context, int device);

    /**
     * Makes a device's primary context, unless it is there, and holds it until the process ends or the device is reset;
     * the thread's context stays as it was. Each call holds it once more, and is needed once after each reset.
     */
    int retainPrimaryContext(long[] context, int device);

    /** Allocates in the current context, and never waits. */
    int allocate(long[] address, long sizeBytes);

    /** Allocates rows at the pitch that the driver chooses for the width. */
    int allocatePitch(long[] address, long[] pitchBytes, long widthBytes, long height);

    /** Frees the memory at an address, once all work in the address's context has finished. */
    int release(long address);

    /**
     * Fills device memory of the current context, and waits for that. It isn't ordered with the work of streams, except
     * for the legacy default stream, for which it waits, too.
     */
    int fill(long address, long sizeBytes, byte value);

    /** Copies device memory to a direct buffer, up to its limit, and waits as {@link #fill} does. */
    int read(ByteBuffer to, long address);

    /** Asks for the free and the total memory of the current context's device, in bytes. */
    int contextMemoryInfo(long[] freeBytes, long[] totalBytes);

    /** Asks for a stream's number, which no other stream of the process has or will have. */
    int streamId(long[] id, long stream);

    /**
     * Asks whether a stream has finished, without an exception or garbage if it hasn't. Stream 0 has finished once
     * every blocking stream has, including the default streams of threads; the question doesn't make these streams wait
     * for each other (seen on an H200 with driver 580).
     */
    int queryStream(long stream);

    /** Makes an event without timing. */
    int createEvent(long[] event);

    int destroyEvent(long event);

    int recordEvent(long event, long stream);

    /** Answers whether {@link #recordContext} works, which needs JDK 22 and a driver for CUDA 12.5. */
    boolean recordsContexts();

    /**
     * Records an event behind all work so far of the given context. If a stream of the context is being captured, the
     * call fails and ends the capture.
     */
    int recordContext(long event, long context);

    /** Asks whether what an event marks has finished, without an exception or garbage if it hasn't. */
    int queryEvent(long event);

    /** Asks for a stream's {@code CUstreamCaptureStatus}. */
    int captureStatus(int[] status, long stream);

    /** Exchanges the calling thread's {@code CUstreamCaptureMode} for another. */
    int exchangeCaptureMode(int[] mode);
}
