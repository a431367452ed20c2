package io.outboard.cuda.kernels.internal;

import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.ContextScope;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaFailures;
import io.outboard.cuda.internal.memory.NativeLibrary;
import jcuda.driver.CUresult;

/**
 * This record has all that kernels and in-kernel heaps need of CUDA. Safe for any number of threads.
 *
 * @param cuda contexts and memory
 * @param kernels modules and launches
 * @param compiler for Outboard's own device code, if the driver refuses the PTX
 */
public record KernelDriver(CudaCalls cuda, KernelCalls kernels, PtxCompiler compiler) {

    /**
     * Loads JCuda and its native library, or throws a {@link CudaUnavailableException} if there is no JCuda, no driver
     * or no device.
     */
    public static KernelDriver load() {
        return new KernelDriver(NativeLibrary.loadDriver(), new JCudaKernelCalls(), new Nvrtc());
    }

    /**
     * Answers the thread's context; if the thread has none, its device's primary context becomes current, as in the
     * runtime.
     */
    public long currentContext() {
        final long[] context = new long[1];
        CudaFailures.check("cuCtxGetCurrent", cuda.currentContext(context));
        if (context[0] == 0) {
            final int code = cuda.memoryInfo(new long[1], new long[1]);
            if (code != CudaCalls.SUCCESS) {
                cuda.clearLastError();
            }
            CudaFailures.check("cudaMemGetInfo", code);
            CudaFailures.check("cuCtxGetCurrent", cuda.currentContext(context));
        }
        return context[0];
    }

    public ContextScope scope(final long context) {
        return new ContextScope(cuda, context);
    }

    /** Answers whether a code says that the driver is too old for PTX. */
    public static boolean isRefusal(final int code) {
        return code == CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION || code == CUresult.CUDA_ERROR_INVALID_PTX;
    }
}
