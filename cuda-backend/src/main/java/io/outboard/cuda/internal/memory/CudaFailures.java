package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.CudaFailureException;
import jcuda.driver.CUresult;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/** Makes exceptions of codes, and one of several. Safe for any number of threads. */
public final class CudaFailures {

    private CudaFailures() {}

    /** What a call of the driver's virtual memory failed with, by its own names; null if it worked. */
    static @Nullable CudaFailureException of(final String call, final int code) {
        return code == CudaCalls.SUCCESS ? null : new CudaFailureException(call, code, CUresult.stringFor(code));
    }

    /** What a step failed with; null if it worked. */
    static @Nullable CudaFailureException of(final Runnable step) {
        try {
            step.run();
            return null;
        } catch (final CudaFailureException e) {
            return e;
        }
    }

    /** Throws if a call of the driver failed; unlike the runtime, that keeps no last error to be cleared. */
    public static void check(final String call, final int code) {
        if (code != CudaCalls.SUCCESS) {
            throw new CudaFailureException(call, code, cudaError.stringFor(code));
        }
    }

    static void check(final @Nullable CudaFailureException failure) {
        if (failure != null) {
            throw failure;
        }
    }

    /** The first of two failures, with the next one suppressed in it; null if there is none. */
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
