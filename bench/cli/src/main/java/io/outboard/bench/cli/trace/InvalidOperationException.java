package io.outboard.bench.cli.trace;

/** An operation that breaks the rules of {@link Trace}; keeps its index, from which a reader tells the byte offset. */
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
