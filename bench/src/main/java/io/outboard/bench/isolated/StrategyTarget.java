package io.outboard.bench.isolated;

import io.outboard.core.Strategy;

/** A bare strategy. */
final class StrategyTarget extends Target {

    private final Strategy strategy;
    private final long[] addresses;

    StrategyTarget(final Strategy strategy, final int slots) {
        this.strategy = strategy;
        this.addresses = new long[slots];
    }

    @Override
    boolean allocate(final int slot, final long sizeBytes) {
        final long address = strategy.allocate(sizeBytes);
        addresses[slot] = address;
        return address != Strategy.NO_SPACE;
    }

    @Override
    boolean wasServed(final int slot) {
        return addresses[slot] != Strategy.NO_SPACE;
    }

    @Override
    void free(final int slot) {
        strategy.free(addresses[slot]);
    }

    long address(final int slot) {
        return addresses[slot];
    }
}
