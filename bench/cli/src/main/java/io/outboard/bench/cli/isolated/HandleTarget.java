package io.outboard.bench.cli.isolated;

import io.outboard.core.Strategy;

/** A bare strategy whose blocks are named by handles. */
final class HandleTarget extends BlockTarget {

    private HandleTarget(final Strategy strategy, final int slots) {
        super(strategy, slots);
    }

    static BlockTarget over(final Strategy strategy, final int slots) {
        return new HandleTarget(strategy, slots);
    }

    @Override
    public boolean allocate(final int slot, final long sizeBytes) {
        final long handle = strategy.allocateByHandle(sizeBytes);
        names[slot] = handle;
        return handle != Strategy.NO_SPACE;
    }

    @Override
    public void free(final int slot) {
        strategy.freeByHandle(names[slot]);
    }

    @Override
    long address(final int slot) {
        return strategy.addressOf(names[slot]);
    }

    @Override
    long sizeBytes(final int slot) {
        return strategy.sizeByHandle(names[slot]);
    }
}
