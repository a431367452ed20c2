package io.outboard.cuda.memory;

import jcuda.driver.CUresult;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * A CUDA call failed, on a device that had worked; exhausted memory is not among these failures (see
 * {@link io.outboard.core.DeviceOutOfMemoryException}).
 */
public final class CudaFailureException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int code;
    private final String codeName;

    /**
     * Keeps the code and its name.
     *
     * @param call the function that failed, such as {@code cudaFree}
     * @param code what it returned, not 0
     * @param codeName the code's name, such as {@code cudaErrorIllegalAddress}
     */
    public CudaFailureException(final String call, final int code, final String codeName) {
        this(call, code, codeName, "");
    }

    /** With what else CUDA said, which may be several lines, or nothing. */
    public CudaFailureException(final String call, final int code, final String codeName, final String details) {
        super(call + " failed: " + codeName + " (" + code + ")" + (details.isEmpty() ? "" : ": " + details));
        this.code = code;
        this.codeName = codeName;
    }

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

    /**
     * What the call returned.
     *
     * @return a {@code cudaError} for a call of the runtime ({@code cuda...}), a {@code CUresult} for one of the driver
     *     ({@code cu...}); not 0
     */
    public int code() {
        return code;
    }

    /**
     * The name of {@link #code()}.
     *
     * @return for example {@code cudaErrorIllegalAddress}
     */
    public String codeName() {
        return codeName;
    }
}
