package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.ArenaTotals;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.guard.Failures;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How the arenas of a pool come to more memory, and give it back: in place where the source can, see {@link GrowthInPlace}, and by whole
 * regions else, or if addresses run out.
 *
 * <p>The region lock guards growing and giving back, and is held while the memory source works; an arena's lock, which
 * guards its segments, is held for tens of nanoseconds. The region lock is never taken while an arena's is held.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Growth {

    /** By such a part of what it holds, or more, a pool grows whose device is busy: it will need more before that has finished. */
    private static final long BUSY_SHARE = 8;

    /** An arena that isn't the first begins with such a part of its share of the slack. */
    private static final long FIRST_SHARE = 4;

    /** A whole region of an arena that isn't the first has this at least, in bytes: each is a call of the driver, and is kept whole. */
    private static final long LEAST_REGION_BYTES = 32L << 20;

    private final RegionMaker maker;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final Arenas arenas;
    private final ArenaTotals totals;
    private final @Nullable GrowthInPlace inPlace;
    private final ReentrantLock regionLock = new ReentrantLock();
    private boolean ended;

    public Growth(final GrowthPlan plan, final Arenas arenas, final RegionMaker maker, final PoolEvents events) {
        firstRegionBytes = plan.firstBytes();
        limitBytes = plan.limitBytes();
        this.maker = maker;
        this.arenas = arenas;
        totals = arenas.totals;
        inPlace = plan.inPlace() ? new GrowthInPlace(plan, arenas, maker, events) : null;
    }

    /** What the device said when it refused memory the last time, for whichever request; null if it never did. */
    public @Nullable DeviceOutOfMemoryException refusal() {
        return maker.refusal();
    }

    /** What the pool can hold at most, in bytes: the limit, or what the device had when the pool first grew. */
    public long mostBytes() {
        return Math.min(limitBytes, maker.deviceBytes());
    }

    /**
     * Grows in place or takes another region, if limit and device allow what serves the request, and places it there.
     *
     * @param mostHeldBytes the pool is to hold no more than that, in bytes
     * @param busy whether the device is busy: then the pool grows by more, since it will need that
     * @return an address, or {@code NO_SPACE}
     */
    public long growAndPlace(
            final Arena arena,
            final long sizeBytes,
            final long alignmentBytes,
            final long mostHeldBytes,
            final boolean busy) {
        regionLock.lock();
        try {
            // Another thread may have grown the arena while this one waited to do so.
            final long address = arena.placeAgain(sizeBytes, alignmentBytes);
            return address >= 0 || ended ? address : grow(arena, sizeBytes, alignmentBytes, mostHeldBytes, busy);
        } finally {
            regionLock.unlock();
        }
    }

    private long grow(
            final Arena arena,
            final long sizeBytes,
            final long alignmentBytes,
            final long mostHeldBytes,
            final boolean busy) {
        final long mostBytes = mostHeldBytes >= limitBytes ? limitBytes : mostHeldBytes & -RegionMaker.UNIT_BYTES;
        final long busyBytes = busy ? totals.heldBytes() / BUSY_SHARE : 0;
        long address = Strategy.NO_SPACE;
        if (inPlace != null) {
            address = inPlace.commitAndPlace(arena, sizeBytes, alignmentBytes, mostBytes, firstBytes(arena), busyBytes);
        }
        if (address == Strategy.NO_SPACE) {
            address = takeAndPlace(arena, sizeBytes, alignmentBytes, mostBytes);
        }
        if (address < 0 && arena.makeDo()) {
            address = arena.placeAgain(sizeBytes, alignmentBytes);
        }
        return Math.max(address, Strategy.NO_SPACE);
    }

    /** What an arena begins with, and grows by in place at least. */
    private long firstBytes(final Arena arena) {
        if (arena.segments().length > 1) {
            return 0;
        }
        return arena.number == 0
                ? firstRegionBytes
                : Math.min(firstRegionBytes, arenas.slackBytes() / arenas.count() / FIRST_SHARE);
    }

    /**
     * As {@link #growAndPlace}, with what is free in other arenas' segments and goes back for it, no more than is missing. While a stream is
     * captured nothing goes back.
     */
    public long growInsteadOfOthers(
            final Arena arena,
            final long sizeBytes,
            final long alignmentBytes,
            final long mostHeldBytes,
            final BooleanSupplier isCapturing) {
        regionLock.lock();
        try {
            final long mostBytes = Math.min(limitBytes, mostHeldBytes);
            final long leastBytes = maker.leastBytesFor(sizeBytes, alignmentBytes);
            if (ended || leastBytes > mostBytes || isCapturing.getAsBoolean()) {
                return Strategy.NO_SPACE;
            }
            final long missingBytes = totals.heldBytes() - mostBytes + leastBytes + RegionMaker.UNIT_BYTES;
            if (missingBytes > 0) {
                giveBackOthers(arena, missingBytes);
            }
            return grow(arena, sizeBytes, alignmentBytes, mostBytes, false);
        } finally {
            regionLock.unlock();
        }
    }

    private void giveBackOthers(final Arena arena, final long bytes) {
        final long keptBytes = totals.heldBytes() - bytes;
        for (Segment empty = removeEmpty(arena);
                empty != null;
                empty = totals.heldBytes() > keptBytes ? removeEmpty(arena) : null) {
            giveBack(empty);
        }
        if (inPlace != null && totals.heldBytes() > keptBytes) {
            inPlace.giveBack(totals.heldBytes() - keptBytes, arena);
        }
    }

    /**
     * Places a request for which there is no more memory to be had, in what is free in others' segments, or lies scattered: whole regions
     * that are empty go back, and pieces of memory that are free move to where the request needs them, if the source can, and no
     * stream is captured.
     */
    public long compactAndPlace(
            final Arena arena, final long sizeBytes, final long alignmentBytes, final BooleanSupplier isCapturing) {
        regionLock.lock();
        try {
            if (ended) {
                return Strategy.NO_SPACE;
            }
            long address =
                    inPlace == null ? Strategy.NO_SPACE : inPlace.compactAndPlace(arena, sizeBytes, alignmentBytes);
            if (address < 0
                    && lacksMemory(sizeBytes, alignmentBytes)
                    && !isCapturing.getAsBoolean()
                    && giveBackAllBut(arena)) {
                address = grow(arena, sizeBytes, alignmentBytes, limitBytes, false);
                if (address < 0 && inPlace != null) {
                    address = inPlace.compactAndPlace(arena, sizeBytes, alignmentBytes);
                }
            }
            return Math.max(address, Strategy.NO_SPACE);
        } finally {
            regionLock.unlock();
        }
    }

    /** Else it doesn't help to give any back. */
    private boolean lacksMemory(final long sizeBytes, final long alignmentBytes) {
        return maker.leastBytesFor(sizeBytes, alignmentBytes)
                > Math.min(limitBytes - totals.heldBytes(), maker.availableBytes());
    }

    /** All that is free in whole regions, and in those of other arenas that grow in place. True if that was something. */
    private boolean giveBackAllBut(final Arena arena) {
        final long before = totals.heldBytes();
        for (Segment empty = removeEmpty(null); empty != null; empty = removeEmpty(null)) {
            giveBack(empty);
        }
        if (inPlace != null) {
            inPlace.giveBack(Long.MAX_VALUE, arena);
        }
        return totals.heldBytes() < before;
    }

    /** How much is free that could move to where a request needs it; negative if memory doesn't, or that can't be told now. */
    public long movableBytes() {
        if (inPlace == null || !regionLock.tryLock()) {
            // Whoever has it may be with the memory source.
            return -1;
        }
        try {
            return ended ? -1 : inPlace.movableBytes();
        } finally {
            regionLock.unlock();
        }
    }

    /** Extends a block of a segment that grows in place, which grows for it if limit and device allow; false if they don't. */
    public boolean growAndExtend(final Segment segment, final long address, final long newSizeBytes) {
        regionLock.lock();
        try {
            return inPlace != null && inPlace.commitAndExtend(segment, address, newSizeBytes);
        } finally {
            regionLock.unlock();
        }
    }

    /** Gives memory back in which nothing is in use until no more than so much is held, or a stream is captured. */
    public void trimTo(final long bytes, final BooleanSupplier isCapturing) {
        regionLock.lock();
        try {
            // Asked now: to get the lock may have taken long.
            while (totals.heldBytes() > bytes && !isCapturing.getAsBoolean()) {
                final Segment empty = removeEmpty(null);
                if (empty == null) {
                    break;
                }
                giveBack(empty);
            }
            if (inPlace != null && totals.heldBytes() > bytes && !isCapturing.getAsBoolean()) {
                inPlace.giveBack(totals.heldBytes() - bytes, null);
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
        regionLock.lock();
        try {
            ended = true;
            final Segment[] all = arenas.segments();
            final Failures failures = new Failures();
            if (inPlace != null) {
                inPlace.end();
            }
            failures.attempt(() -> {
                arenas.whole.lockAnyway();
                try {
                    arenas.whole.clear();
                } finally {
                    arenas.whole.unlock();
                }
            });
            for (final Segment segment : all) {
                failures.attempt(() -> maker.giveBack(segment));
            }
            failures.rethrow();
        } finally {
            regionLock.unlock();
        }
    }

    /** What is held, up to the last memory. All arenas' locks are held. */
    public List<Region> held() {
        return Arrays.stream(arenas.segments())
                .filter(segment -> segment.heldBytes > 0)
                .map(segment -> new Region(segment.taken.address(), segment.memoryEnd() - segment.taken.address()))
                .toList();
    }

    // Under the region lock

    /** As {@link #growAndPlace}, by a whole region. */
    private long takeAndPlace(
            final Arena arena, final long sizeBytes, final long alignmentBytes, final long mostHeldBytes) {
        final long heldBytes = totals.heldBytes();
        final Segment taken = maker.take(
                arena,
                maker.leastBytesFor(sizeBytes, alignmentBytes),
                goodBytes(arena, heldBytes),
                mostHeldBytes - heldBytes);
        return taken == null ? Strategy.NO_SPACE : placeInNew(taken, sizeBytes, alignmentBytes);
    }

    /** As much as there is, so that regions stay few. */
    private long goodBytes(final Arena arena, final long heldBytes) {
        if (arena.number == 0) {
            return heldBytes == 0 ? firstRegionBytes : heldBytes;
        }
        final long ownBytes = Arrays.stream(arena.segments())
                .mapToLong(segment -> segment.heldBytes)
                .sum();
        return Math.max(ownBytes, Math.min(firstRegionBytes, LEAST_REGION_BYTES));
    }

    /** Places a request before anyone else sees the region. */
    private long placeInNew(final Segment segment, final long sizeBytes, final long alignmentBytes) {
        final Arena arena = segment.owner;
        long address = Strategy.NO_SPACE;
        boolean added = false;
        try {
            arena.lock();
            try {
                address = arena.placeIn(segment, sizeBytes, alignmentBytes);
                if (address >= 0) {
                    add(segment);
                    added = true;
                }
            } finally {
                arena.taken = false;
            }
        } finally {
            if (!added) {
                // An alignment that the strategy can't be sure of, a table that is too small, or a host without memory.
                giveBack(segment);
            }
        }
        return address;
    }

    /** The arena's lock is held. */
    private void add(final Segment segment) {
        segment.owner.add(segment);
        totals.held(segment.heldBytes);
    }

    /** The whole one taken last, since it is the largest as a rule, of no arena but one; null if something is in use in each. */
    private @Nullable Segment removeEmpty(final @Nullable Arena but) {
        final List<Segment> all = new ArrayList<>();
        for (final Arena arena : arenas.all()) {
            all.addAll(0, Arrays.asList(arena.segments()));
        }
        for (int i = all.size() - 1; i >= 0; i--) {
            final Segment segment = all.get(i);
            if (segment.growable == null && segment.owner != but && removeIfEmpty(segment)) {
                return segment;
            }
        }
        return null;
    }

    private boolean removeIfEmpty(final Segment segment) {
        segment.owner.lock();
        try {
            if (!segment.isEmpty()) {
                return false;
            }
            segment.owner.remove(segment);
            totals.held(-segment.heldBytes);
            return true;
        } finally {
            segment.owner.taken = false;
        }
    }

    private void giveBack(final Segment segment) {
        boolean gone = false;
        try {
            maker.giveBack(segment);
            gone = true;
        } finally {
            if (!gone) {
                // It is still out, and empty.
                segment.owner.lock();
                try {
                    add(segment);
                } finally {
                    segment.owner.taken = false;
                }
            }
        }
    }
}
