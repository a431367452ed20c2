package io.outboard.bench.cli.isolated;

import io.outboard.core.HandleStrategy;
import io.outboard.core.Strategy;

/** This class replays a trace on a strategy without a pool whose blocks are named by handles. */
final class HandleTarget extends BlockTarget {

    private final HandleStrategy handles;

    private HandleTarget(final HandleStrategy strategy, final int slots) {
        super(strategy, slots);
        handles = strategy;
    }

    static BlockTarget over(final HandleStrategy strategy, final int slots) {
        return new HandleTarget(strategy, slots);
    }

    @Override
    public boolean allocate(final int slot, final long sizeBytes) {
        final long handle = handles.allocateByHandle(sizeBytes);
        names[slot] = handle;
        return handle != Strategy.NO_SPACE;
    }

    @Override
    public void free(final int slot) {
        handles.freeByHandle(names[slot]);
    }

    @Override
    long address(final int slot) {
        return handles.addressOf(names[slot]);
    }

    @Override
    long sizeBytes(final int slot) {
        return handles.sizeByHandle(names[slot]);
    }
}
