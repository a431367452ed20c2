package io.outboard.bench.strategy;

import io.outboard.bench.Latencies;
import io.outboard.bench.trace.Trace;
import io.outboard.core.Strategy;
import java.util.BitSet;

/**
 * The loops that do a trace's operations on a strategy. An allocation that found no memory leaves its slot empty, and
 * the free that belongs to it is left out.
 */
final class Replay {

    private Replay() {}

    /**
     * All operations, without a clock in between: what nsPerOp is measured on, so nothing that can be done elsewhere is
     * done here.
     *
     * @param addresses one element a slot; afterwards the addresses of what is live
     * @return allocations that found no memory
     */
    static long all(final Strategy strategy, final long[] operations, final long[] addresses) {
        long failures = 0;
        for (final long operation : operations) {
            final int slot = Trace.slot(operation);
            if (Trace.isFree(operation)) {
                final long address = addresses[slot];
                if (address != Strategy.NO_SPACE) {
                    strategy.free(address);
                }
            } else {
                final long address = strategy.allocate(Trace.bytes(operation));
                addresses[slot] = address;
                if (address == Strategy.NO_SPACE) {
                    failures++;
                }
            }
        }
        return failures;
    }

    /** All operations, with a clock around each. */
    static void timed(
            final Strategy strategy,
            final long[] operations,
            final long[] addresses,
            final Latencies allocate,
            final Latencies free) {
        for (final long operation : operations) {
            final int slot = Trace.slot(operation);
            if (Trace.isFree(operation)) {
                final long address = addresses[slot];
                if (address != Strategy.NO_SPACE) {
                    final long before = System.nanoTime();
                    strategy.free(address);
                    free.record(System.nanoTime() - before);
                }
            } else {
                final long bytes = Trace.bytes(operation);
                final long before = System.nanoTime();
                addresses[slot] = strategy.allocate(bytes);
                allocate.record(System.nanoTime() - before);
            }
        }
    }

    /** Whether the strategy serves the whole trace; stops at the first allocation that finds no memory. */
    static boolean isServed(final Strategy strategy, final long[] operations, final long[] addresses) {
        for (final long operation : operations) {
            final int slot = Trace.slot(operation);
            if (Trace.isFree(operation)) {
                strategy.free(addresses[slot]);
            } else {
                addresses[slot] = strategy.allocate(Trace.bytes(operation));
                if (addresses[slot] == Strategy.NO_SPACE) {
                    return false;
                }
            }
        }
        return true;
    }

    /** All operations; the most that blocks in use add up to meanwhile, in bytes. */
    static long peakUsedBytes(final Strategy strategy, final long[] operations, final long[] addresses) {
        final long freeBytes = strategy.freeBytes();
        long least = freeBytes;
        for (final long operation : operations) {
            final int slot = Trace.slot(operation);
            if (!Trace.isFree(operation)) {
                addresses[slot] = strategy.allocate(Trace.bytes(operation));
                least = Math.min(least, strategy.freeBytes());
            } else if (addresses[slot] != Strategy.NO_SPACE) {
                strategy.free(addresses[slot]);
            }
        }
        return freeBytes - least;
    }

    /** Frees what a replay left, so that the next one starts from an empty region. */
    static void drain(final Strategy strategy, final int[] slotsLeft, final long[] addresses) {
        for (final int slot : slotsLeft) {
            if (addresses[slot] != Strategy.NO_SPACE) {
                strategy.free(addresses[slot]);
            }
        }
    }

    /** The slots that a trace leaves full. */
    static int[] slotsLeft(final Trace trace) {
        final BitSet full = new BitSet();
        for (final long operation : trace.operations()) {
            full.set(Trace.slot(operation), !Trace.isFree(operation));
        }
        return full.stream().toArray();
    }
}
