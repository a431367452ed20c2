package io.outboard.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The regions of a pool, and a strategy for each.
 *
 * <p>Methods say which lock they need. The pool's lock guards strategies and the array of regions, and is held for tens of
 * nanoseconds. The region lock guards growing and giving back, and is held while the memory source works; it is never taken
 * while the pool's lock is held.
 */
final class PoolRegions {

    /** Regions are multiples of this, which is what the driver maps device memory by. */
    private static final long UNIT_BYTES = 1L << 21;

    /** What every memory source aligns regions to. */
    private static final long SOURCE_ALIGNMENT_BYTES = 256;

    /** Most that a strategy divides: granules are counted in unsigned ints. */
    private static final long MOST_GRANULES = (1L << 32) - 1;

    /** A region, the part of it that starts at a granule, and what divides that. */
    record PoolRegion(Region taken, Region used, Strategy strategy) {}

    private final MemorySource source;
    private final StrategyProvider provider;
    private final StrategyOptions options;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final PoolCounters counters;
    private final PoolEvents events;
    private final SpinLock lock;
    private final ReentrantLock regionLock = new ReentrantLock();

    /** Replaced, never changed, under both locks. */
    private volatile PoolRegion[] regions = {};

    /** Where the last block was placed. */
    private int current;

    /** Why an attempt failed, for {@link #placeOrSayWhy}. */
    private @Nullable BlockTableFullException tableFull;

    private boolean ended;

    PoolRegions(final PoolBuilder builder, final SpinLock lock, final PoolCounters counters) {
        source = builder.source;
        provider = Strategies.named(builder.strategy);
        options = builder.strategyOptions;
        firstRegionBytes = builder.firstRegionBytes;
        limitBytes = builder.limitBytes;
        this.lock = lock;
        this.counters = counters;
        events = new PoolEvents(builder.name);
    }

    // Under the pool's lock

    /**
     * Tries each region once, from the one that served last. An address, or {@code NO_SPACE}, also if there is space but
     * no room for it in the tables.
     */
    long place(final long sizeBytes, final long alignmentBytes) {
        final PoolRegion[] all = regions;
        int index = current;
        for (int tried = 0; tried < all.length; tried++) {
            final long address = placeIn(all[index].strategy, sizeBytes, alignmentBytes);
            if (address != Strategy.NO_SPACE) {
                current = index;
                return address;
            }
            index = index + 1 == all.length ? 0 : index + 1;
        }
        return Strategy.NO_SPACE;
    }

    private long placeIn(final Strategy strategy, final long sizeBytes, final long alignmentBytes) {
        final long before = strategy.freeBytes();
        final long address;
        try {
            address = alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
        } catch (final BlockTableFullException e) {
            tableFull = e;
            return Strategy.NO_SPACE;
        }
        if (address != Strategy.NO_SPACE) {
            counters.allocated(before - strategy.freeBytes());
        }
        return address;
    }

    /**
     * As {@link #place}, when all else has failed.
     *
     * @throws BlockTableFullException if that is why
     */
    long placeOrSayWhy(final long sizeBytes, final long alignmentBytes) {
        tableFull = null;
        final long address = place(sizeBytes, alignmentBytes);
        final BlockTableFullException why = tableFull;
        tableFull = null;
        if (address == Strategy.NO_SPACE && why != null) {
            throw why;
        }
        return address;
    }

    /** The strategy whose region has an address. */
    Strategy strategyAt(final long address) {
        final PoolRegion[] all = regions;
        for (final PoolRegion region : all) {
            if (region.used.contains(address)) {
                return region.strategy;
            }
        }
        throw new InvalidAddressException(
                address,
                "address=0x" + Long.toHexString(address)
                        + " must be the start of a block in use: it lies in none of the " + all.length
                        + " regions of the pool");
    }

    void forEachBlock(final BlockVisitor visitor) {
        for (final PoolRegion region : regions) {
            region.strategy.forEachBlock(visitor);
        }
    }

    /** As the source knows them. */
    List<Region> taken() {
        return Arrays.stream(regions).map(PoolRegion::taken).toList();
    }

    long largestFreeBlockBytes() {
        long largest = 0;
        for (final PoolRegion region : regions) {
            largest = Math.max(largest, region.strategy.largestFreeBlockBytes());
        }
        return largest;
    }

    private void replace(final PoolRegion[] all, final long addedBytes) {
        regions = all;
        current = Math.max(all.length - 1, 0);
        counters.held(all.length, counters.heldBytes() + addedBytes);
    }

    // Without a lock

    boolean contains(final long address) {
        for (final PoolRegion region : regions) {
            if (region.used.contains(address)) {
                return true;
            }
        }
        return false;
    }

    /** Takes another region, if limit and device allow one that serves the request, and places it there. */
    long growAndPlace(final long sizeBytes, final long alignmentBytes) {
        regionLock.lock();
        try {
            // Another thread may have grown the pool while this one waited to do so.
            long address = placeLocked(sizeBytes, alignmentBytes);
            if (address == Strategy.NO_SPACE && !ended && grow(sizeBytes, alignmentBytes)) {
                address = placeLocked(sizeBytes, alignmentBytes);
            }
            return address;
        } finally {
            regionLock.unlock();
        }
    }

    /** Gives regions back in which nothing is in use until no more than so much is held. */
    void trimTo(final long bytes) {
        regionLock.lock();
        try {
            while (counters.heldBytes() > bytes) {
                final PoolRegion empty = removeEmpty();
                if (empty == null) {
                    return;
                }
                giveBack(empty);
            }
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * Gives every region back, whatever is in use there.
     *
     * @throws RuntimeException the first that the source throws; every region was tried
     */
    void end() {
        regionLock.lock();
        try {
            ended = true;
            final PoolRegion[] all = regions;
            lock.lock();
            try {
                replace(new PoolRegion[0], -counters.heldBytes());
                counters.ended();
            } finally {
                lock.unlock();
            }
            RuntimeException failure = null;
            for (final PoolRegion region : all) {
                try {
                    giveBackToSource(region.taken);
                } catch (final RuntimeException e) {
                    if (failure == null) {
                        failure = e;
                    } else {
                        failure.addSuppressed(e);
                    }
                }
            }
            if (failure != null) {
                throw failure;
            }
        } finally {
            regionLock.unlock();
        }
    }

    private long placeLocked(final long sizeBytes, final long alignmentBytes) {
        lock.lock();
        try {
            return place(sizeBytes, alignmentBytes);
        } finally {
            lock.unlock();
        }
    }

    // Under the region lock

    private boolean grow(final long sizeBytes, final long alignmentBytes) {
        final long mostBytes = Math.min(limitBytes - counters.heldBytes(), MOST_GRANULES * options.granuleBytes());
        final long unitBytes = Math.max(alignmentBytes, options.granuleBytes());
        if (sizeBytes > mostBytes || unitBytes > mostBytes) {
            return false;
        }
        final long paddingBytes = unitBytes > SOURCE_ALIGNMENT_BYTES ? unitBytes : 0;
        final long leastBytes = roundUp(sizeBytes, options.granuleBytes()) + paddingBytes;
        // Both addends may be 2^62.
        if (leastBytes < 0 || leastBytes > mostBytes) {
            return false;
        }
        final long goodBytes =
                Math.max(leastBytes, counters.heldBytes() == 0 ? firstRegionBytes : counters.heldBytes());
        long regionBytes = Math.min(roundUp(goodBytes, UNIT_BYTES), mostBytes);
        while (regionBytes >= leastBytes) {
            try {
                add(take(regionBytes));
                return true;
            } catch (final DeviceOutOfMemoryException e) {
                regionBytes = regionBytes == leastBytes ? 0 : Math.max((regionBytes / 2) & -UNIT_BYTES, leastBytes);
            }
        }
        return false;
    }

    private Region take(final long sizeBytes) {
        final PoolEvents.RegionTakenEvent event = events.beginRegionTaken();
        final Region taken = source.take(sizeBytes);
        event.commit(taken);
        return taken;
    }

    private void giveBackToSource(final Region taken) {
        final PoolEvents.RegionGivenBackEvent event = events.beginRegionGivenBack();
        source.giveBack(taken);
        event.commit(taken);
    }

    private void add(final Region taken) {
        final PoolRegion added;
        try {
            // A source may know nothing of large granules.
            final long paddingBytes = -taken.address() & (options.granuleBytes() - 1);
            final Region used = new Region(taken.address() + paddingBytes, taken.sizeBytes() - paddingBytes);
            added = new PoolRegion(taken, used, provider.create(used, options));
        } catch (final RuntimeException | OutOfMemoryError e) {
            // The host may have no memory for the tables.
            try {
                giveBackToSource(taken);
            } catch (final RuntimeException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
        lock.lock();
        try {
            append(added);
        } finally {
            lock.unlock();
        }
    }

    private void append(final PoolRegion region) {
        final PoolRegion[] all = Arrays.copyOf(regions, regions.length + 1);
        all[all.length - 1] = region;
        replace(all, region.taken.sizeBytes());
    }

    /** The one taken last, since it is the largest as a rule; null if something is in use in each. */
    private @Nullable PoolRegion removeEmpty() {
        lock.lock();
        try {
            final PoolRegion[] all = regions;
            for (int i = all.length - 1; i >= 0; i--) {
                final PoolRegion region = all[i];
                if (region.strategy.liveBlocks() == 0) {
                    final List<PoolRegion> rest = new ArrayList<>(Arrays.asList(all));
                    rest.remove(i);
                    replace(rest.toArray(new PoolRegion[0]), -region.taken.sizeBytes());
                    return region;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(final PoolRegion region) {
        try {
            giveBackToSource(region.taken);
        } catch (final RuntimeException e) {
            // It is still out, and empty.
            lock.lock();
            try {
                append(region);
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    private static long roundUp(final long value, final long multiple) {
        return (value + multiple - 1) & -multiple;
    }
}
