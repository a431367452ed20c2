package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.guard.Failures;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How the arenas of a pool come to more memory, and give it back: in place where the source can, see {@link GrowingRegion}, and by whole
 * regions else, or if addresses run out.
 *
 * <p>The region lock guards growing and giving back, and is held while the memory source works; an arena's lock, which
 * guards its segments, is held for tens of nanoseconds. The region lock is never taken while an arena's is held.
 *
 * <p>What can't be divided, since the host has no memory for the strategy's tables, goes back to the source at once.
 */
public final class Growth {

    /** By such a part of what it holds, or more, an arena grows while the device is busy: it will need more before that has finished. */
    private static final long BUSY_SHARE = 4;

    /** Within its share of the slack an arena grows by such a part of that at most. */
    private static final long SLACK_STEPS = 4;

    /** A whole region of an arena that isn't the first has this at least, in bytes: each is a call of the driver, and is kept whole. */
    private static final long LEAST_REGION_BYTES = 32L << 20;

    /** What an arena that holds little, or takes memory over from others, grows by at a time: a caller waits for it. */
    static final long SHORT_STEP = 32L << 20;

    /** No step has more, unless the request needs it: a caller waits for it, and others for the region lock. */
    private static final long MOST_STEP = 256L << 20;

    /** No step is taken ahead of need that is a larger part of what limit and device still allow, without what is left to others. */
    private static final long SCARCE_SHARE = 8;

    /** So many requests are served by others in the time in which memory moves from arena to arena. */
    private static final int STARVED_FOR_SHARE = 64;

    /** Regions are multiples of this, which is what the driver maps device memory by. */
    private static final long UNIT_BYTES = 1L << 21;

    /** Most addresses of a region whose memory doesn't move, so that tables which have a bit for each granule take 32 MiB of the host. */
    private static final long MOST_UNMOVED_BYTES = 1L << 36;

    /** A region that isn't the first has so many times as many addresses as there is memory. */
    private static final long ADDRESSES_OF_OTHERS = 2;

    /** Small tables hold so many blocks before they grow. */
    private static final int SMALL_TABLES = 1 << 13;

    /** They grow to what holds so many in use, and as many free ones, in steps of a millisecond and less; then there is another region. */
    private static final int MOST_BLOCKS_OF_SMALL_TABLES = 1 << 15;

    /** Half of what other tables hold before they grow, which takes 6 ms. */
    private static final int MOST_BLOCKS_OF_TABLES = 1 << 17;

    /** What every memory source aligns regions to. */
    private static final long SOURCE_ALIGNMENT_BYTES = 256;

    final long limitBytes;
    final StrategyProvider provider;

    /** Makes sure that nothing works on free memory, which may wait for the device; false if that can't be done now: nothing moves. */
    final BooleanSupplier freeIsIdle;

    final Arenas arenas;
    final PoolEvents events;
    private final MemorySource source;
    private final StrategyOptions options;
    private final long firstRegionBytes;
    private final BooleanSupplier isCapturing;
    private final ReentrantLock regionLock = new ReentrantLock();

    /** What the device said when it refused memory the last time, null if it never did; written under the region lock. */
    public volatile @Nullable DeviceOutOfMemoryException refusal;

    private volatile long deviceBytes = -1;

    /** Nobody wants more regions in place, or the source, or the host, has no addresses for more. */
    private boolean isExhausted;

    private boolean ended;

    /**
     * Growth of a pool that holds nothing yet.
     *
     * @param isCapturing whether a stream is captured: then nothing goes back
     */
    public Growth(
            final MemorySource source,
            final StrategyProvider provider,
            final StrategyOptions options,
            final long limitBytes,
            final long firstRegionBytes,
            final boolean inPlace,
            final BooleanSupplier isCapturing,
            final BooleanSupplier freeIsIdle,
            final Arenas arenas,
            final PoolEvents events) {
        this.source = source;
        this.provider = provider;
        this.options = options;
        this.limitBytes = limitBytes;
        this.firstRegionBytes = firstRegionBytes;
        this.isCapturing = isCapturing;
        this.freeIsIdle = freeIsIdle;
        this.arenas = arenas;
        this.events = events;
        isExhausted = !inPlace || !provider.placesLow();
    }

    /** What the pool can hold at most, in bytes: the limit, or what the device had when that was first asked. */
    public long mostBytes() {
        if (deviceBytes < 0) {
            deviceBytes = source.availableBytes();
        }
        return Math.min(limitBytes, deviceBytes);
    }

    /** What limit and device still allow, in bytes. */
    long unusedBytes() {
        return Math.max(0, Math.min(limitBytes - arenas.totals.heldBytes(), source.availableBytes()));
    }

    /** Whether the device says that it has so much; else that is a refusal. To ask costs as much as a small piece. */
    boolean isAvailable(final long bytes) {
        final long availableBytes = source.availableBytes();
        if (bytes > availableBytes) {
            refusal = DeviceOutOfMemoryException.ofDevice(bytes, availableBytes, source.scarcity());
        }
        return bytes <= availableBytes;
    }

    /** The least region that is sure to serve a request, wherever the source takes it. */
    long leastBytesFor(final long sizeBytes, final long alignmentBytes) {
        final long granuleBytes = options.granuleBytes();
        final long usedBytes = provider.regionBytesFor(
                sizeBytes, alignmentBytes <= SOURCE_ALIGNMENT_BYTES ? 1 : alignmentBytes, options);
        final long paddingBytes = granuleBytes > SOURCE_ALIGNMENT_BYTES ? granuleBytes : 0;
        return usedBytes > Long.MAX_VALUE - paddingBytes ? Long.MAX_VALUE : usedBytes + paddingBytes;
    }

    /** What an arena had better grow by within the slack: what it holds, or 32 MiB if that is more, but a part of its share at most. */
    public long slackStepBytes(final Arena arena) {
        final long shareBytes = arenas.slackBytes() / arenas.count();
        return Math.min(Math.min(shareBytes / SLACK_STEPS, MOST_STEP), Math.max(SHORT_STEP, arena.heldBytes()));
    }

    /** What an arena had better grow by while the device is busy: at least a quarter of what it holds, so far as a step may be. */
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
            // Another thread may have grown the arena while this one waited to do so.
            final long address = arena.placeAgain(sizeBytes, alignmentBytes);
            return address >= 0 || ended ? address : grow(arena, sizeBytes, alignmentBytes, mostHeldBytes, stepBytes);
        } finally {
            regionLock.unlock();
        }
    }

    /** As {@link #growAndPlace}, with what is free in other arenas' segments and goes back for it. */
    public long growInsteadOfOthers(
            final Arena arena, final long sizeBytes, final long alignmentBytes, final long mostHeldBytes) {
        regionLock.lock();
        try {
            final long mostBytes = Math.min(limitBytes, mostHeldBytes);
            final long leastBytes = leastBytesFor(sizeBytes, alignmentBytes);
            if (ended || leastBytes > mostBytes || isCapturing.getAsBoolean()) {
                return Strategy.NO_SPACE;
            }
            giveBack(mostBytes - leastBytes - UNIT_BYTES, 0, arena, arena);
            return grow(arena, sizeBytes, alignmentBytes, mostBytes, 0);
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * A request of an arena was served by another: if it has less than its share, some memory moves there for later ones, now and then, of what
     * is free in arenas that have more. Not while another thread grows the pool, since nobody needs it now.
     */
    public void takeShare(final Arena arena) {
        final long shareBytes = arenas.totals.heldBytes() / arenas.count();
        final long stepBytes = Math.min(shareBytes - arena.heldBytes(), SHORT_STEP) & -UNIT_BYTES;
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
     * Takes the next step of arenas that have little left, so that fewer requests wait for the source: nothing of what is scarce, or while a
     * stream is captured. If the source fails, who needs memory learns why.
     *
     * @param mostHeldBytes no more is to be held, in bytes
     * @param leftBytes so much is for others on the device
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
                        && stepBytes <= (unusedBytes() - leftBytes) / SCARCE_SHARE) {
                    final GrowingRegion region = regionOf(arena);
                    if (region != null) {
                        region.grow(stepBytes, limitBytes);
                    }
                }
            } catch (final RuntimeException | OutOfMemoryError ignored) {
                // See above.
            } finally {
                regionLock.unlock();
            }
        }
    }

    /**
     * Places a request for which there is no more memory to be had, in what is free in others' segments, or lies scattered: whole regions
     * that are empty go back, and pieces of memory that are free move to where the request needs them, if the source can, and no
     * stream is captured.
     */
    public long compactAndPlace(final Arena arena, final long sizeBytes, final long alignmentBytes) {
        regionLock.lock();
        try {
            if (ended) {
                return Strategy.NO_SPACE;
            }
            long address = compact(arena, sizeBytes, alignmentBytes);
            final long leastBytes = leastBytesFor(sizeBytes, alignmentBytes);
            // If it lacks no memory, or too much, it doesn't help to give any back.
            if (address < 0
                    && leastBytes > unusedBytes()
                    && leastBytes <= unusedBytes() + arenas.totals.heldBytes() - arenas.totals.usedBytes()
                    && giveBack(0, 0, null, arena)) {
                address = grow(arena, sizeBytes, alignmentBytes, limitBytes, 0);
                address = address < 0 ? compact(arena, sizeBytes, alignmentBytes) : address;
            }
            if (address < 0 && isTooMuchInPlace(arena, leastBytes) && arenas.totals.usedBytes() == 0) {
                giveBack(0, 0, null, null);
                address = takeAndPlace(arena, sizeBytes, alignmentBytes, limitBytes);
            }
            return address;
        } finally {
            regionLock.unlock();
        }
    }

    /**
     * Whether a request fits no region in place, but perhaps a whole one. A whole region may have more addresses, and it may have what the limit
     * allows beyond the last whole unit.
     */
    private boolean isTooMuchInPlace(final Arena arena, final long leastBytes) {
        final long addressBytes = Arrays.stream(arena.segments())
                .filter(segment -> segment.growable != null)
                .mapToLong(segment -> segment.taken.sizeBytes())
                .max()
                .orElse(Long.MAX_VALUE);
        return leastBytes > Math.min(addressBytes, limitBytes & -UNIT_BYTES)
                && leastBytes <= mostBytes() + 2 * options.granuleBytes();
    }

    /** How much is free that could move to where a request needs it; negative if memory doesn't, or that can't be told now. */
    public long movableBytes() {
        if (!regionLock.tryLock()) {
            // Whoever has it may be with the memory source.
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

    /** Extends a block of a segment that grows in place, which grows for it if limit and device allow; false if they don't. */
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

    /** Gives memory back in which nothing is in use until no more than so much is held, or a stream is captured. */
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
            failures.attempt(() -> {
                arenas.lockAllAnyway();
                try {
                    arenas.clear();
                } finally {
                    arenas.unlockAll();
                }
            });
            for (final Segment segment : all) {
                failures.attempt(() -> giveToSource(segment));
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
                .map(segment -> new Region(segment.taken.address(), segment.memoryEnd - segment.taken.address()))
                .toList();
    }

    // Under the region lock: more memory

    private long grow(
            final Arena arena,
            final long sizeBytes,
            final long alignmentBytes,
            final long mostHeldBytes,
            final long stepBytes) {
        final long mostBytes = mostHeldBytes >= limitBytes ? limitBytes : mostHeldBytes & -UNIT_BYTES;
        final long firstBytes = firstBytes(arena);
        final GrowingRegion region = regionOf(arena);
        long address = region == null
                ? Strategy.NO_SPACE
                : region.growAndPlace(sizeBytes, alignmentBytes, mostBytes, firstBytes, stepBytes);
        if (address == Strategy.NO_SPACE) {
            address = takeAndPlace(arena, sizeBytes, alignmentBytes, mostBytes);
        }
        if (address < 0 && mostBytes == limitBytes && arena.makeDo()) {
            address = arena.placeAgain(sizeBytes, alignmentBytes);
        }
        return Math.max(address, Strategy.NO_SPACE);
    }

    /** What an arena begins with, and grows by in place at least. */
    private long firstBytes(final Arena arena) {
        final long bytes = arena.number == 0 ? firstRegionBytes : Math.min(firstRegionBytes, slackStepBytes(arena));
        return arena.segments().length > 1 ? 0 : bytes;
    }

    private long compact(final Arena arena, final long sizeBytes, final long alignmentBytes) {
        final GrowingRegion region = regionOf(arena);
        return region == null ? Strategy.NO_SPACE : region.compactAndPlace(sizeBytes, alignmentBytes);
    }

    /** The region in place that an arena grows, another one when the tables of that have many blocks to hold; null if it can't have one. */
    private @Nullable GrowingRegion regionOf(final Arena arena) {
        Segment last = null;
        for (final Segment segment : arena.segments()) {
            last = segment.growable == null ? last : segment;
        }
        if (!isExhausted && (last == null ? arena.segments().length == 0 : last.crowded)) {
            final Segment more = reserve(arena);
            isExhausted = more == null;
            if (more != null) {
                try {
                    add(more);
                } catch (final Throwable e) {
                    giveToSource(more);
                    throw e;
                }
                last = more;
            }
        }
        return last == null ? null : new GrowingRegion(last, this);
    }

    /** A region that grows in place, of which nothing is committed; null if the source or the host hasn't one. */
    private @Nullable Segment reserve(final Arena arena) {
        final GrowableRegion growable =
                source.reserve(limitBytes, addressBytes()).orElse(null);
        if (growable == null) {
            return null;
        }
        final Region all = growable.region();
        if (all.sizeBytes() < leastBytesFor(1, 1) || growable.unitBytes() > limitBytes) {
            // No block is sure to lie in it.
            growable.close();
            return null;
        }
        try {
            return segment(arena, all, growable);
        } catch (final OutOfMemoryError e) {
            // Tables for all addresses at once may be more than the host has, where those of a small region aren't.
            return null;
        }
    }

    private long addressBytes() {
        if (!canRetireParts()) {
            // Without moving, no hole comes to be that more addresses would be for; and some tables are as large as
            // these are many.
            return Math.min(Math.min(limitBytes, mostAddressBytes()), MOST_UNMOVED_BYTES);
        }
        final long memoryBytes = Math.min(mostBytes(), Long.MAX_VALUE / ADDRESSES_OF_OTHERS);
        // The pool's first gets all addresses that there may be holes in; others get fewer.
        final boolean first = Arrays.stream(arenas.segments()).allMatch(segment -> segment.growable == null);
        return first ? mostAddressBytes() : Math.min(ADDRESSES_OF_OTHERS * memoryBytes, mostAddressBytes());
    }

    /** Whether strategies of this provider can: only one that is made can tell, and that of a segment comes after its addresses. */
    private boolean canRetireParts() {
        final Region least = new Region(options.granuleBytes(), provider.regionBytesFor(1, 1, options));
        return provider.create(least, options.growing(1)) instanceof PartRetiringStrategy;
    }

    /** What a strategy can divide. */
    private long mostAddressBytes() {
        return StrategyProvider.MOST_GRANULES * options.granuleBytes();
    }

    /** With small tables where an arena begins that isn't the first: it may never have many blocks. */
    private Segment segment(final Arena arena, final Region taken, final @Nullable GrowableRegion growable) {
        final boolean small = arena.number > 0 && arena.segments().length == 0;
        try {
            final StrategyOptions tables =
                    small ? options.growing(Math.min(SMALL_TABLES, options.firstBlocks())) : options;
            // What starts at a granule: a source may know nothing of large ones.
            final long paddingBytes = -taken.address() & (options.granuleBytes() - 1);
            final Region used = new Region(taken.address() + paddingBytes, taken.sizeBytes() - paddingBytes);
            return new Segment(
                    arena,
                    taken,
                    provider.create(used, tables),
                    growable,
                    options.maxBlocks(),
                    small ? MOST_BLOCKS_OF_SMALL_TABLES : MOST_BLOCKS_OF_TABLES);
        } catch (final RuntimeException | OutOfMemoryError e) {
            try {
                giveToSource(taken, growable);
            } catch (final RuntimeException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    private long takeAndPlace(
            final Arena arena, final long sizeBytes, final long alignmentBytes, final long mostHeldBytes) {
        final long leastBytes = leastBytesFor(sizeBytes, alignmentBytes);
        final long granuleBytes = options.granuleBytes();
        // A request that is as large as the limit is served, though whole granules are more.
        final boolean isWhole = arenas.totals.heldBytes() == 0
                && sizeBytes > limitBytes - granuleBytes
                && leastBytes - sizeBytes < 2 * granuleBytes;
        final Segment taken = take(arena, leastBytes, isWhole ? Math.max(mostHeldBytes, leastBytes) : mostHeldBytes);
        if (taken == null) {
            return Strategy.NO_SPACE;
        }
        long address = Strategy.NO_SPACE;
        boolean added = false;
        try {
            arena.lock();
            try {
                arena.add(taken);
                arenas.totals.held(taken.heldBytes);
                added = true;
                // Before anyone else sees the region.
                address = arena.placeIn(taken, sizeBytes, alignmentBytes);
            } finally {
                arena.taken = false;
            }
        } finally {
            if (!added || (address < 0 && removeIfEmpty(taken))) {
                // An alignment that the strategy can't be sure of, a table that is too small, or a host without memory.
                giveBack(taken);
            }
        }
        return address;
    }

    /** A whole region as large as the device allows, from a good size down to the least; or null. */
    private @Nullable Segment take(final Arena arena, final long leastBytes, final long mostHeldBytes) {
        final long mostBytes = Math.min(mostHeldBytes - arenas.totals.heldBytes(), mostAddressBytes());
        long sizeBytes = Math.min((Math.max(leastBytes, goodBytes(arena)) + UNIT_BYTES - 1) & -UNIT_BYTES, mostBytes);
        while (sizeBytes >= leastBytes) {
            final PoolEvents.RegionEvent event = events.beginTaking();
            try {
                final Region taken = source.take(sizeBytes);
                final Segment segment = segment(arena, taken, null);
                event.done(taken.address(), sizeBytes);
                return segment;
            } catch (final DeviceOutOfMemoryException e) {
                refusal = e;
                sizeBytes = sizeBytes == leastBytes ? 0 : Math.max((sizeBytes / 2) & -UNIT_BYTES, leastBytes);
            }
        }
        return null;
    }

    /** As much as there is, so that regions stay few. */
    private long goodBytes(final Arena arena) {
        if (arena.number == 0) {
            return arenas.totals.heldBytes() == 0 ? firstRegionBytes : arenas.totals.heldBytes();
        }
        return Math.max(arena.heldBytes(), Math.min(firstRegionBytes, LEAST_REGION_BYTES));
    }

    private void add(final Segment segment) {
        segment.owner.lock();
        try {
            segment.owner.add(segment);
            arenas.totals.held(segment.heldBytes);
        } finally {
            segment.owner.taken = false;
        }
    }

    // Under the region lock: less memory

    /**
     * Gives free memory back until no more than so much is held, or a stream is captured: whole regions first, of all arenas but one,
     * then those that grow in place, of all but another. With a share that arenas keep, no whole ones, and none of an arena that has no more.
     *
     * @return whether any went back
     */
    private boolean giveBack(
            final long keptBytes, final long shareBytes, final @Nullable Arena butWhole, final @Nullable Arena but) {
        final long before = arenas.totals.heldBytes();
        for (final Arena arena : arenas.all()) {
            final Segment[] own = arena.segments();
            // The one taken last is the largest as a rule. A capture may have begun: to get here, and to give one back,
            // may have taken long.
            for (int i = own.length - 1; i >= 0 && shareBytes == 0 && arena != butWhole; i--) {
                if (own[i].growable == null
                        && own[i].isEmpty()
                        && arenas.totals.heldBytes() > keptBytes
                        && !isCapturing.getAsBoolean()
                        && removeIfEmpty(own[i])) {
                    giveBack(own[i]);
                }
            }
        }
        // Those of the arenas that were made last first: the pool's first region has addresses for most holes.
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

    private boolean removeIfEmpty(final Segment segment) {
        segment.owner.lock();
        try {
            if (!segment.isEmpty()) {
                return false;
            }
            segment.owner.remove(segment);
            arenas.totals.held(-segment.heldBytes);
            return true;
        } finally {
            segment.owner.taken = false;
        }
    }

    private void giveBack(final Segment segment) {
        try {
            giveToSource(segment);
        } catch (final Throwable e) {
            // It is still out, and empty.
            add(segment);
            throw e;
        }
    }

    /** Gives a region back, whatever is in use there. */
    private void giveToSource(final Segment region) {
        final PoolEvents.RegionEvent event = events.beginGivingBack();
        giveToSource(region.taken, region.growable);
        if (region.heldBytes > 0) {
            event.done(region.taken.address(), region.heldBytes);
        }
    }

    private void giveToSource(final Region taken, final @Nullable GrowableRegion growable) {
        if (growable == null) {
            source.giveBack(taken);
        } else {
            growable.close();
        }
    }
}
