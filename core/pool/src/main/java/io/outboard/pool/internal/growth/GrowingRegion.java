package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * This class grows and shrinks one segment in place. The segment's strategy divides all addresses of the region, with
 * memory behind them or not. A block that ends beyond the last memory goes back to the strategy before the arena's lock
 * is released, and addresses whose memory has gone elsewhere are {@link Segment#holes}. So whenever that lock is free,
 * no block in use lies there, no request can get memory that isn't mapped, and none waits for another's mapping:
 *
 * <pre>{@code
 *   |  used  | free |  used  | hole | used |   free   |
 *   |                   backed                   |    addresses   |
 *   begin                                    backedEnd    taken.endAddress()
 * }</pre>
 *
 * <p>Where a strategy can retire free memory, that memory moves: see {@link Compaction}. To add or move a piece takes
 * as long for a small one as for a large one, but a block in use keeps all of a large piece where it is. So a block of
 * some size has pieces of its own, all of which can move once it is free.
 *
 * <p>This object is made anew for each operation, since all that lasts is in the segment and in the source. The region
 * lock is held, but not the arena's, since the source works meanwhile.
 */
final class GrowingRegion {

    /** The most compactions for one request. */
    private static final int MOST_COMPACTIONS = 16;

    /** The share that the device can't give of the memory that it reports as free. */
    private static final long DEVICE_SHARE = 64;

    /** The number of small pieces in the memory of a device, unless the device has very much. */
    private static final long SMALL_SHARE = 1L << 15;

    private static final long LARGE_SHARE = 1L << 11;
    private static final long MOST_SMALL = 1L << 22;
    private static final long MOST_LARGE = 1L << 26;

    /** The number of pieces that a very large block has, about. */
    private static final long BLOCK_SHARE = 64;

    /**
     * No piece of a step has more bytes, since blocks share it. With 32 MiB too few move for a block of 0.4 of a device
     * (PoolGatherTest).
     */
    private static final long MOST_STEP_PIECE = 16L << 20;

    /**
     * The small pieces of a step of a region that has much. They are few, since larger blocks that come to lie in them
     * can't move at once.
     */
    private static final long STEP = 2;

    /**
     * The number of first steps that a region has before it grows by no more than a large block needs. Until then, what
     * the block doesn't need is no great part of a device, and arenas and limbo are faster with some room.
     */
    private static final long FEW = 8;

    final Segment segment;
    final GrowableRegion growable;
    final long unitBytes;

    /** The size of a piece that small blocks share. */
    private final long smallBytes;

    /** The size of a piece that a single block has, unless the block is very large. */
    private final long largeBytes;

    /** True if the region's pieces can move: whole ones may lie in free blocks, and the strategy can retire those. */
    final boolean moves;

    final Growth growth;

    GrowingRegion(final Segment segment, final Growth growth) {
        this.segment = segment;
        this.growth = growth;
        growable = Objects.requireNonNull(segment.growable);
        unitBytes = growable.unitBytes();
        final long mostBytes = growth.regions.mostBytes();
        smallBytes = Math.max(unitBytes, Math.min(MOST_SMALL, Long.highestOneBit(mostBytes / SMALL_SHARE)));
        largeBytes = Math.max(unitBytes, Math.min(MOST_LARGE, Long.highestOneBit(mostBytes / LARGE_SHARE)));
        moves = segment.canRetireParts()
                && segment.strategy.granuleBytes() <= unitBytes
                && (segment.taken.address() & (unitBytes - 1)) == 0;
    }

    long wholeUnits(final long bytes) {
        return (bytes + unitBytes - 1) & -unitBytes;
    }

    /** Returns the size of the pieces of a block of {@code sizeBytes}. */
    long pieceBytes(final long sizeBytes) {
        return Math.max(largeBytes, Long.highestOneBit(sizeBytes / BLOCK_SHARE));
    }

    /** Returns where its last memory ends, as the source says. */
    long memoryEnd() {
        return segment.taken.address() + growable.endBytes();
    }

    /** Returns whether addresses are so scarce that memory is put into holes first. */
    private boolean isScarceOfAddresses() {
        return segment.holes.count() > 0 && segment.memoryEnd - segment.taken.address() > segment.taken.sizeBytes() / 2;
    }

    /** Takes over what the source has done, as far as it didn't fail: blocks may end as far as memory reaches now. */
    void changed() {
        final long committedBytes = growable.committedBytes();
        final long end = memoryEnd();
        segment.owner.lockAnyway();
        try {
            final long moreBytes = committedBytes - segment.heldBytes;
            growth.arenas.totals.held(moreBytes);
            segment.back(committedBytes, end);
            if (moreBytes != 0) {
                segment.owner.growsBy(moreBytes < 0 ? 0 : growth.slackStepBytes(segment.owner));
            }
        } finally {
            segment.owner.taken = false;
        }
    }

    /**
     * Puts memory behind the last until there is room for a request, and places it.
     *
     * @param mostHeldBytes the pool is to hold no more
     * @param leastBytes by how much it grows at least, if that is allowed
     * @param wantedBytes the same, also for a large block; 0 for no more than that needs
     * @return an address; {@code NO_SPACE} if there are no addresses; or less if there is no memory, not even for a
     *     whole region
     */
    long growAndPlace(
            final long sizeBytes,
            final long alignmentBytes,
            final long mostHeldBytes,
            final long leastBytes,
            final long wantedBytes) {
        while (true) {
            final long placed = place(sizeBytes, alignmentBytes);
            if (placed >= 0) {
                return placed;
            }
            if (placed == Strategy.NO_SPACE || isScarceOfAddresses()) {
                final long refilled = moves
                                && new Compaction(this)
                                        .refill(sizeBytes, alignmentBytes, false, growth.regions.unusedBytes())
                        ? placeInMemory(sizeBytes, alignmentBytes)
                        : Strategy.NO_SPACE;
                if (refilled >= 0 || placed == Strategy.NO_SPACE) {
                    return refilled;
                }
            }
            // Others may take what is committed here before this thread does: then it commits once more, for the end
            // that is next.
            if (!commit(-placed, mostHeldBytes, leastBytes, wantedBytes)) {
                final long tried = mostHeldBytes < growth.regions.limitBytes
                        ? Strategy.NO_SPACE
                        : placeInMemory(sizeBytes, alignmentBytes);
                return tried == Strategy.NO_SPACE ? placed : tried;
            }
        }
    }

    /**
     * Moves memory for a block that no free block has room for, though all of them together have; returns an address,
     * or {@code NO_SPACE}.
     */
    long compactAndPlace(final long sizeBytes, final long alignmentBytes) {
        // Others may take what was put here before this thread does: then it tries once more.
        for (int tries = 0; moves && tries <= MOST_COMPACTIONS; tries++) {
            final long placed = place(sizeBytes, alignmentBytes);
            if (placed >= 0) {
                return placed;
            }
            // A good fit prefers the addresses behind to a block that just fits.
            final long around = tries == 0 ? Strategy.NO_SPACE : placeInMemory(sizeBytes, alignmentBytes);
            if (around >= 0) {
                return around;
            }
            final boolean refills = placed == Strategy.NO_SPACE || isScarceOfAddresses();
            if (!(refills && refill(sizeBytes, alignmentBytes))
                    && (placed == Strategy.NO_SPACE || !gather(sizeBytes, -placed))) {
                break;
            }
        }
        return Strategy.NO_SPACE;
    }

    private boolean refill(final long sizeBytes, final long alignmentBytes) {
        // The device may have less than it says.
        return new Compaction(this).refill(sizeBytes, alignmentBytes, true, growth.regions.unusedBytes())
                || new Compaction(this).refill(sizeBytes, alignmentBytes, true, 0);
    }

    private boolean gather(final long sizeBytes, final long end) {
        // The device has less than it says, as a rule.
        final long unusedBytes = growth.regions.unusedBytes() & -unitBytes;
        return LongStream.of(unusedBytes - unusedBytes / DEVICE_SHARE, unusedBytes, unusedBytes / 2, 0)
                .anyMatch(bytes -> new Compaction(this).gather(sizeBytes, end, bytes));
    }

    /** Places a request; returns an address, {@code NO_SPACE}, or less: the negative of where memory must end. */
    private long place(final long sizeBytes, final long alignmentBytes) {
        return underLock(() -> segment.owner.placeIn(segment, sizeBytes, alignmentBytes));
    }

    long underLock(final LongSupplier places) {
        segment.owner.lock();
        try {
            return places.getAsLong();
        } finally {
            segment.owner.taken = false;
        }
    }

    /** Places a request when no more memory can be had; returns an address or {@code NO_SPACE}. */
    private long placeInMemory(final long sizeBytes, final long alignmentBytes) {
        return underLock(() -> {
            // A slab needs more than the request, and may lie where no memory can be put though there are holes.
            if (segment.slabs != null) {
                segment.slabs.makeDo();
            }
            segment.gained();
            long placed = segment.owner.placeIn(segment, sizeBytes, alignmentBytes);
            if (placed < Strategy.NO_SPACE) {
                // What was taken back may have become the last free block of its size: then another one is the first.
                placed = segment.owner.placeIn(segment, sizeBytes, alignmentBytes);
            }
            return placed < Strategy.NO_SPACE ? placeAroundTail(sizeBytes, alignmentBytes) : placed;
        });
    }

    /**
     * Places a block though the strategy prefers addresses that have no memory and can't get any: a good fit takes the
     * tail if that is shorter than the other free blocks. This takes the tail meanwhile, as far as it is one free
     * block, so that the strategy takes another block.
     */
    private long placeAroundTail(final long sizeBytes, final long alignmentBytes) {
        final Strategy strategy = segment.strategy;
        final long tail = strategy.allocate(sizeBytes, alignmentBytes);
        if (tail == Strategy.NO_SPACE) {
            return Strategy.NO_SPACE;
        }
        try {
            strategy.extend(tail, (segment.taken.endAddress() - tail) & -strategy.granuleBytes());
            return Math.max(segment.owner.placeIn(segment, sizeBytes, alignmentBytes), Strategy.NO_SPACE);
        } finally {
            strategy.free(tail);
            segment.gained();
        }
    }

    /** Puts memory behind the last until a block can be extended; returns false if it can't be. */
    boolean extend(final long address, final long newSizeBytes, final long leastBytes) {
        long extended;
        do {
            extended = underLock(() -> segment.owner.extendHeld(segment, address, newSizeBytes));
        } while (extended < Strategy.NO_SPACE && commit(-extended, growth.regions.limitBytes, leastBytes, 0));
        return extended >= 0;
    }

    /** Grows by {@code sizeBytes}, if limit and device allow, for blocks that share the memory. */
    void grow(final long sizeBytes, final long mostHeldBytes) {
        commit(memoryEnd() + unitBytes, mostHeldBytes, 0, sizeBytes);
    }

    /** Grows so that blocks may end at an address, if limit and device allow. */
    private boolean commit(final long end, final long mostHeldBytes, final long leastBytes, final long wantedBytes) {
        final PoolEvents.@Nullable RegionTaken event = growth.regions.events.beginTaking();
        final long endBefore = memoryEnd();
        try {
            return end <= endBefore || commitMore(end - endBefore, mostHeldBytes, leastBytes, wantedBytes);
        } finally {
            changed();
            final long endAfter = memoryEnd();
            if (event != null && endAfter > endBefore) {
                event.done(endBefore, endAfter - endBefore);
            }
        }
    }

    private boolean commitMore(
            final long neededBytes, final long mostHeldBytes, final long leastBytes, final long wantedBytes) {
        final long committedBytes = growable.committedBytes();
        final long mostBytes = Math.min(
                segment.taken.endAddress() - memoryEnd(),
                (mostHeldBytes - growth.arenas.totals.heldBytes()) & -unitBytes);
        final long missingBytes = wholeUnits(neededBytes);
        // An attempt would make as many pieces as there is memory for, and give them back.
        if (missingBytes > mostBytes || (missingBytes > largeBytes && !growth.regions.isAvailable(missingBytes))) {
            return false;
        }
        // A region that has much grows by no more than a large block needs.
        final boolean isExact = committedBytes / FEW >= leastBytes;
        final long usualBytes = committedBytes < leastBytes
                ? leastBytes - committedBytes
                : Math.max(isExact ? 0 : Math.min(leastBytes, Growth.SHORT_STEP), STEP * smallBytes);
        final long stepBytes = Math.max(wantedBytes, usualBytes);
        // A step that the device hasn't enough for would be made in part, and given back.
        final long wholeBytes = Math.max(missingBytes, Math.min(stepBytes, mostBytes) & -unitBytes);
        final long goodBytes =
                wholeBytes > largeBytes && wholeBytes > growth.regions.unusedBytes() ? missingBytes : wholeBytes;
        final long pieceBytes = pieceBytes(missingBytes);
        // Pieces are few, since each takes calls of the driver.
        final long sharedPieceBytes =
                Math.max(smallBytes, Math.min(Math.min(largeBytes, MOST_STEP_PIECE), Long.highestOneBit(stepBytes)));
        if (!moves) {
            return tryCommit(goodBytes, pieceBytes) || tryCommit(missingBytes, pieceBytes);
        }
        if (neededBytes < smallBytes || committedBytes + missingBytes < leastBytes) {
            return tryCommit(goodBytes, sharedPieceBytes) || tryCommit(missingBytes, smallBytes);
        }
        // The block's last unit is its neighbour's, too, which would keep the whole piece here.
        final long ownBytes = neededBytes & -unitBytes;
        final boolean done = tryCommit(ownBytes, pieceBytes) && tryCommit(missingBytes - ownBytes, unitBytes);
        if (done && (wantedBytes > 0 || !isExact)) {
            // The step has as much as there is.
            tryCommit(goodBytes - missingBytes, sharedPieceBytes);
        }
        return done;
    }

    private boolean tryCommit(final long bytes, final long pieceBytes) {
        try {
            if (bytes > 0) {
                growable.commit(memoryEnd(), bytes, pieceBytes);
            }
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            growth.regions.refusal = e;
            return false;
        }
    }
}
