package io.outboard.bench.cli.common;

/**
 * This class tells that the user asked for something that can't be done; the message names the argument, its value and
 * the rule.
 */
public final class WrongUseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports an error that the command line itself found.
     *
     * @param message names the argument, its value and the rule, in lower case and on one line
     */
    public WrongUseException(final String message) {
        super(message);
    }

    /**
     * Reports an error that another class found.
     *
     * @param cause its message becomes the message
     */
    public WrongUseException(final Exception cause) {
        super(cause.getMessage(), cause);
    }
}
