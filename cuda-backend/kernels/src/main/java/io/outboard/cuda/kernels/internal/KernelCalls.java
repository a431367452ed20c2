package io.outboard.cuda.kernels.internal;

import io.outboard.cuda.internal.memory.CudaCalls;
import jcuda.NativePointerObject;

/**
 * The calls of the driver that load, link and run kernels, beside {@link CudaCalls} and by its rules: each returns
 * CUDA's code and throws nothing, results go to element 0 and only on success. All act in the current context. Safe for
 * any number of threads.
 */
public interface KernelCalls {

    /** Loads an image. Unlike elsewhere, element 0 of the log is set on failure, too: to what the compiler said. */
    int load(long[] module, byte[] image, String[] log);

    int unload(long module);

    int function(long[] function, long module, String name);

    /** Asks for a {@code CUfunction_attribute}. */
    int attribute(int[] value, int attribute, long function);

    /** Launches a kernel; each argument is a pointer to host memory that holds it. */
    int launch(long function, int gridBlocks, int blockThreads, long stream, NativePointerObject... arguments);

    int createLink(long[] link);

    int addToLink(long link, String name, String ptx);

    /** Links, and loads the module. */
    int completeLink(long[] module, long link);

    int destroyLink(long link);

    /** Counts the multiprocessors of the current context's device. */
    int multiprocessors(int[] count);

    /** Asks for the size of the heap of CUDA's own allocator in kernels. */
    int mallocHeapBytes(long[] bytes);

    int setMallocHeapBytes(long bytes);

    /** Copies after earlier work on the default stream, which it waits for. */
    int copyToHost(long[] words, long address);
}
