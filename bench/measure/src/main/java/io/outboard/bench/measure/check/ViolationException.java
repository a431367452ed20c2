package io.outboard.bench.measure.check;

/** The exception is thrown when a strategy did what the contract forbids; its message says what. */
final class ViolationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ViolationException(final String message) {
        super(message);
    }
}
