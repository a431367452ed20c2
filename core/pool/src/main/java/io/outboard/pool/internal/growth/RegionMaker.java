package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.ArenaTotals;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes regions from a memory source, each with a strategy that divides it, and gives them back. What can't be divided, since
 * the host has no memory for the strategy's tables, goes back at once. It knows nothing of the other regions of the pool.
 *
 * <p>The region lock is held, no arena's is; but {@link #mostBytes} and {@link #refusal} are for everybody.
 */
public final class RegionMaker {

    /** Regions are multiples of this, which is what the driver maps device memory by. */
    static final long UNIT_BYTES = 1L << 21;

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
    final ArenaTotals totals;

    /** Makes sure that nothing works on free memory, which may wait for the device; false if that can't be done now: nothing moves. */
    final BooleanSupplier freeIsIdle;

    final PoolEvents events;
    private final MemorySource source;
    private final StrategyOptions options;

    /** What the device said when it refused memory the last time, null if it never did; written under the region lock. */
    public volatile @Nullable DeviceOutOfMemoryException refusal;

    private volatile long deviceBytes = -1;

    public RegionMaker(
            final MemorySource source,
            final StrategyProvider provider,
            final StrategyOptions options,
            final long limitBytes,
            final ArenaTotals totals,
            final BooleanSupplier freeIsIdle,
            final PoolEvents events) {
        this.source = source;
        this.provider = provider;
        this.options = options;
        this.limitBytes = limitBytes;
        this.totals = totals;
        this.freeIsIdle = freeIsIdle;
        this.events = events;
    }

    /** What the pool can hold at most, in bytes: the limit, or what the device had when that was first asked. */
    public long mostBytes() {
        if (deviceBytes < 0) {
            deviceBytes = source.availableBytes();
        }
        return Math.min(limitBytes, deviceBytes);
    }

    /** What limit and device still allow, in bytes; negative if the pool holds more than its limit. */
    long unusedBytes() {
        return Math.min(limitBytes - totals.heldBytes(), source.availableBytes());
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

    /** A whole region as large as the device allows, from {@code goodBytes} down to {@code leastBytes}; or null. */
    @Nullable
    Segment take(final Arena arena, final long leastBytes, final long goodBytes, final long mostHeldBytes) {
        final long mostBytes = Math.min(mostHeldBytes - totals.heldBytes(), mostAddressBytes());
        long sizeBytes = Math.min((Math.max(leastBytes, goodBytes) + UNIT_BYTES - 1) & -UNIT_BYTES, mostBytes);
        while (sizeBytes >= leastBytes) {
            final PoolEvents.RegionTakenEvent event = events.begin(new PoolEvents.RegionTakenEvent());
            try {
                final Region taken = source.take(sizeBytes);
                final Segment segment = segment(arena, taken, null);
                event.commit(taken.address(), sizeBytes);
                return segment;
            } catch (final DeviceOutOfMemoryException e) {
                refusal = e;
                sizeBytes = sizeBytes == leastBytes ? 0 : Math.max((sizeBytes / 2) & -UNIT_BYTES, leastBytes);
            }
        }
        return null;
    }

    /**
     * A region that grows in place, of which nothing is committed; null if the source or the host hasn't one.
     *
     * @param first it is the pool's first, and gets all addresses that there may be holes in; others get fewer
     */
    @Nullable
    Segment reserve(final Arena arena, final boolean first) {
        final GrowableRegion growable =
                source.reserve(limitBytes, addressBytes(first)).orElse(null);
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

    private long addressBytes(final boolean first) {
        if (!provider.canRetireFree()) {
            // Without moving, no hole comes to be that more addresses would be for; and some tables are as large as
            // these are many.
            return Math.min(Math.min(limitBytes, mostAddressBytes()), MOST_UNMOVED_BYTES);
        }
        final long memoryBytes = Math.min(mostBytes(), Long.MAX_VALUE / ADDRESSES_OF_OTHERS);
        return first ? mostAddressBytes() : Math.min(ADDRESSES_OF_OTHERS * memoryBytes, mostAddressBytes());
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
                    used,
                    provider.create(used, tables),
                    growable,
                    options.maxBlocks(),
                    small ? MOST_BLOCKS_OF_SMALL_TABLES : MOST_BLOCKS_OF_TABLES);
        } catch (final RuntimeException | OutOfMemoryError e) {
            try {
                giveBack(taken, growable);
            } catch (final RuntimeException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    /** Gives a region back, whatever is in use there. */
    void giveBack(final Segment region) {
        final PoolEvents.RegionGivenBackEvent event = events.begin(new PoolEvents.RegionGivenBackEvent());
        giveBack(region.taken, region.growable);
        if (region.heldBytes > 0) {
            event.commit(region.taken.address(), region.heldBytes);
        }
    }

    private void giveBack(final Region taken, final @Nullable GrowableRegion growable) {
        if (growable == null) {
            source.giveBack(taken);
        } else {
            growable.close();
        }
    }
}
