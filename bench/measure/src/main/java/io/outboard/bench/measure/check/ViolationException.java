package io.outboard.bench.measure.check;

/** Thrown when a strategy did what the contract forbids; the message says what. */
final class ViolationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ViolationException(final String message) {
        super(message);
    }
}
