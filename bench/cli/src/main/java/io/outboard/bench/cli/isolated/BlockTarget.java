package io.outboard.bench.cli.isolated;

import io.outboard.core.StepwiseStrategy;
import io.outboard.core.Strategy;

/**
 * This class replays a trace on a strategy without a pool. Each slot holds the name of its block, an address or a
 * handle.
 */
abstract class BlockTarget extends Target {

    final Strategy strategy;
    final long[] names;

    BlockTarget(final Strategy strategy, final int slots) {
        this.strategy = strategy;
        this.names = new long[slots];
    }

    @Override
    public final boolean wasServed(final int slot) {
        return names[slot] != Strategy.NO_SPACE;
    }

    @Override
    public final void step() {
        if (strategy instanceof StepwiseStrategy stepwise) {
            stepwise.step();
        }
    }

    /** Returns the address of the block in a slot. */
    abstract long address(int slot);

    /** Returns the size of the block in a slot. */
    abstract long sizeBytes(int slot);
}
