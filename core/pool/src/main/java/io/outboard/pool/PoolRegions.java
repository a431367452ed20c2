package io.outboard.pool;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The regions of a pool, and a strategy for each.
 *
 * <p>Methods say which lock they need. The pool's lock guards strategies and the array of regions, and is held for tens of
 * nanoseconds. The region lock guards growing and giving back, and is held while the memory source works; it is never taken
 * while the pool's lock is held.
 *
 * <p>A growable region is the first one, if there is one. Its strategy divides all of its addresses, but a block that ends
 * beyond what is committed goes back to the strategy before the pool's lock is released. So whenever that lock is free, no
 * block in use lies there, nobody can be handed memory that isn't mapped, and none needs to wait for another's mapping:
 *
 * <pre>{@code
 *   |  used  | free |  used  |        free        |
 *   |            backed          |    addresses   |
 *   used.address()           backedEnd    used.endAddress()
 * }</pre>
 */
final class PoolRegions {

    private final RegionMaker maker;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final boolean growInPlace;
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
        firstRegionBytes = builder.firstRegionBytes;
        limitBytes = builder.limitBytes;
        growInPlace = builder.growInPlace;
        this.lock = lock;
        this.counters = counters;
        events = new PoolEvents(builder.name);
        maker = new RegionMaker(builder, events);
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
            final long address = placeIn(all[index], sizeBytes, alignmentBytes);
            if (address >= 0) {
                current = index;
                return address;
            }
            index = index + 1 == all.length ? 0 : index + 1;
        }
        return Strategy.NO_SPACE;
    }

    /** An address, {@code NO_SPACE}, or the complement of the end that must be backed for the block to be placed. */
    private long placeIn(final PoolRegion region, final long sizeBytes, final long alignmentBytes) {
        final Strategy strategy = region.strategy();
        final long before = strategy.freeBytes();
        final long address = allocate(strategy, sizeBytes, alignmentBytes);
        if (address != Strategy.NO_SPACE) {
            final long blockBytes = before - strategy.freeBytes();
            if (address + blockBytes > region.backedEnd()) {
                strategy.free(address);
                return ~(address + blockBytes);
            }
            counters.allocated(blockBytes);
        }
        return address;
    }

    private long allocate(final Strategy strategy, final long sizeBytes, final long alignmentBytes) {
        try {
            return alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
        } catch (final BlockTableFullException e) {
            tableFull = e;
            return Strategy.NO_SPACE;
        }
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

    /** Grows a block in place. Its address, {@code NO_SPACE}, or the complement of the end that must be backed for it. */
    long extend(final long address, final long newSizeBytes) {
        final PoolRegion region = regionAt(address);
        final Strategy strategy = region.strategy();
        final long oldBytes = strategy.sizeOf(address);
        final long before = strategy.freeBytes();
        if (!strategy.extend(address, newSizeBytes)) {
            return Strategy.NO_SPACE;
        }
        final long moreBytes = before - strategy.freeBytes();
        final long end = address + oldBytes + moreBytes;
        if (end > region.backedEnd()) {
            // There is room in the tables for the tail, since there was before.
            strategy.trim(address, oldBytes);
            return ~end;
        }
        counters.resized(moreBytes);
        return address;
    }

    /** The strategy whose region has an address. */
    Strategy strategyAt(final long address) {
        return regionAt(address).strategy();
    }

    private PoolRegion regionAt(final long address) {
        final PoolRegion[] all = regions;
        for (final PoolRegion region : all) {
            if (region.holds(address)) {
                return region;
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
            region.forEachBlock(visitor);
        }
    }

    /** What is held, without addresses that nothing backs. */
    List<Region> held() {
        return Arrays.stream(regions)
                .filter(region -> region.heldBytes() > 0)
                .map(region -> new Region(region.taken().address(), region.heldBytes()))
                .toList();
    }

    long largestFreeBlockBytes() {
        long largest = 0;
        for (final PoolRegion region : regions) {
            largest = Math.max(largest, region.largestFreeBlockBytes());
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
            if (region.holds(address)) {
                return true;
            }
        }
        return false;
    }

    /** Grows in place or takes another region, if limit and device allow what serves the request, and places it there. */
    long growAndPlace(final long sizeBytes, final long alignmentBytes) {
        regionLock.lock();
        try {
            // Another thread may have grown the pool while this one waited to do so.
            long address = placeLocked(sizeBytes, alignmentBytes);
            if (address == Strategy.NO_SPACE && !ended) {
                if (growInPlace && regions.length == 0) {
                    reserve();
                }
                address = commitAndPlace(sizeBytes, alignmentBytes);
            }
            return address;
        } finally {
            regionLock.unlock();
        }
    }

    /** Grows in place so that blocks may end there, if limit and device allow. */
    boolean commitTo(final long end) {
        regionLock.lock();
        try {
            final PoolRegion region = growable();
            return region != null && commit(region, end);
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
                    break;
                }
                giveBack(empty);
            }
            final PoolRegion region = growable();
            if (region != null && counters.heldBytes() > bytes) {
                decommit(region, region.heldBytes() - (counters.heldBytes() - bytes));
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
            final Failures failures = new Failures();
            for (final PoolRegion region : all) {
                failures.attempt(() -> maker.giveBack(region));
            }
            failures.rethrow();
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

    // Under the region lock, of a region that grows in place

    private @Nullable PoolRegion growable() {
        final PoolRegion[] all = regions;
        return all.length > 0 && all[0].growable() != null ? all[0] : null;
    }

    private void reserve() {
        final PoolRegion reserved = maker.reserve(limitBytes);
        if (reserved != null) {
            boolean added = false;
            try {
                append(reserved);
                added = true;
            } finally {
                if (!added) {
                    maker.giveBack(reserved);
                }
            }
        }
    }

    /** As {@link #growAndPlace}, in place as long as there are addresses, else by a whole region. */
    private long commitAndPlace(final long sizeBytes, final long alignmentBytes) {
        long placed = Strategy.NO_SPACE;
        // Asked for each time, since committing replaces it.
        for (PoolRegion region = growable(); region != null; region = growable()) {
            placed = placeGrowing(false, sizeBytes, alignmentBytes);
            if (placed >= Strategy.NO_SPACE) {
                break;
            }
            // Others may take what is committed here before this thread does: then once more, for the end that is next.
            if (!commit(region, ~placed)) {
                return placeGrowing(true, sizeBytes, alignmentBytes);
            }
        }
        return placed == Strategy.NO_SPACE ? takeAndPlace(sizeBytes, alignmentBytes) : placed;
    }

    private long placeGrowing(final boolean onlyBacked, final long sizeBytes, final long alignmentBytes) {
        lock.lock();
        try {
            if (onlyBacked) {
                // A slab needs more than the request: it may lie where nothing can be committed though there are holes.
                regions[0].strategy().makeDo();
            }
            final long placed = placeIn(regions[0], sizeBytes, alignmentBytes);
            return onlyBacked && placed < Strategy.NO_SPACE
                    ? placeAroundTail(regions[0], sizeBytes, alignmentBytes)
                    : placed;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Places a block though the strategy prefers the addresses that nothing backs, and nothing can: a good fit takes the tail
     * if that is shorter than the other free blocks. With the tail in use meanwhile, as far as it is one free block, it takes
     * one of those.
     */
    private long placeAroundTail(final PoolRegion region, final long sizeBytes, final long alignmentBytes) {
        final Strategy strategy = region.strategy();
        final long tail = allocate(strategy, sizeBytes, alignmentBytes);
        if (tail == Strategy.NO_SPACE) {
            return Strategy.NO_SPACE;
        }
        strategy.extend(tail, (region.used().endAddress() - tail) & -strategy.granuleBytes());
        final long placed = placeIn(region, sizeBytes, alignmentBytes);
        strategy.free(tail);
        return Math.max(placed, Strategy.NO_SPACE);
    }

    /** Puts memory behind the region up to an address; false if limit or device don't allow that. */
    private boolean commit(final PoolRegion region, final long end) {
        final InPlaceGrowth growth = new InPlaceGrowth(Objects.requireNonNull(region.growable()), firstRegionBytes);
        final PoolEvents.RegionTakenEvent event = events.beginRegionTaken();
        final long mostBytes = limitBytes - (counters.heldBytes() - region.heldBytes());
        try {
            return growth.commit(end - region.taken().address(), mostBytes);
        } finally {
            final long committedBytes = growth.committedBytes();
            if (committedBytes > region.heldBytes()) {
                event.commit(part(region, region.heldBytes(), committedBytes));
            }
            backed(region, committedBytes);
        }
    }

    /** Takes memory away behind the last block in use until no more than so much is committed. */
    private void decommit(final PoolRegion region, final long mostBytes) {
        final InPlaceGrowth growth = new InPlaceGrowth(Objects.requireNonNull(region.growable()), firstRegionBytes);
        final long usedBytes = withdrawUnused() - region.taken().address();
        final PoolEvents.RegionGivenBackEvent event = events.beginRegionGivenBack();
        try {
            growth.decommit(usedBytes, mostBytes);
        } finally {
            final long committedBytes = growth.committedBytes();
            if (committedBytes < region.heldBytes()) {
                event.commit(part(region, committedBytes, region.heldBytes()));
            }
            backed(region, committedBytes);
        }
    }

    private static Region part(final PoolRegion of, final long fromBytes, final long toBytes) {
        return new Region(of.taken().address() + fromBytes, toBytes - fromBytes);
    }

    /** From now on nobody is handed memory behind the last block in use; its end. Who looks for some waits to grow. */
    private long withdrawUnused() {
        lock.lock();
        try {
            final PoolRegion region = regions[0];
            final long end = region.usedEnd();
            replaceGrowable(region.heldBytes(), end);
            return end;
        } finally {
            lock.unlock();
        }
    }

    private void backed(final PoolRegion region, final long committedBytes) {
        lock.lock();
        try {
            replaceGrowable(committedBytes, region.taken().address() + committedBytes);
        } finally {
            lock.unlock();
        }
    }

    /** Under both locks. */
    private void replaceGrowable(final long heldBytes, final long backedEnd) {
        final PoolRegion[] all = regions.clone();
        final PoolRegion old = all[0];
        all[0] = new PoolRegion(old.taken(), old.used(), old.strategy(), old.growable(), heldBytes, backedEnd);
        regions = all;
        counters.held(all.length, counters.heldBytes() + heldBytes - old.heldBytes());
    }

    // Under the region lock, of whole regions

    /** As {@link #growAndPlace}, by a whole region. */
    private long takeAndPlace(final long sizeBytes, final long alignmentBytes) {
        final long heldBytes = counters.heldBytes();
        final PoolRegion taken = maker.take(
                maker.leastBytesFor(sizeBytes, alignmentBytes),
                heldBytes == 0 ? firstRegionBytes : heldBytes,
                limitBytes - heldBytes);
        return taken == null ? Strategy.NO_SPACE : placeInNew(taken, sizeBytes, alignmentBytes);
    }

    /** Places a request before anyone else sees the region. */
    private long placeInNew(final PoolRegion region, final long sizeBytes, final long alignmentBytes) {
        long address = Strategy.NO_SPACE;
        try {
            final PoolRegion[] all = with(region);
            lock.lock();
            try {
                address = placeIn(region, sizeBytes, alignmentBytes);
                if (address != Strategy.NO_SPACE) {
                    replace(all, region.heldBytes());
                }
            } finally {
                lock.unlock();
            }
        } finally {
            if (address == Strategy.NO_SPACE) {
                // An alignment that the strategy can't be sure of, or a table that is too small.
                giveBack(region);
            }
        }
        return address;
    }

    private PoolRegion[] with(final PoolRegion region) {
        final PoolRegion[] all = Arrays.copyOf(regions, regions.length + 1);
        all[all.length - 1] = region;
        return all;
    }

    private void append(final PoolRegion region) {
        lock.lock();
        try {
            replace(with(region), region.heldBytes());
        } finally {
            lock.unlock();
        }
    }

    /** The whole one taken last, since it is the largest as a rule; null if something is in use in each. */
    private @Nullable PoolRegion removeEmpty() {
        lock.lock();
        try {
            final PoolRegion[] all = regions;
            for (int i = all.length - 1; i >= 0; i--) {
                final PoolRegion region = all[i];
                if (region.growable() == null && region.strategy().liveBlocks() == 0) {
                    final List<PoolRegion> rest = new ArrayList<>(Arrays.asList(all));
                    rest.remove(i);
                    replace(rest.toArray(new PoolRegion[0]), -region.heldBytes());
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
            maker.giveBack(region);
        } catch (final RuntimeException e) {
            // It is still out, and empty.
            append(region);
            throw e;
        }
    }
}
