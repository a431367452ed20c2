package io.outboard.bench.cli.isolated;

import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import org.jspecify.annotations.Nullable;

/** This class measures how a strategy without a pool uses its region. */
final class StrategyMemory extends MemoryPass {

    private final Strategy strategy;
    private final BlockTarget target;
    private final long[] requested;
    private long peakExtentBytes;
    private double externalFragmentation = Double.NaN;
    private double internalFragmentation = Double.NaN;

    StrategyMemory(final Strategy strategy, final BlockTarget target, final Trace trace, final boolean latencies) {
        super(target, trace, latencies);
        this.strategy = strategy;
        this.target = target;
        this.requested = new long[trace.slots()];
    }

    long peakExtentBytes() {
        return peakExtentBytes;
    }

    /** Returns the external fragmentation at the peak of live bytes. */
    double externalFragmentation() {
        return externalFragmentation;
    }

    /** Returns the internal fragmentation at the peak of live bytes. */
    double internalFragmentation() {
        return internalFragmentation;
    }

    @Override
    protected void allocated(final int slot, final long bytes) {
        requested[slot] = bytes;
        peakExtentBytes = Math.max(
                peakExtentBytes,
                target.address(slot)
                        + target.sizeBytes(slot)
                        - strategy.region().address());
    }

    @Override
    protected void freed(final int slot) {
        requested[slot] = 0;
    }

    @Override
    protected void peaked() {
        externalFragmentation = Statistics.of(strategy).externalFragmentation();
        double sum = 0;
        long blocks = 0;
        for (int slot = 0; slot < requested.length; slot++) {
            if (requested[slot] != 0) {
                final long size = target.sizeBytes(slot);
                sum += (double) (size - requested[slot]) / size;
                blocks++;
            }
        }
        internalFragmentation = blocks == 0 ? 0 : sum / blocks;
    }

    @Override
    @Nullable
    protected Long extentBytes() {
        return Statistics.of(strategy).extentBytes();
    }

    @Override
    protected long regionBytes() {
        return strategy.region().sizeBytes();
    }
}
