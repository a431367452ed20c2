package io.outboard.bench.cli.trace;

/**
 * This class reports an operation that breaks the rules of {@link Trace}; keeps its index, from which a reader computes
 * the byte offset.
 */
final class InvalidOperationException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final int index;
    private final String problem;

    InvalidOperationException(final int index, final String problem) {
        super("operation " + index + ": " + problem);
        this.index = index;
        this.problem = problem;
    }

    int index() {
        return index;
    }

    String problem() {
        return problem;
    }
}
