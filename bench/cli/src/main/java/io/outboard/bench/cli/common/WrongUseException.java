package io.outboard.bench.cli.common;

/** What the user asked for can't be done as asked: the message names the argument, its value and the rule. */
public final class WrongUseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * For what the command line itself finds wrong.
     *
     * @param message names the argument, its value and the rule, in lower case and on one line
     */
    public WrongUseException(final String message) {
        super(message);
    }

    /**
     * For what another class found wrong.
     *
     * @param cause its message says all
     */
    public WrongUseException(final Exception cause) {
        super(cause.getMessage(), cause);
    }
}
