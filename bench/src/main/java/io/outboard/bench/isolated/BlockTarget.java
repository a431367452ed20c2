package io.outboard.bench.isolated;

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
    final boolean wasServed(final int slot) {
        return names[slot] != Strategy.NO_SPACE;
    }

    @Override
    final void step() {
        if (strategy instanceof StepwiseStrategy stepwise) {
            stepwise.step();
        }
    }

    /** Where the block of a slot is. */
    abstract long address(int slot);

    /** The size of the block of a slot. */
    abstract long sizeBytes(int slot);
}
