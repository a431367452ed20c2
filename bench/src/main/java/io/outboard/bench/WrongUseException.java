package io.outboard.bench;

/** What the user asked for can't be done as asked: the message names the argument, its value and the rule. */
final class WrongUseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    WrongUseException(final String message) {
        super(message);
    }

    WrongUseException(final Exception cause) {
        super(cause.getMessage(), cause);
    }
}
