package io.outboard.bench.cli.isolated;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.trace.Trace;
import java.util.BitSet;

/**
 * The loops that do a trace's operations on a target. An allocation that found no memory leaves its slot empty, and the
 * free that belongs to it is left out.
 */
public final class Replay {

    private Replay() {}

    /**
     * All operations, without a clock in between: what nsPerOp is measured on, so nothing that can be done elsewhere is
     * done here.
     */
    static void all(final Target target, final long[] operations) {
        part(target, operations, 0, operations.length);
    }

    /** The operations from one up to another, likewise. */
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
     * The operations from one up to another, with a clock around each; returns how many allocations found no memory.
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

    /** Whether the target serves the whole trace; stops at the first allocation that finds no memory. */
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

    /** Frees what a replay left, so that the next one starts with nothing in use. */
    public static void drain(final Target target, final int[] slotsLeft) {
        for (final int slot : slotsLeft) {
            if (target.wasServed(slot)) {
                target.free(slot);
            }
        }
        target.step();
    }

    /** The slots that a trace leaves full. */
    public static int[] slotsLeft(final Trace trace) {
        final BitSet full = new BitSet();
        for (final long operation : trace.operations()) {
            full.set(Trace.slot(operation), !Trace.isFree(operation));
        }
        return full.stream().toArray();
    }
}
