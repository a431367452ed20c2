package io.outboard.pool;

import io.outboard.core.BlockVisitor;
import io.outboard.pool.growth.Growth;
import io.outboard.pool.lanes.LaneTotals;
import io.outboard.pool.lanes.Lanes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a pool tells about itself: numbers without stopping it, blocks while it stands still. Safe for any number of threads. */
final class Diagnosis {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.core");

    private final @Nullable String name;
    private final long limitBytes;
    private final Lanes lanes;
    private final Growth growth;
    private final Recycler recycler;
    private final @Nullable LeakTracker tracker;

    Diagnosis(
            final PoolBuilder builder,
            final Lanes lanes,
            final Growth growth,
            final Recycler recycler,
            final @Nullable LeakTracker tracker) {
        name = builder.name;
        limitBytes = builder.limitBytes;
        this.lanes = lanes;
        this.growth = growth;
        this.recycler = recycler;
        this.tracker = tracker;
    }

    /** See {@link Pool#statistics}. */
    PoolStatistics statistics() {
        lanes.settle();
        final LaneTotals totals = lanes.totals;
        return new PoolStatistics(
                lanes.main().parts.all().length,
                totals.heldBytes(),
                limitBytes,
                totals.usedBytes(),
                totals.limboBytes(),
                totals.peakUsedBytes(),
                totals.liveBlocks(),
                totals.allocations(),
                recycler.waits(),
                totals.mappings(),
                totals.movedBytes());
    }

    /** See {@link Pool#largestFreeBlockBytes}. */
    long largestFreeBlockBytes() {
        lanes.whole.lock();
        try {
            return lanes.whole.largestFreeBlockBytes();
        } finally {
            lanes.whole.unlock();
        }
    }

    /** See {@link Pool#largestHolders}. */
    List<Holder> largestHolders() {
        return copy().holders(tracker);
    }

    /** See {@link Pool#dump}. */
    void dump(final Path path) throws IOException {
        copy().write(path, name, tracker);
    }

    private PoolDump copy() {
        return new PoolDump(this, lanes, growth);
    }

    /** See {@link Pool#forEachBlock}. */
    void forEachBlock(final BlockVisitor visitor) {
        lanes.whole.lock();
        try {
            lanes.whole.forEachBlock(visitor);
        } finally {
            lanes.whole.unlock();
        }
    }

    /** What is still in use, when the pool is closed. */
    void reportLeft() {
        final PoolStatistics last = statistics();
        if (last.liveBlocks() > 0) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "a pool is closed with " + last.liveBlocks() + " blocks in use, " + last.usedBytes()
                            + " bytes; the largest: " + largestHolders());
        }
    }
}
