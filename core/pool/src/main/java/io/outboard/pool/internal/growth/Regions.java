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
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * This class takes the regions of a pool from the memory source, makes segments of them, and gives them back. {@link
 * Growth} says when.
 *
 * <p>A region that can't be divided, since the host has no memory for the strategy's tables, goes back to the source at
 * once.
 *
 * <p>The region lock is held, except where a number is asked for: that is safe for any number of threads.
 */
public final class Regions {

    /**
     * The least bytes of a whole region of any arena but the first, since each region is a call of the driver and is
     * kept whole.
     */
    private static final long LEAST_REGION_BYTES = 32L << 20;

    /** Regions are multiples of this, the unit by which the driver maps device memory. */
    static final long UNIT_BYTES = 1L << 21;

    /**
     * A region whose memory doesn't move has no more addresses than this, so that tables with a bit for each granule
     * take 32 MiB of the host.
     */
    private static final long MOST_UNMOVED_BYTES = 1L << 36;

    /** The number of addresses for each byte of memory in any region but the first. */
    private static final long ADDRESSES_OF_OTHERS = 2;

    /** The number of blocks that small tables hold before they grow. */
    private static final int SMALL_TABLES = 1 << 13;

    /**
     * The number of blocks in use, with as many free ones, up to which small tables grow, in steps of a millisecond and
     * less; then there is another region.
     */
    private static final int MOST_BLOCKS_OF_SMALL_TABLES = 1 << 15;

    /** The same number for other tables, which hold twice as many blocks before they grow, for 6 ms. */
    private static final int MOST_BLOCKS_OF_TABLES = 1 << 17;

    /** Every memory source aligns regions to this. */
    private static final long SOURCE_ALIGNMENT_BYTES = 256;

    final StrategyProvider provider;
    public final StrategyOptions options;
    public final long limitBytes;
    final long firstRegionBytes;
    final Arenas arenas;
    final PoolEvents events;
    private final MemorySource source;

    /** What is told of free memory before it goes back to the source or moves; null for nothing. */
    private final @Nullable Consumer<Region> leaving;

    /** The reason that the device gave when it refused memory the last time, or null. Written under the region lock. */
    public volatile @Nullable DeviceOutOfMemoryException refusal;

    private volatile long deviceBytes = -1;

    public Regions(
            final MemorySource source,
            final StrategyProvider provider,
            final StrategyOptions options,
            final long limitBytes,
            final long firstRegionBytes,
            final Arenas arenas,
            final PoolEvents events,
            final @Nullable Consumer<Region> leaving) {
        this.source = source;
        this.provider = provider;
        this.options = options;
        this.limitBytes = limitBytes;
        this.firstRegionBytes = firstRegionBytes;
        this.arenas = arenas;
        this.events = events;
        this.leaving = leaving;
    }

    /** Returns what the pool can hold at most, in bytes: the limit, or what the device had when it was first asked. */
    public long mostBytes() {
        if (deviceBytes < 0) {
            deviceBytes = source.availableBytes();
        }
        return Math.min(limitBytes, deviceBytes);
    }

    /** Returns what limit and device still allow, in bytes. */
    long unusedBytes() {
        return Math.max(0, Math.min(limitBytes - arenas.totals.heldBytes(), source.availableBytes()));
    }

    /**
     * Returns whether the device says that it has {@code bytes}, and notes a refusal if not. The question costs as much
     * as a small piece.
     */
    boolean isAvailable(final long bytes) {
        final long availableBytes = source.availableBytes();
        if (bytes > availableBytes) {
            refusal = DeviceOutOfMemoryException.ofDevice(bytes, availableBytes, source.scarcity());
        }
        return bytes <= availableBytes;
    }

    /** Returns the size of the least region that is sure to serve a request, wherever the source takes it. */
    long leastBytesFor(final long sizeBytes, final long alignmentBytes) {
        final long granuleBytes = options.granuleBytes();
        final long usedBytes = provider.regionBytesFor(
                sizeBytes, alignmentBytes <= SOURCE_ALIGNMENT_BYTES ? 1 : alignmentBytes, options);
        final long paddingBytes = granuleBytes > SOURCE_ALIGNMENT_BYTES ? granuleBytes : 0;
        return usedBytes > Long.MAX_VALUE - paddingBytes ? Long.MAX_VALUE : usedBytes + paddingBytes;
    }

    /**
     * Reserves a region that grows in place, of which nothing is committed; null if the source or the host hasn't one.
     */
    @Nullable
    Segment reserve(final Arena arena) {
        final GrowableRegion growable =
                source.reserve(limitBytes, addressBytes()).orElse(null);
        if (growable == null) {
            return null;
        }
        final Region all = growable.region();
        if (all.sizeBytes() < leastBytesFor(1, 1) || growable.unitBytes() > limitBytes) {
            // No block is sure to fit.
            growable.close();
            return null;
        }
        try {
            return segment(arena, all, growable);
        } catch (final OutOfMemoryError e) {
            // The host may have no memory for tables of all addresses at once, though it has for those of a small
            // region.
            return null;
        }
    }

    /** Returns how many bytes of addresses the next region in place gets. */
    private long addressBytes() {
        if (!canRetireParts()) {
            // If memory doesn't move there are no holes, for which more addresses would be; and some tables are as
            // large as the addresses are many.
            return Math.min(Math.min(limitBytes, mostAddressBytes()), MOST_UNMOVED_BYTES);
        }
        final long memoryBytes = Math.min(mostBytes(), Long.MAX_VALUE / ADDRESSES_OF_OTHERS);
        // The pool's first region gets all addresses, for holes; others get fewer.
        final boolean first = Arrays.stream(arenas.segments()).allMatch(segment -> segment.growable == null);
        return first ? mostAddressBytes() : Math.min(ADDRESSES_OF_OTHERS * memoryBytes, mostAddressBytes());
    }

    /**
     * Returns whether the provider's strategies can retire parts of blocks. Only a strategy can tell, and that of a
     * segment is made after its addresses are taken.
     */
    private boolean canRetireParts() {
        final Region least = new Region(options.granuleBytes(), provider.regionBytesFor(1, 1, options));
        return provider.create(least, options.growing(1)) instanceof PartRetiringStrategy;
    }

    /** Returns how many bytes of addresses a strategy can divide. */
    private long mostAddressBytes() {
        return StrategyProvider.MOST_GRANULES * options.granuleBytes();
    }

    /** Makes a segment, with small tables where any arena but the first begins, since it may never have many blocks. */
    private Segment segment(final Arena arena, final Region taken, final @Nullable GrowableRegion growable) {
        final boolean small = arena.number > 0 && arena.segments().length == 0;
        try {
            final StrategyOptions tables =
                    small ? options.growing(Math.min(SMALL_TABLES, options.firstBlocks())) : options;
            // The strategy's region starts at a granule: a source may know nothing of large ones.
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

    /** Takes a whole region and places a request there; returns an address or {@code NO_SPACE}. */
    long takeAndPlace(final Arena arena, final long sizeBytes, final long alignmentBytes, final long mostHeldBytes) {
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
                // This comes before any other thread sees the region.
                address = arena.placeIn(taken, sizeBytes, alignmentBytes);
            } finally {
                arena.taken = false;
            }
        } finally {
            if (!added || (address < 0 && removeIfEmpty(taken))) {
                // The strategy couldn't be sure of the alignment, a table was too small, or the host had no memory.
                giveBack(taken);
            }
        }
        return address;
    }

    /** Takes a whole region as large as the device allows, from a good size down to the least; or null. */
    private @Nullable Segment take(final Arena arena, final long leastBytes, final long mostHeldBytes) {
        final long mostBytes = Math.min(mostHeldBytes - arenas.totals.heldBytes(), mostAddressBytes());
        long sizeBytes = Math.min((Math.max(leastBytes, goodBytes(arena)) + UNIT_BYTES - 1) & -UNIT_BYTES, mostBytes);
        while (sizeBytes >= leastBytes) {
            final PoolEvents.@Nullable RegionTaken event = events.beginTaking();
            try {
                final Region taken = source.take(sizeBytes);
                final Segment segment = segment(arena, taken, null);
                if (event != null) {
                    event.done(taken.address(), sizeBytes);
                }
                return segment;
            } catch (final DeviceOutOfMemoryException e) {
                refusal = e;
                sizeBytes = sizeBytes == leastBytes ? 0 : Math.max((sizeBytes / 2) & -UNIT_BYTES, leastBytes);
            }
        }
        return null;
    }

    /** Returns a good size for a whole region: as much as there is, so that regions stay few. */
    private long goodBytes(final Arena arena) {
        if (arena.number == 0) {
            return arenas.totals.heldBytes() == 0 ? firstRegionBytes : arenas.totals.heldBytes();
        }
        return Math.max(arena.heldBytes(), Math.min(firstRegionBytes, LEAST_REGION_BYTES));
    }

    /** Adds a segment to its arena. */
    void add(final Segment segment) {
        segment.owner.lock();
        try {
            segment.owner.add(segment);
            arenas.totals.held(segment.heldBytes);
        } finally {
            segment.owner.taken = false;
        }
    }

    /** Removes a segment from its arena if nothing is in use there; returns whether it did. */
    boolean removeIfEmpty(final Segment segment) {
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

    /** Tells of free memory that is about to go back or to move. */
    void leaving(final long address, final long sizeBytes) {
        if (leaving != null) {
            leaving.accept(new Region(address, sizeBytes));
        }
    }

    /** Gives a region back that was removed from its arena; it stays if the source fails. */
    void giveBack(final Segment segment) {
        try {
            leaving(segment.taken.address(), segment.taken.sizeBytes());
            giveToSource(segment);
        } catch (final Throwable e) {
            // The region is still taken, and empty.
            add(segment);
            throw e;
        }
    }

    /** Gives a region back, whatever is in use there. */
    void giveToSource(final Segment region) {
        final PoolEvents.@Nullable RegionGivenBack event = events.beginGivingBack();
        giveToSource(region.taken, region.growable);
        if (event != null && region.heldBytes > 0) {
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
