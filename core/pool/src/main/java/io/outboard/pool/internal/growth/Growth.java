package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.guard.Failures;
import io.outboard.pool.internal.guard.StackReserve;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How a pool comes to more memory, and gives it back: in place where the source can, see {@link GrowthInPlace}, and by whole
 * regions else, or if addresses run out.
 *
 * <p>The region lock guards growing and giving back, and is held while the memory source works; the main arena's lock, which
 * guards the regions, is held for tens of nanoseconds. The region lock is never taken while an arena's is held.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Growth {

    /** A modest region is such a part of what is held. */
    private static final long MODEST_SHARE = 8;

    /** In place of what the pool held: grow by little, since the memory that there is should do. */
    public static final long BY_LITTLE = -1;

    /** In place of an address: the pool holds more than when it was decided, and has no room all the same. */
    public static final long OTHERS_GREW = Strategy.NO_SPACE - 1;

    private final RegionMaker maker;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final Arenas arenas;
    private final Arena main;
    private final @Nullable GrowthInPlace inPlace;
    private final ReentrantLock regionLock = new ReentrantLock();
    private boolean ended;

    public Growth(final GrowthPlan plan, final Arenas arenas, final RegionMaker maker, final PoolEvents events) {
        firstRegionBytes = plan.firstBytes();
        limitBytes = plan.limitBytes();
        this.maker = maker;
        this.arenas = arenas;
        main = arenas.main();
        inPlace = plan.inPlace() ? new GrowthInPlace(plan, arenas, maker, events) : null;
    }

    /** What the device said when it refused memory the last time, for whichever request; null if it never did. */
    public @Nullable DeviceOutOfMemoryException refusal() {
        return maker.refusal();
    }

    /** What the pool would hold if it grew for a request, in bytes. */
    public long nextHeldBytes(final long sizeBytes) {
        final long heldBytes = arenas.totals.heldBytes();
        final long stepBytes = inPlace == null ? -1 : inPlace.stepBytes();
        final long moreBytes = stepBytes >= 0 ? stepBytes : heldBytes == 0 ? firstRegionBytes : heldBytes;
        return Math.min(limitBytes, heldBytes + Math.max(moreBytes, Math.min(sizeBytes, limitBytes)));
    }

    /**
     * Grows in place or takes another region, if limit and device allow what serves the request, and places it there.
     *
     * @param heldBytes what the pool held when it was decided that it may take as much again; or {@link #BY_LITTLE}, which needs no
     *     decision
     * @return an address, {@code NO_SPACE}, or {@link #OTHERS_GREW}: then it is to be decided anew
     */
    public long growAndPlace(final long sizeBytes, final long alignmentBytes, final long heldBytes) {
        StackReserve.claimMore();
        regionLock.lock();
        try {
            // Another thread may have grown the pool while this one waited to do so.
            long address = main.allocate(sizeBytes, alignmentBytes);
            if (address == Strategy.NO_SPACE && !ended) {
                if (inPlace != null) {
                    if (main.parts.all().length == 0) {
                        inPlace.reserve();
                    }
                    address = inPlace.commitAndPlace(sizeBytes, alignmentBytes);
                }
                if (address == Strategy.NO_SPACE && heldBytes != BY_LITTLE && heldBytes < arenas.totals.heldBytes()) {
                    return OTHERS_GREW;
                }
                if (address == Strategy.NO_SPACE) {
                    address = takeAndPlace(sizeBytes, alignmentBytes, heldBytes == BY_LITTLE);
                }
            }
            return address == Segment.NEEDS_MEMORY ? Strategy.NO_SPACE : address;
        } finally {
            regionLock.unlock();
        }
    }

    /** Places a request in memory that is gathered for it, if there is enough, the source can, and no stream is captured. */
    public long gatherAndPlace(final long sizeBytes, final long alignmentBytes) {
        if (inPlace == null) {
            return Strategy.NO_SPACE;
        }
        StackReserve.claimMore();
        regionLock.lock();
        try {
            return ended ? Strategy.NO_SPACE : inPlace.gatherAndPlace(sizeBytes, alignmentBytes);
        } finally {
            regionLock.unlock();
        }
    }

    /** How much is free that could move to where a request needs it; negative if memory doesn't, or that can't be told now. */
    public long movableBytes() {
        StackReserve.claimMore();
        if (inPlace == null || !regionLock.tryLock()) {
            // Whoever has it may wait for the device.
            return -1;
        }
        try {
            return ended ? -1 : inPlace.movableBytes();
        } finally {
            regionLock.unlock();
        }
    }

    /** Extends a block of the region that grows in place, which grows for it if limit and device allow; false if they don't. */
    public boolean growAndExtend(final long address, final long newSizeBytes) {
        StackReserve.claimMore();
        regionLock.lock();
        try {
            return inPlace != null && inPlace.commitAndExtend(address, newSizeBytes);
        } finally {
            regionLock.unlock();
        }
    }

    /** Gives memory back in which nothing is in use until no more than so much is held, or a stream is captured. */
    public void trimTo(final long bytes, final BooleanSupplier isCapturing) {
        StackReserve.claimMore();
        regionLock.lock();
        try {
            // Asked now: to get the lock may have taken long.
            while (arenas.totals.heldBytes() > bytes && !isCapturing.getAsBoolean()) {
                final Segment empty = removeEmpty();
                if (empty == null) {
                    break;
                }
                giveBack(empty);
            }
            if (inPlace != null && arenas.totals.heldBytes() > bytes && !isCapturing.getAsBoolean()) {
                inPlace.giveBack(arenas.totals.heldBytes() - bytes);
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
    public void end() {
        StackReserve.claimMore();
        regionLock.lock();
        try {
            ended = true;
            final Segment[] all = main.parts.all();
            final Failures failures = new Failures();
            if (inPlace != null) {
                inPlace.end();
            }
            failures.attempt(() -> {
                arenas.whole.lock();
                try {
                    arenas.whole.clear();
                } finally {
                    arenas.whole.unlock();
                }
            });
            for (final Segment region : all) {
                failures.attempt(() -> maker.giveBack(region));
            }
            failures.rethrow();
        } finally {
            regionLock.unlock();
        }
    }

    /** What is held, up to the last memory. The main arena's lock is held. */
    public List<Region> held() {
        return Arrays.stream(main.parts.all())
                .filter(region -> region.heldBytes > 0)
                .map(region -> new Region(region.taken.address(), region.memoryEnd() - region.taken.address()))
                .toList();
    }

    // Under the region lock

    /** As {@link #growAndPlace}, by a whole region. */
    private long takeAndPlace(final long sizeBytes, final long alignmentBytes, final boolean modestly) {
        final long heldBytes = arenas.totals.heldBytes();
        final Segment taken = maker.take(
                maker.leastBytesFor(sizeBytes, alignmentBytes),
                heldBytes == 0 ? firstRegionBytes : modestly ? heldBytes / MODEST_SHARE : heldBytes,
                limitBytes - heldBytes);
        return taken == null ? Strategy.NO_SPACE : placeInNew(taken, sizeBytes, alignmentBytes);
    }

    /** Places a request before anyone else sees the region. */
    private long placeInNew(final Segment region, final long sizeBytes, final long alignmentBytes) {
        long address = Strategy.NO_SPACE;
        try {
            main.lock();
            try {
                address = main.placeIn(region, sizeBytes, alignmentBytes);
                if (address != Strategy.NO_SPACE) {
                    main.parts.add(region);
                    arenas.held(region.heldBytes);
                }
            } finally {
                main.taken = false;
            }
        } finally {
            if (address == Strategy.NO_SPACE) {
                // An alignment that the strategy can't be sure of, or a table that is too small.
                giveBack(region);
            }
        }
        return address;
    }

    /** The whole one taken last, since it is the largest as a rule; null if something is in use in each. */
    private @Nullable Segment removeEmpty() {
        main.lock();
        try {
            final Segment[] all = main.parts.all();
            for (int i = all.length - 1; i >= 0; i--) {
                final Segment region = all[i];
                if (region.growable == null && region.isEmpty()) {
                    main.parts.remove(region);
                    arenas.held(-region.heldBytes);
                    return region;
                }
            }
            return null;
        } finally {
            main.taken = false;
        }
    }

    private void giveBack(final Segment region) {
        try {
            maker.giveBack(region);
        } catch (final RuntimeException e) {
            // It is still out, and empty.
            main.lock();
            try {
                main.parts.add(region);
                arenas.held(region.heldBytes);
            } finally {
                main.taken = false;
            }
            throw e;
        }
    }
}
