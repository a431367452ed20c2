package io.outboard.bench.cli.isolated;

import io.outboard.core.StepwiseStrategy;
import io.outboard.core.Strategy;

/** A bare strategy. A slot keeps what names its block. */
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

    /** Where the block of a slot is. */
    abstract long address(int slot);

    /** The size of the block of a slot. */
    abstract long sizeBytes(int slot);
}
