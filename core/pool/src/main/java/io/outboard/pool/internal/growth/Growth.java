package io.outboard.pool.internal.growth;

import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.guard.Failures;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Growth takes memory for the arenas of a pool, and gives it back: in place where the source can, see {@link
 * GrowingRegion}; by whole {@link Regions} elsewhere, and when addresses run out.
 *
 * <p>The region lock guards growing and giving back, and is held while the memory source works. An arena's lock, which
 * guards its segments, is held for tens of nanoseconds. No thread takes the region lock while it holds an arena's.
 */
public final class Growth {

    /**
     * While the device is busy an arena grows by this share of what it holds, or more: it will need more before the
     * device has finished.
     */
    private static final long BUSY_SHARE = 4;

    /** Within its share of the slack an arena grows by this part of that share at most. */
    private static final long SLACK_STEPS = 4;

    /**
     * The step, in bytes, by which an arena grows that holds little, or takes memory over from others: a caller waits
     * for the step.
     */
    static final long SHORT_STEP = 32L << 20;

    /** No step has more bytes unless the request needs them: a caller waits for it, and others for the region lock. */
    private static final long MOST_STEP = 256L << 20;

    /**
     * No step ahead of need is larger than this share of what limit and device still allow, without what is left to
     * others.
     */
    private static final long SCARCE_SHARE = 8;

    /** The number of requests served by other arenas after which memory moves from arena to arena once. */
    private static final int STARVED_FOR_SHARE = 64;

    final Regions regions;
    final Arenas arenas;

    /**
     * Makes sure that nothing works on free memory, which may wait for the device; false if that can't be done now, and
     * then nothing moves.
     */
    final BooleanSupplier freeIsIdle;

    private final BooleanSupplier isCapturing;
    private final ReentrantLock regionLock = new ReentrantLock();

    /** True if the pool wants no more regions in place, or the source or the host has no addresses for more. */
    private boolean isExhausted;

    private boolean ended;

    /**
     * Makes the growth of a pool that holds nothing yet.
     *
     * @param isCapturing whether a stream is captured: then nothing goes back
     */
    public Growth(
            final Regions regions,
            final boolean inPlace,
            final BooleanSupplier isCapturing,
            final BooleanSupplier freeIsIdle) {
        this.regions = regions;
        this.isCapturing = isCapturing;
        this.freeIsIdle = freeIsIdle;
        arenas = regions.arenas;
        isExhausted = !inPlace || !regions.provider.placesLow();
    }

    /**
     * Returns the step by which an arena grows within the slack: what it holds, or 32 MiB if that is more, but a part
     * of its share at most.
     */
    public long slackStepBytes(final Arena arena) {
        final long shareBytes = arenas.slackBytes() / arenas.count();
        return Math.min(Math.min(shareBytes / SLACK_STEPS, MOST_STEP), Math.max(SHORT_STEP, arena.heldBytes()));
    }

    /**
     * Returns the step by which an arena grows while the device is busy: at least a quarter of what it holds, as far as
     * a step may be.
     */
    public long busyStepBytes(final Arena arena) {
        return Math.max(slackStepBytes(arena), Math.min(arena.heldBytes() / BUSY_SHARE, MOST_STEP));
    }

    /**
     * Grows in place or takes another region, if limit and device allow what serves the request, and places it there.
     *
     * @param mostHeldBytes the pool is to hold no more than that, in bytes
     * @param stepBytes what to grow by, if that is allowed; 0 if no more is needed than that
     * @return an address, or {@code NO_SPACE}
     */
    public long growAndPlace(
            final Arena arena,
            final long sizeBytes,
            final long alignmentBytes,
            final long mostHeldBytes,
            final long stepBytes) {
        regionLock.lock();
        try {
            // Another thread may have grown the arena while this one waited for the lock.
            final long address = arena.placeAgain(sizeBytes, alignmentBytes);
            return address >= 0 || ended ? address : grow(arena, sizeBytes, alignmentBytes, mostHeldBytes, stepBytes);
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * Does what {@link #growAndPlace} does with memory that is free in other arenas' segments, and goes back to the
     * source first.
     */
    public long growInsteadOfOthers(
            final Arena arena, final long sizeBytes, final long alignmentBytes, final long mostHeldBytes) {
        regionLock.lock();
        try {
            final long mostBytes = Math.min(regions.limitBytes, mostHeldBytes);
            final long leastBytes = regions.leastBytesFor(sizeBytes, alignmentBytes);
            if (ended || leastBytes > mostBytes || isCapturing.getAsBoolean()) {
                return Strategy.NO_SPACE;
            }
            giveBack(mostBytes - leastBytes - Regions.UNIT_BYTES, 0, arena, arena);
            return grow(arena, sizeBytes, alignmentBytes, mostBytes, 0);
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * Moves some memory to an arena that has less than its share, now and then, after another arena has served its
     * request; the memory comes from arenas that have more. Not while another thread grows the pool, since no request
     * needs it now.
     */
    public void takeShare(final Arena arena) {
        final long shareBytes = arenas.totals.heldBytes() / arenas.count();
        final long stepBytes = Math.min(shareBytes - arena.heldBytes(), SHORT_STEP) & -Regions.UNIT_BYTES;
        if (stepBytes <= 0 || arena.starve() % STARVED_FOR_SHARE != 0 || !regionLock.tryLock()) {
            return;
        }
        try {
            final GrowingRegion region = ended || isCapturing.getAsBoolean() ? null : regionOf(arena);
            if (region != null) {
                final long heldBytes = arenas.totals.heldBytes();
                giveBack(heldBytes - stepBytes, shareBytes, arena, arena);
                region.grow(stepBytes, heldBytes);
            }
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * Takes the next step of arenas that have little left, so that fewer requests wait for the source. Takes nothing of
     * what is scarce, and nothing while a stream is captured. If the source fails, a request that needs memory learns
     * why.
     *
     * @param mostHeldBytes the pool is to hold no more bytes than this
     * @param leftBytes how many bytes are for others on the device
     */
    public void growAhead(final long mostHeldBytes, final long leftBytes) {
        for (final Arena arena : arenas.all()) {
            regionLock.lock();
            try {
                final long stepBytes = slackStepBytes(arena);
                // The last two may be questions to the driver.
                if (arena.wantsStep(stepBytes)
                        && !ended
                        && arenas.totals.heldBytes() + stepBytes <= mostHeldBytes
                        && !isCapturing.getAsBoolean()
                        && stepBytes <= (regions.unusedBytes() - leftBytes) / SCARCE_SHARE) {
                    final GrowingRegion region = regionOf(arena);
                    if (region != null) {
                        region.grow(stepBytes, regions.limitBytes);
                    }
                }
            } catch (final RuntimeException | OutOfMemoryError ignored) {
                // The next request that needs memory learns why.
            } finally {
                regionLock.unlock();
            }
        }
    }

    /**
     * Places a request for which no more memory can be had, in memory that is free in other segments or lies scattered.
     * Empty whole regions go back, and free pieces of memory move to where the request needs them, if the source can
     * and no stream is captured.
     */
    public long compactAndPlace(final Arena arena, final long sizeBytes, final long alignmentBytes) {
        regionLock.lock();
        try {
            if (ended) {
                return Strategy.NO_SPACE;
            }
            long address = compact(arena, sizeBytes, alignmentBytes);
            final long leastBytes = regions.leastBytesFor(sizeBytes, alignmentBytes);
            // To give memory back helps only if memory is missing, and not too much of it.
            if (address < 0
                    && leastBytes > regions.unusedBytes()
                    && leastBytes <= regions.unusedBytes() + arenas.totals.heldBytes() - arenas.totals.usedBytes()
                    && giveBack(0, 0, null, arena)) {
                address = grow(arena, sizeBytes, alignmentBytes, regions.limitBytes, 0);
                address = address < 0 ? compact(arena, sizeBytes, alignmentBytes) : address;
            }
            if (address < 0 && isTooMuchInPlace(arena, leastBytes) && arenas.totals.usedBytes() == 0) {
                giveBack(0, 0, null, null);
                address = regions.takeAndPlace(arena, sizeBytes, alignmentBytes, regions.limitBytes);
            }
            return address;
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * Returns whether a request fits no region in place, but perhaps a whole one, which may have more addresses and may
     * have what the limit allows beyond the last whole unit.
     */
    private boolean isTooMuchInPlace(final Arena arena, final long leastBytes) {
        final long addressBytes = Arrays.stream(arena.segments())
                .filter(segment -> segment.growable != null)
                .mapToLong(segment -> segment.taken.sizeBytes())
                .max()
                .orElse(Long.MAX_VALUE);
        return leastBytes > Math.min(addressBytes, regions.limitBytes & -Regions.UNIT_BYTES)
                && leastBytes <= regions.mostBytes() + 2 * regions.options.granuleBytes();
    }

    /**
     * Returns the bytes that are free and could move to where a request needs them; negative if memory doesn't move, or
     * that can't be told now.
     */
    public long movableBytes() {
        if (!regionLock.tryLock()) {
            // The thread that has it may be with the memory source.
            return -1;
        }
        try {
            return Arrays.stream(arenas.segments())
                    .filter(segment -> segment.growable != null)
                    .map(segment -> new GrowingRegion(segment, this))
                    .filter(region -> region.moves)
                    .mapToLong(region -> new Compaction(region).movableBytes())
                    .reduce(Long::sum)
                    .orElse(-1);
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * Extends a block of a segment that grows in place, which grows for it; returns false if limit or device don't
     * allow that.
     */
    public boolean growAndExtend(final Segment segment, final long address, final long newSizeBytes) {
        regionLock.lock();
        try {
            return !ended
                    && segment.growable != null
                    && new GrowingRegion(segment, this).extend(address, newSizeBytes, firstBytes(segment.owner));
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * Gives memory back in which nothing is in use, until no more than {@code bytes} are held or a stream is captured.
     */
    public void trimTo(final long bytes) {
        regionLock.lock();
        try {
            giveBack(bytes, 0, null, null);
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
            failures.attempt(() -> arenas.whileLockedAnyway(arenas::clear));
            for (final Segment segment : all) {
                failures.attempt(() -> regions.giveToSource(segment));
            }
            failures.rethrow();
        } finally {
            regionLock.unlock();
        }
    }

    // Under the region lock: more memory

    private long grow(
            final Arena arena,
            final long sizeBytes,
            final long alignmentBytes,
            final long mostHeldBytes,
            final long stepBytes) {
        final long mostBytes =
                mostHeldBytes >= regions.limitBytes ? regions.limitBytes : mostHeldBytes & -Regions.UNIT_BYTES;
        final long firstBytes = firstBytes(arena);
        final GrowingRegion region = regionOf(arena);
        long address = region == null
                ? Strategy.NO_SPACE
                : region.growAndPlace(sizeBytes, alignmentBytes, mostBytes, firstBytes, stepBytes);
        if (address == Strategy.NO_SPACE) {
            address = regions.takeAndPlace(arena, sizeBytes, alignmentBytes, mostBytes);
        }
        if (address < 0 && mostBytes == regions.limitBytes && arena.makeDo()) {
            address = arena.placeAgain(sizeBytes, alignmentBytes);
        }
        return Math.max(address, Strategy.NO_SPACE);
    }

    /** Returns what an arena begins with, and grows by in place at least. */
    private long firstBytes(final Arena arena) {
        final long bytes = arena.number == 0
                ? regions.firstRegionBytes
                : Math.min(regions.firstRegionBytes, slackStepBytes(arena));
        return arena.segments().length > 1 ? 0 : bytes;
    }

    private long compact(final Arena arena, final long sizeBytes, final long alignmentBytes) {
        final GrowingRegion region = regionOf(arena);
        return region == null ? Strategy.NO_SPACE : region.compactAndPlace(sizeBytes, alignmentBytes);
    }

    /**
     * Returns the region in place that an arena grows, a new one when the tables of the last have many blocks; null if
     * it can't have one.
     */
    private @Nullable GrowingRegion regionOf(final Arena arena) {
        Segment last = null;
        for (final Segment segment : arena.segments()) {
            last = segment.growable == null ? last : segment;
        }
        if (!isExhausted && (last == null ? arena.segments().length == 0 : last.crowded)) {
            final Segment more = regions.reserve(arena);
            isExhausted = more == null;
            if (more != null) {
                try {
                    regions.add(more);
                } catch (final Throwable e) {
                    regions.giveToSource(more);
                    throw e;
                }
                last = more;
            }
        }
        return last == null ? null : new GrowingRegion(last, this);
    }

    // Under the region lock: less memory

    /**
     * Gives free memory back until no more than {@code keptBytes} are held, or a stream is captured. Whole regions go
     * first, of all arenas but one; then memory of regions in place, of all arenas but another. With a share that
     * arenas keep, no whole region goes, and nothing of an arena that has no more.
     *
     * @return whether any memory went back
     */
    private boolean giveBack(
            final long keptBytes, final long shareBytes, final @Nullable Arena butWhole, final @Nullable Arena but) {
        final long before = arenas.totals.heldBytes();
        for (final Arena arena : arenas.all()) {
            final Segment[] own = arena.segments();
            // The region taken last is the largest as a rule. A capture may have begun, since to give one back may have
            // taken long.
            for (int i = own.length - 1; i >= 0 && shareBytes == 0 && arena != butWhole; i--) {
                if (own[i].growable == null
                        && own[i].isEmpty()
                        && arenas.totals.heldBytes() > keptBytes
                        && !isCapturing.getAsBoolean()
                        && regions.removeIfEmpty(own[i])) {
                    regions.giveBack(own[i]);
                }
            }
        }
        // The arenas that were made last come first, since the pool's first region has addresses for most holes.
        final Arena[] all = arenas.all();
        for (int a = all.length - 1; a >= 0; a--) {
            final Segment[] own = all[a].segments();
            for (int i = own.length - 1; i >= 0 && all[a] != but; i--) {
                final long moreBytes = Math.min(arenas.totals.heldBytes() - keptBytes, all[a].heldBytes() - shareBytes);
                if (own[i].growable != null && moreBytes > 0 && !isCapturing.getAsBoolean()) {
                    new Compaction(new GrowingRegion(own[i], this)).trim(moreBytes);
                }
            }
        }
        return arenas.totals.heldBytes() < before;
    }
}
