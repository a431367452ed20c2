package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.trace.Trace;

/** How often a trace is replayed to measure one allocator, so that everybody knows how much work that is. */
public final class Passes {

    /** Passes without clocks; nsPerOp is their median. */
    public static final int SPEED = 5;

    /** The compiler is done well before so many operations. */
    private static final long WARM_OPERATIONS = 2_000_000;

    /** So that reading the clock doesn't count, however short the trace. */
    private static final int LEAST_OPERATIONS_A_PASS = 200_000;

    private static final int SHORTER = Math.max(1, Integer.getInteger("outboard.bench.shorter", 1));

    private Passes() {}

    /**
     * How long to warm up, or to measure what has no length of its own: as long as that, but in tests, which read what
     * is printed and not how fast it was. They have {@code -Doutboard.bench.shorter=20}; figures are worth nothing
     * then.
     *
     * @param amount of operations or time, in any unit
     * @return at least 1
     */
    public static long shorter(final long amount) {
        return Math.max(1, amount / SHORTER);
    }

    /** Replays before the first that counts. */
    public static long warmReplays(final Trace trace) {
        return (shorter(WARM_OPERATIONS) - 1) / trace.operationCount() + 1;
    }

    /** Replays in each of the passes without clocks. */
    public static int speedReplays(final Trace trace) {
        return (int) Math.max(1, shorter(LEAST_OPERATIONS_A_PASS) / trace.operationCount());
    }

    /** Operations of all passes: the first for memory, those without clocks, those with them. */
    public static long operations(final Trace trace) {
        return (2 + 2 * warmReplays(trace) + (long) SPEED * speedReplays(trace)) * trace.operationCount();
    }
}
