package io.outboard.cuda.driver;

/**
 * This exception says that a CUDA call failed, on a device that had worked. A lack of memory is reported by another
 * exception, {@link io.outboard.core.DeviceOutOfMemoryException}.
 */
public final class CudaFailureException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The code that the call returned. */
    private final int code;

    /** The name of the code that the call returned. */
    private final String codeName;

    /**
     * Keeps the code and its name.
     *
     * @param call the function that failed, such as {@code cudaFree}
     * @param code the returned code, not 0
     * @param codeName the code's name, such as {@code cudaErrorIllegalAddress}
     */
    public CudaFailureException(final String call, final int code, final String codeName) {
        this(call, code, codeName, "");
    }

    /**
     * Keeps the code and its name, with what else CUDA said.
     *
     * @param call the function that failed, such as {@code cudaFree}
     * @param code the returned code, not 0
     * @param codeName the code's name, such as {@code cudaErrorIllegalAddress}
     * @param details what else CUDA said, several lines or nothing; put behind the name
     */
    public CudaFailureException(final String call, final int code, final String codeName, final String details) {
        super(call + " failed: " + codeName + " (" + code + ")" + (details.isEmpty() ? "" : ": " + details));
        this.code = code;
        this.codeName = codeName;
    }

    /**
     * Answers what the call returned.
     *
     * @return a {@code cudaError} for a call of the runtime ({@code cuda...}), a {@code CUresult} for one of the driver
     *     ({@code cu...}); not 0
     */
    public int code() {
        return code;
    }

    /**
     * Answers the name of {@link #code()}.
     *
     * @return for example {@code cudaErrorIllegalAddress}
     */
    public String codeName() {
        return codeName;
    }
}
