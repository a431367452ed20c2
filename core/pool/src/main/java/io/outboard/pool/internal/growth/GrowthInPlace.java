package io.outboard.pool.internal.growth;

import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Holes;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Growth of a pool's first region, if the source has such that grow. Its strategy divides all of its addresses, but a block that
 * ends beyond the last memory goes back to the strategy before the main arena's lock is released, and where memory has gone
 * elsewhere there are {@link Holes}. So whenever that lock is free, no block in use lies there, nobody can be handed memory that
 * isn't mapped, and none needs to wait for another's mapping:
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
 * <p>The region lock is held; the main arena's lock isn't, since the source works meanwhile.
 */
final class GrowthInPlace {

    /** For one request. */
    private static final int MOST_GATHERINGS = 16;

    private final RegionMaker maker;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final BooleanSupplier freeIsIdle;
    private final Arenas arenas;
    private final Arena main;
    private final PoolEvents events;

    /** Once it is reserved, and until the pool ends. Written under the region lock. */
    private volatile @Nullable GrowingRegion region;

    /** Where memory must end for what {@link #place} or {@link #extend} found no memory for. Guarded by the region lock. */
    private long neededEnd;

    GrowthInPlace(final GrowthPlan plan, final Arenas arenas, final RegionMaker maker, final PoolEvents events) {
        firstRegionBytes = plan.firstBytes();
        limitBytes = plan.limitBytes();
        freeIsIdle = plan.freeIsIdle();
        this.maker = maker;
        this.arenas = arenas;
        this.events = events;
        main = arenas.main();
    }

    /** By how much it grows if no more is needed, in bytes; negative if there is no such region. */
    long stepBytes() {
        final GrowingRegion growing = region;
        return growing == null ? -1 : growing.sizes.stepBytes(arenas.totals.heldBytes(), firstRegionBytes);
    }

    void reserve() {
        final Segment reserved = maker.reserve(limitBytes);
        if (reserved != null) {
            final GrowingRegion growing = new GrowingRegion(reserved, arenas, maker, limitBytes, freeIsIdle);
            boolean added = false;
            main.lock();
            try {
                main.parts.add(reserved);
                added = true;
            } finally {
                main.taken = false;
                if (!added) {
                    maker.giveBack(reserved);
                }
            }
            region = growing;
        }
    }

    /** The region goes with all others. */
    void end() {
        region = null;
    }

    /**
     * Puts memory behind the region until it serves a request.
     *
     * @return an address, {@code NO_SPACE} if there are no addresses, or {@link Segment#NEEDS_MEMORY} if there is none to be had, for
     *     a whole region neither
     */
    long commitAndPlace(final long sizeBytes, final long alignmentBytes) {
        final GrowingRegion growing = region;
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
            if (!commit(growing, end)) {
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
        main.lock();
        try {
            final long placed = main.placeIn(growing.part, sizeBytes, alignmentBytes);
            neededEnd = growing.part.neededEnd();
            return placed;
        } finally {
            main.taken = false;
        }
    }

    /** As {@link #place}, when no more memory can be had: an address or {@code NO_SPACE}. */
    private long placeInMemory(final GrowingRegion growing, final long sizeBytes, final long alignmentBytes) {
        main.lock();
        try {
            // A slab needs more than the request: it may lie where nothing can be committed though there are holes.
            growing.part.strategy.makeDo();
            growing.part.gained();
            final long placed = main.placeIn(growing.part, sizeBytes, alignmentBytes);
            return placed == Segment.NEEDS_MEMORY ? placeAroundTail(growing.part, sizeBytes, alignmentBytes) : placed;
        } finally {
            main.taken = false;
        }
    }

    /**
     * Places a block though the strategy prefers the addresses that nothing backs, and nothing can: a good fit takes the tail
     * if that is shorter than the other free blocks. With the tail in use meanwhile, as far as it is one free block, it takes
     * one of those.
     */
    private long placeAroundTail(final Segment part, final long sizeBytes, final long alignmentBytes) {
        final Strategy strategy = part.strategy;
        final long tail =
                alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
        if (tail == Strategy.NO_SPACE) {
            return Strategy.NO_SPACE;
        }
        strategy.extend(tail, (part.used.endAddress() - tail) & -strategy.granuleBytes());
        final long placed = main.placeIn(part, sizeBytes, alignmentBytes);
        strategy.free(tail);
        part.gained();
        return placed == Segment.NEEDS_MEMORY ? Strategy.NO_SPACE : placed;
    }

    /** Puts memory behind the region until a block of it can be extended. False if it can't be. */
    boolean commitAndExtend(final long address, final long newSizeBytes) {
        final GrowingRegion growing = region;
        if (growing == null) {
            return false;
        }
        long extended = extend(growing, address, newSizeBytes);
        while (extended == Segment.NEEDS_MEMORY && commit(growing, neededEnd)) {
            extended = extend(growing, address, newSizeBytes);
        }
        return extended >= 0;
    }

    private long extend(final GrowingRegion growing, final long address, final long newSizeBytes) {
        main.lock();
        try {
            final long extended = main.extendHeld(null, address, newSizeBytes);
            neededEnd = growing.part.neededEnd();
            return extended;
        } finally {
            main.taken = false;
        }
    }

    /** Grows so that blocks may end there, if limit and device allow. */
    private boolean commit(final GrowingRegion growing, final long end) {
        final GrowableRegion growable = growing.growable;
        final PoolEvents.RegionTakenEvent event = events.beginRegionTaken();
        final long endBefore = growing.memoryEnd();
        try {
            return new InPlaceGrowth(growable, growing.sizes, firstRegionBytes, growing.moves, maker)
                    .commit(end - growing.part.taken.address(), growing.mostBytes());
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
        final GrowingRegion growing = region;
        return growing == null || !growing.moves ? -1 : new Compaction(growing, events).movableBytes();
    }

    /** Memory for a block that no free block has room for, though all of them together have. An address, or {@code NO_SPACE}. */
    long gatherAndPlace(final long sizeBytes, final long alignmentBytes) {
        final GrowingRegion growing = region;
        if (growing == null || !growing.moves) {
            return Strategy.NO_SPACE;
        }
        // Others may take what was gathered here before this thread does: then once more.
        for (int tries = 0; tries <= MOST_GATHERINGS; tries++) {
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

    /** Gives so much memory back, as far as it is free. */
    void giveBack(final long bytes) {
        final GrowingRegion growing = region;
        if (growing != null) {
            new Trimming(growing, events).giveBack(bytes);
        }
    }
}
