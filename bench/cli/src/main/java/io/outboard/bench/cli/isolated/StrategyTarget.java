package io.outboard.bench.cli.isolated;

import io.outboard.core.Strategy;

/** This class replays a trace on a strategy without a pool whose blocks are named by addresses. */
final class StrategyTarget extends BlockTarget {

    private StrategyTarget(final Strategy strategy, final int slots) {
        super(strategy, slots);
    }

    static BlockTarget over(final Strategy strategy, final int slots) {
        return new StrategyTarget(strategy, slots);
    }

    @Override
    public boolean allocate(final int slot, final long sizeBytes) {
        final long address = strategy.allocate(sizeBytes);
        names[slot] = address;
        return address != Strategy.NO_SPACE;
    }

    @Override
    public void free(final int slot) {
        strategy.free(names[slot]);
    }

    @Override
    long address(final int slot) {
        return names[slot];
    }

    @Override
    long sizeBytes(final int slot) {
        return strategy.sizeOf(names[slot]);
    }
}
