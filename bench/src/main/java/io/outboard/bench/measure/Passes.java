package io.outboard.bench.measure;

import io.outboard.bench.trace.Trace;

/** How often a trace is replayed to measure one allocator, so that everybody knows how much work that is. */
public final class Passes {

    /** Passes without clocks; nsPerOp is their median. */
    public static final int SPEED = 5;

    /** The compiler is done well before so many operations. */
    private static final long WARM_OPERATIONS = 2_000_000;

    /** So that reading the clock doesn't count, however short the trace. */
    private static final int LEAST_OPERATIONS_A_PASS = 200_000;

    private Passes() {}

    /** Replays before the first that counts. */
    public static long warmReplays(final Trace trace) {
        return (WARM_OPERATIONS - 1) / trace.operationCount() + 1;
    }

    /** Replays in each of the passes without clocks. */
    public static int speedReplays(final Trace trace) {
        return Math.max(1, LEAST_OPERATIONS_A_PASS / trace.operationCount());
    }

    /** Operations of all passes: the first for memory, those without clocks, those with them. */
    public static long operations(final Trace trace) {
        return (2 + 2 * warmReplays(trace) + (long) SPEED * speedReplays(trace)) * trace.operationCount();
    }
}
