package io.outboard.bench.measure.pool.isolated;

import io.outboard.bench.cli.isolated.Target;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Strategy;
import io.outboard.pool.Pool;

/** The target measures a pool. */
final class PoolTarget extends Target {

    private static final long STREAM = 0;

    private final Pool pool;
    private final boolean ordered;
    private final long[] addresses;
    private long failures;

    /** {@code ordered} selects the calls that are ordered on a stream, here the default one. */
    PoolTarget(final Pool pool, final boolean ordered, final int slots) {
        this.pool = pool;
        this.ordered = ordered;
        this.addresses = new long[slots];
    }

    @Override
    public boolean allocate(final int slot, final long sizeBytes) {
        try {
            addresses[slot] = ordered ? pool.allocateAsync(sizeBytes, STREAM) : pool.allocate(sizeBytes);
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            addresses[slot] = Strategy.NO_SPACE;
            failures++;
            return false;
        }
    }

    @Override
    public void step() {
        pool.step();
    }

    /** Returns how many allocations found no memory. */
    long failures() {
        return failures;
    }

    @Override
    public boolean wasServed(final int slot) {
        return addresses[slot] != Strategy.NO_SPACE;
    }

    @Override
    public void free(final int slot) {
        if (ordered) {
            pool.freeAsync(addresses[slot], STREAM);
        } else {
            pool.free(addresses[slot]);
        }
    }
}
