package io.outboard.bench.cli.isolated;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.trace.Trace;
import java.util.BitSet;

/**
 * These loops run a trace's operations on a target. An allocation that found no memory leaves its slot empty, and the
 * free of that slot is left out.
 */
public final class Replay {

    private Replay() {}

    /**
     * Runs all operations without a clock in between. nsPerOp is measured on this loop, so it does nothing that can be
     * done elsewhere.
     */
    static void all(final Target target, final long[] operations) {
        part(target, operations, 0, operations.length);
    }

    /** Runs the operations from one number up to another without a clock. */
    public static void part(final Target target, final long[] operations, final int from, final int to) {
        for (int i = from; i < to; i++) {
            final long operation = operations[i];
            final int slot = Trace.slot(operation);
            if (Trace.isFree(operation)) {
                if (target.wasServed(slot)) {
                    target.free(slot);
                }
            } else {
                target.allocate(slot, Trace.bytes(operation));
            }
        }
    }

    /**
     * Runs the operations from one number up to another with a clock around each; returns how many allocations found no
     * memory.
     */
    static long timed(
            final Target target,
            final long[] operations,
            final int from,
            final int to,
            final Latencies allocate,
            final Latencies free) {
        long failures = 0;
        for (int i = from; i < to; i++) {
            final long operation = operations[i];
            final int slot = Trace.slot(operation);
            if (Trace.isFree(operation)) {
                if (target.wasServed(slot)) {
                    final long before = System.nanoTime();
                    target.free(slot);
                    free.record(System.nanoTime() - before);
                }
            } else {
                final long bytes = Trace.bytes(operation);
                final long before = System.nanoTime();
                final boolean served = target.allocate(slot, bytes);
                allocate.record(System.nanoTime() - before);
                failures += served ? 0 : 1;
            }
        }
        return failures;
    }

    /** Tells whether the target serves the whole trace; stops at the first allocation that finds no memory. */
    static boolean isServed(final Target target, final long[] operations) {
        for (final long operation : operations) {
            final int slot = Trace.slot(operation);
            if (Trace.isFree(operation)) {
                target.free(slot);
            } else if (!target.allocate(slot, Trace.bytes(operation))) {
                return false;
            }
        }
        return true;
    }

    /** Frees what a replay left, so that the next replay starts with nothing in use. */
    public static void drain(final Target target, final int[] slotsLeft) {
        for (final int slot : slotsLeft) {
            if (target.wasServed(slot)) {
                target.free(slot);
            }
        }
        target.step();
    }

    /** Finds the slots that a trace leaves in use. */
    public static int[] slotsLeft(final Trace trace) {
        final BitSet full = new BitSet();
        for (final long operation : trace.operations()) {
            full.set(Trace.slot(operation), !Trace.isFree(operation));
        }
        return full.stream().toArray();
    }
}
