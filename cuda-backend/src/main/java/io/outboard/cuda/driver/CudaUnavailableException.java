package io.outboard.cuda.driver;

/**
 * This exception says that there is no CUDA device to work with: there is no driver, no such device, or JCuda is
 * needed and missing, or its native library doesn't load. The message is one line that says which, and what to do.
 */
public final class CudaUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception without a cause, for a code that CUDA returned.
     *
     * @param message one line: what is missing, and what to do
     */
    public CudaUnavailableException(final String message) {
        super(message);
    }

    /**
     * Makes an exception with the error that JCuda or the virtual machine threw.
     *
     * @param message one line: what is missing, and what to do
     * @param cause what was thrown
     */
    public CudaUnavailableException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
