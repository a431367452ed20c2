package io.outboard.cuda.kernels.internal;

import io.outboard.cuda.internal.memory.CudaCalls;
import jcuda.NativePointerObject;

/**
 * The calls of the driver that load, link and run kernels, beside {@link CudaCalls} and by its rules: each returns CUDA's
 * code and throws nothing, results go to element 0 and only on success. All act in the current context. Safe for any number
 * of threads.
 */
public interface KernelCalls {

    /** In what is given or made here; unlike elsewhere, also what the compiler said when the call failed. */
    int load(long[] module, byte[] image, String[] log);

    int unload(long module);

    int function(long[] function, long module, String name);

    /** A {@code CUfunction_attribute}. */
    int attribute(int[] value, int attribute, long function);

    /** Each argument is a pointer to host memory that holds it. */
    int launch(long function, int gridBlocks, int blockThreads, long stream, NativePointerObject... arguments);

    int createLink(long[] link);

    int addToLink(long link, String name, String ptx);

    /** The module that was linked, loaded. */
    int completeLink(long[] module, long link);

    int destroyLink(long link);

    /** Of the current context's device. */
    int multiprocessors(int[] count);

    /** Size of the heap of CUDA's own allocator in kernels. */
    int mallocHeapBytes(long[] bytes);

    int setMallocHeapBytes(long bytes);

    /** After earlier work on the default stream; waits for it. */
    int copyToHost(long[] words, long address);
}
