package io.outboard.cuda.kernels.internal;

import io.outboard.cuda.internal.memory.CudaCalls;
import jcuda.NativePointerObject;

/**
 * This interface has the calls of the driver that load, link and run kernels, under the rules of {@link CudaCalls}:
 * each call returns CUDA's code and throws nothing, and results go to element 0, only on success. All calls act in the
 * current context. Safe for any number of threads.
 */
public interface KernelCalls {

    /** Loads an image. Element 0 of the log is also set on failure, to the messages of the compiler. */
    int load(long[] module, byte[] image, String[] log);

    int unload(long module);

    int function(long[] function, long module, String name);

    /** Asks for a {@code CUfunction_attribute}. */
    int attribute(int[] value, int attribute, long function);

    /** Launches a kernel; each argument is a pointer to host memory that holds it. */
    int launch(long function, int gridBlocks, int blockThreads, long stream, NativePointerObject... arguments);

    int createLink(long[] link);

    int addToLink(long link, String name, String ptx);

    /** Completes a link, and loads the linked module. */
    int completeLink(long[] module, long link);

    int destroyLink(long link);

    /** Counts the multiprocessors of the current context's device. */
    int multiprocessors(int[] count);

    /** Asks for the size of the heap of CUDA's own allocator in kernels. */
    int mallocHeapBytes(long[] bytes);

    int setMallocHeapBytes(long bytes);

    /** Waits for earlier work on the default stream, and copies device memory to the host. */
    int copyToHost(long[] words, long address);
}
