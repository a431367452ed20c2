package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.trace.Trace;

/**
 * This class defines how often a trace is replayed to measure one allocator, for the measurement itself and for its
 * progress bar.
 */
public final class Passes {

    /** The number of turns; strategies that are compared take theirs one after the other. */
    public static final int TURNS = 7;

    /** The number of operations of the warm-up; the JIT compiler is done well before. */
    private static final long WARM_OPERATIONS = 1_000_000;

    /**
     * The least operations of a pass: half a millisecond, so that the time of reading the clock doesn't matter even for
     * a short trace, and a pass that nothing interrupts is likely even on a busy machine.
     */
    private static final int LEAST_OPERATIONS_A_PASS = 20_000;

    /** The operations of a turn, unless the trace is longer. */
    private static final int OPERATIONS_A_TURN = 500_000;

    private static final int SHORTER = Math.max(1, Integer.getInteger("outboard.bench.shorter", 1));

    private Passes() {}

    /**
     * Shortens a warm-up, or a measurement that has no length of its own, in tests, which check the printed form and
     * not the speed. Tests set {@code -Doutboard.bench.shorter=20}; the figures of such runs are worth nothing. Without
     * that property, the amount stays as it is.
     *
     * @param amount of operations or time, in any unit
     * @return at least 1
     */
    public static long shorter(final long amount) {
        return Math.max(1, amount / SHORTER);
    }

    /** Returns the number of replays in a warm-up. */
    public static long warmReplays(final Trace trace) {
        return (shorter(WARM_OPERATIONS) - 1) / trace.operationCount() + 1;
    }

    /** Returns the number of replays in each of the passes without clocks. */
    public static int speedReplays(final Trace trace) {
        return (int) Math.max(1, shorter(LEAST_OPERATIONS_A_PASS) / trace.operationCount());
    }

    /** Returns the number of passes in each turn. */
    public static int passesATurn(final Trace trace) {
        return (int) Math.max(1, shorter(OPERATIONS_A_TURN) / (speedReplays(trace) * (long) trace.operationCount()));
    }

    /**
     * Returns the number of operations in all passes: the memory pass, the passes without clocks, and the passes with
     * clocks.
     */
    public static long operations(final Trace trace) {
        return (2 + 2 * warmReplays(trace) + (long) TURNS * passesATurn(trace) * speedReplays(trace))
                * trace.operationCount();
    }
}
