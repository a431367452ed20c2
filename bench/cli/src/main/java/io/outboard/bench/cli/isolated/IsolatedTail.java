package io.outboard.bench.cli.isolated;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.tail.TailBench;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;

/** This class runs the loop of {@link TailBench}. Confined to one thread; makes no garbage. */
public final class IsolatedTail implements TailBench {

    private final Target target;
    private final Trace trace;
    private final int[] slotsLeft;
    private int next;
    private long failures;

    /**
     * Makes the strategy.
     *
     * @param strategy name of the strategy, or {@link TailBench#NOTHING}
     * @param trace the trace to repeat
     * @param maxBlocks how many blocks the strategy's tables hold
     * @param regionBytes size of the region, whose addresses no memory backs
     * @throws IllegalArgumentException if there is no such strategy, or the tables can't have that size
     * @throws WrongUseException if the strategy can't divide such a region
     */
    public IsolatedTail(final String strategy, final Trace trace, final int maxBlocks, final long regionBytes) {
        this.trace = trace;
        slotsLeft = Replay.slotsLeft(trace);
        target = strategy.equals(NOTHING)
                ? new NoTarget(trace.slots())
                : target(strategy, trace.slots(), maxBlocks, regionBytes);
    }

    @Override
    public void run(final int count, final Latencies allocate, final Latencies free) {
        for (int left = count; left > 0; ) {
            final int end = (int) Math.min((long) next + left, trace.operationCount());
            failures += Replay.timed(target, trace.operations(), next, end, allocate, free);
            left -= end - next;
            next = end;
            if (next == trace.operationCount()) {
                Replay.drain(target, slotsLeft);
                next = 0;
            }
        }
    }

    @Override
    public long failures() {
        return failures;
    }

    private static Target target(final String strategy, final int slots, final int maxBlocks, final long regionBytes) {
        final StrategyOptions options = StrategyOptions.DEFAULTS.withMaxBlocks(maxBlocks);
        final StrategyProvider provider = Strategies.named(strategy);
        try {
            return StrategyTarget.over(provider.create(VirtualMemorySource.region(regionBytes), options), slots);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException("--region=" + regionBytes + " must suit " + strategy + ": " + e.getMessage());
        }
    }

    /** This target does the same bookkeeping as a target that calls a strategy, but calls none. */
    private static final class NoTarget extends Target {

        private final long[] addresses;

        NoTarget(final int slots) {
            addresses = new long[slots];
        }

        @Override
        public boolean allocate(final int slot, final long sizeBytes) {
            addresses[slot] = sizeBytes;
            return true;
        }

        @Override
        public boolean wasServed(final int slot) {
            return addresses[slot] > 0;
        }

        @Override
        public void free(final int slot) {
            // The method is empty because the loop alone is measured.
        }
    }
}
