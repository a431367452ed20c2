package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.CudaFailureException;
import jcuda.driver.CUresult;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/** These functions make exceptions of codes, and one exception of several. Safe for any number of threads. */
public final class CudaFailures {

    private CudaFailures() {}

    /** Answers the name that the driver has for a code, such as {@code CUDA_ERROR_OUT_OF_MEMORY}. */
    public static String driverNameOf(final int code) {
        return NativeLibrary.hasJCuda() ? CUresult.stringFor(code) : DriverLibrary.nameOf(code);
    }

    /** Answers the name that the runtime has for a code; without JCuda, the driver's. */
    static String runtimeNameOf(final int code) {
        return NativeLibrary.hasJCuda() ? cudaError.stringFor(code) : DriverLibrary.nameOf(code);
    }

    /** Makes the exception for a call of the driver, with the driver's name of the code; null if the call worked. */
    static @Nullable CudaFailureException of(final String call, final int code) {
        return code == CudaCalls.SUCCESS ? null : new CudaFailureException(call, code, driverNameOf(code));
    }

    /** Runs a step and answers the exception that it threw; null if the step worked. */
    static @Nullable CudaFailureException of(final Runnable step) {
        try {
            step.run();
            return null;
        } catch (final CudaFailureException e) {
            return e;
        }
    }

    /** Throws if a call of the driver failed. The driver keeps no last error that would need to be cleared. */
    public static void check(final String call, final int code) {
        if (code != CudaCalls.SUCCESS) {
            throw new CudaFailureException(call, code, runtimeNameOf(code));
        }
    }

    static void check(final @Nullable CudaFailureException failure) {
        if (failure != null) {
            throw failure;
        }
    }

    /** Answers the first of two failures, with the next one suppressed in it; null if there is none. */
    static @Nullable CudaFailureException first(
            final @Nullable CudaFailureException first, final @Nullable CudaFailureException next) {
        if (first == null) {
            return next;
        }
        if (next != null) {
            first.addSuppressed(next);
        }
        return first;
    }
}
