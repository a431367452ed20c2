package io.outboard.pool.internal.growth;

import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Growth of segments, if the source has such that grow. The strategy of one divides all of its addresses, but a block that
 * ends beyond the last memory goes back to the strategy before the arena's lock is released, and where memory has gone
 * elsewhere there are {@link io.outboard.pool.internal.arena.Holes}. So whenever that lock is free, no block in use lies there, nobody
 * can be handed memory that isn't mapped, and none needs to wait for another's mapping:
 *
 * <pre>{@code
 *   |  used  | free |  used  | hole | used |   free   |
 *   |                   backed                   |    addresses   |
 *   used.address()                           backedEnd    used.endAddress()
 * }</pre>
 *
 * <p>Where a strategy can retire free memory, that moves: pieces that lie wholly in free blocks go behind the last memory, where a
 * large block is to be. A block of some size has pieces of its own, so that all of it can move once it is free.
 *
 * <p>An arena has one such segment, and another when the tables of that have many blocks to hold.
 *
 * <p>The region lock is held; no arena's lock is, since the source works meanwhile.
 */
final class GrowthInPlace {

    /** For one request. */
    private static final int MOST_COMPACTIONS = 16;

    private final RegionMaker maker;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final BooleanSupplier freeIsIdle;
    private final Arenas arenas;
    private final PoolEvents events;

    /** Until the pool ends; each arena's last one is that which it grows. */
    private final List<GrowingRegion> regions = new ArrayList<>();

    /** The source, or the host, has no addresses for more of them. */
    private boolean isExhausted;

    /** Where memory must end for what {@link #place} or {@link #extend} found no memory for. */
    private long neededEnd;

    GrowthInPlace(final GrowthPlan plan, final Arenas arenas, final RegionMaker maker, final PoolEvents events) {
        firstRegionBytes = plan.firstBytes();
        limitBytes = plan.limitBytes();
        freeIsIdle = plan.freeIsIdle();
        this.maker = maker;
        this.arenas = arenas;
        this.events = events;
    }

    /** The one that an arena grows; null if it has none and can't have one. */
    private @Nullable GrowingRegion regionOf(final Arena arena) {
        GrowingRegion last = null;
        for (final GrowingRegion region : regions) {
            last = region.arena == arena ? region : last;
        }
        final boolean more = last == null ? arena.segments().length == 0 : last.segment.isCrowded();
        final GrowingRegion reserved = more && !isExhausted ? reserve(arena) : null;
        return reserved == null ? last : reserved;
    }

    private @Nullable GrowingRegion reserve(final Arena arena) {
        final Segment segment = maker.reserve(arena, limitBytes, regions.isEmpty());
        if (segment == null) {
            isExhausted = true;
            return null;
        }
        boolean added = false;
        try {
            final GrowingRegion region = new GrowingRegion(segment, arenas.totals, maker, limitBytes, freeIsIdle);
            regions.add(region);
            arena.lock();
            try {
                arena.add(segment);
                added = true;
            } finally {
                arena.taken = false;
            }
            return region;
        } finally {
            if (!added) {
                regions.removeIf(region -> region.segment == segment);
                maker.giveBack(segment);
            }
        }
    }

    /** The regions go with all others. */
    void end() {
        regions.clear();
    }

    /**
     * Puts memory behind an arena's region until it serves a request.
     *
     * @param mostHeldBytes the pool is to hold no more
     * @param leastBytes by how much it grows at least, if that is allowed
     * @param busyBytes the same, also for a large block
     * @return an address, {@code NO_SPACE} if there are no addresses, or {@link Segment#NEEDS_MEMORY} if there is none to be had, for
     *     a whole region neither
     */
    long commitAndPlace(
            final Arena arena,
            final long sizeBytes,
            final long alignmentBytes,
            final long mostHeldBytes,
            final long leastBytes,
            final long busyBytes) {
        final GrowingRegion growing = regionOf(arena);
        if (growing == null) {
            return Strategy.NO_SPACE;
        }
        while (true) {
            final long placed = place(growing, sizeBytes, alignmentBytes);
            if (placed >= 0) {
                return placed;
            }
            final long end = neededEnd;
            if (placed == Strategy.NO_SPACE || growing.isScarceOfAddresses()) {
                final long filled = fillAndPlace(growing, sizeBytes, alignmentBytes);
                if (filled >= 0 || placed == Strategy.NO_SPACE) {
                    return filled;
                }
            }
            // Others may take what is committed here before this thread does: then once more, for the end
            // that is next.
            if (!commit(growing, end, mostHeldBytes, leastBytes, busyBytes)) {
                if (mostHeldBytes < limitBytes) {
                    return Segment.NEEDS_MEMORY;
                }
                final long tried = placeInMemory(growing, sizeBytes, alignmentBytes);
                return tried == Strategy.NO_SPACE ? Segment.NEEDS_MEMORY : tried;
            }
        }
    }

    /** Addresses come to an end. An address or {@code NO_SPACE}. */
    private long fillAndPlace(final GrowingRegion growing, final long sizeBytes, final long alignmentBytes) {
        return growing.moves && new HoleRefill(growing, events).fill(sizeBytes, alignmentBytes)
                ? placeInMemory(growing, sizeBytes, alignmentBytes)
                : Strategy.NO_SPACE;
    }

    /** An address, {@code NO_SPACE}, or {@link Segment#NEEDS_MEMORY}. */
    private long place(final GrowingRegion growing, final long sizeBytes, final long alignmentBytes) {
        growing.arena.lock();
        try {
            final long placed = growing.arena.placeIn(growing.segment, sizeBytes, alignmentBytes);
            neededEnd = growing.segment.neededEnd();
            return placed;
        } finally {
            growing.arena.taken = false;
        }
    }

    /** As {@link #place}, when no more memory can be had: an address or {@code NO_SPACE}. */
    private long placeInMemory(final GrowingRegion growing, final long sizeBytes, final long alignmentBytes) {
        growing.arena.lock();
        try {
            // A slab needs more than the request: it may lie where nothing can be committed though there are holes.
            growing.segment.strategy.makeDo();
            growing.segment.gained();
            final long placed = growing.arena.placeIn(growing.segment, sizeBytes, alignmentBytes);
            return placed == Segment.NEEDS_MEMORY ? placeAroundTail(growing, sizeBytes, alignmentBytes) : placed;
        } finally {
            growing.arena.taken = false;
        }
    }

    /**
     * Places a block though the strategy prefers the addresses that nothing backs, and nothing can: a good fit takes the tail
     * if that is shorter than the other free blocks. With the tail in use meanwhile, as far as it is one free block, it takes
     * one of those.
     */
    private static long placeAroundTail(final GrowingRegion growing, final long sizeBytes, final long alignmentBytes) {
        final Segment segment = growing.segment;
        final Strategy strategy = segment.strategy;
        final long tail =
                alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
        if (tail == Strategy.NO_SPACE) {
            return Strategy.NO_SPACE;
        }
        try {
            strategy.extend(tail, (segment.usedEnd() - tail) & -strategy.granuleBytes());
            final long placed = growing.arena.placeIn(segment, sizeBytes, alignmentBytes);
            return placed == Segment.NEEDS_MEMORY ? Strategy.NO_SPACE : placed;
        } finally {
            strategy.free(tail);
            segment.gained();
        }
    }

    /** Puts memory behind a segment until a block of it can be extended. False if it can't be. */
    boolean commitAndExtend(final Segment segment, final long address, final long newSizeBytes) {
        for (final GrowingRegion growing : regions) {
            if (growing.segment == segment) {
                long extended = extend(growing, address, newSizeBytes);
                while (extended == Segment.NEEDS_MEMORY
                        && commit(growing, neededEnd, limitBytes, firstRegionBytes, 0)) {
                    extended = extend(growing, address, newSizeBytes);
                }
                return extended >= 0;
            }
        }
        return false;
    }

    private long extend(final GrowingRegion growing, final long address, final long newSizeBytes) {
        growing.arena.lock();
        try {
            final long extended = growing.arena.extendHeld(growing.segment, address, newSizeBytes);
            neededEnd = growing.segment.neededEnd();
            return extended;
        } finally {
            growing.arena.taken = false;
        }
    }

    /** Grows so that blocks may end there, if limit and device allow. */
    private boolean commit(
            final GrowingRegion growing,
            final long end,
            final long mostHeldBytes,
            final long leastBytes,
            final long busyBytes) {
        final GrowableRegion growable = growing.growable;
        final PoolEvents.RegionTakenEvent event = events.beginRegionTaken();
        final long endBefore = growing.memoryEnd();
        final long othersBytes = arenas.totals.heldBytes() - growing.segment.heldBytes;
        try {
            return new InPlaceGrowth(growable, growing.sizes, leastBytes, busyBytes, growing.moves, maker)
                    .commit(end - growing.segment.taken.address(), mostHeldBytes - othersBytes);
        } finally {
            final long endAfter = growing.memoryEnd();
            if (endAfter > endBefore) {
                event.commit(new Region(endBefore, endAfter - endBefore));
            }
            growing.changed();
        }
    }

    /** How much is free in whole pieces, which could move; negative if memory doesn't. */
    long movableBytes() {
        long bytes = -1;
        for (final GrowingRegion region : regions) {
            if (region.moves) {
                bytes = Math.max(0, bytes) + new Compaction(region, events).movableBytes();
            }
        }
        return bytes;
    }

    /** Memory for a block that no free block has room for, though all of them together have. An address, or negative. */
    long compactAndPlace(final Arena arena, final long sizeBytes, final long alignmentBytes) {
        final GrowingRegion growing = regionOf(arena);
        if (growing == null || !growing.moves) {
            return Strategy.NO_SPACE;
        }
        // Others may take what was gathered here before this thread does: then once more.
        for (int tries = 0; tries <= MOST_COMPACTIONS; tries++) {
            final long placed = place(growing, sizeBytes, alignmentBytes);
            if (placed >= 0) {
                return placed;
            }
            final long end = neededEnd;
            // A good fit prefers the addresses behind to a block that just fits.
            final long around = tries == 0 ? Strategy.NO_SPACE : placeInMemory(growing, sizeBytes, alignmentBytes);
            if (around >= 0) {
                return around;
            }
            final boolean fills = placed == Strategy.NO_SPACE || growing.isScarceOfAddresses();
            if (fills && new HoleRefill(growing, events).refill(sizeBytes, alignmentBytes)) {
                continue;
            }
            if (placed == Strategy.NO_SPACE || !new Compaction(growing, events).gather(sizeBytes, end)) {
                break;
            }
        }
        return Strategy.NO_SPACE;
    }

    /** Gives so much memory back, as far as it is free; none of one arena, or of any if that is null. */
    void giveBack(final long bytes, final @Nullable Arena but) {
        long left = bytes;
        for (int i = regions.size() - 1; i >= 0 && left > 0; i--) {
            final GrowingRegion region = regions.get(i);
            if (region.arena != but) {
                final long before = region.segment.heldBytes;
                new Trimming(region, events).giveBack(left);
                left -= before - region.segment.heldBytes;
            }
        }
    }
}
