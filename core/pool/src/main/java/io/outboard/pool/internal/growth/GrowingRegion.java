package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.ArenaTotals;
import io.outboard.pool.internal.arena.Segment;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * A segment that grows in place, and what is known about its memory: what those share who put memory behind it, move it and give it
 * back.
 *
 * <p>The region lock is held; the arena's lock isn't.
 */
final class GrowingRegion {

    final Segment segment;
    final Arena arena;
    final GrowableRegion growable;

    /** Of its pieces. */
    final PieceSizes sizes;

    final long unitBytes;

    /** Whether its pieces can move: whole ones may lie in free blocks, and those can be retired. */
    final boolean moves;

    /** Of the pool. */
    final ArenaTotals totals;

    private final RegionMaker maker;
    private final long limitBytes;
    private final BooleanSupplier freeIsIdle;

    /** @param freeIsIdle makes sure that nothing works on free memory; false if that can't be done now, so that nothing moves */
    GrowingRegion(
            final Segment segment,
            final ArenaTotals totals,
            final RegionMaker maker,
            final long limitBytes,
            final BooleanSupplier freeIsIdle) {
        this.segment = segment;
        this.totals = totals;
        this.maker = maker;
        this.limitBytes = limitBytes;
        this.freeIsIdle = freeIsIdle;
        arena = segment.owner;
        growable = Objects.requireNonNull(segment.growable);
        unitBytes = growable.unitBytes();
        sizes = PieceSizes.of(unitBytes, Math.min(limitBytes, maker.deviceBytes()));
        moves = maker.canGather()
                && segment.strategy.granuleBytes() <= unitBytes
                && (segment.taken.address() & (unitBytes - 1)) == 0;
    }

    /** What limit and device still allow, in bytes. */
    long unusedBytes() {
        return Math.max(0, Math.min(limitBytes - totals.heldBytes(), maker.availableBytes())) & -unitBytes;
    }

    /** See {@link RegionMaker#refused}. */
    void refused(final DeviceOutOfMemoryException by) {
        maker.refused(by);
    }

    /** Where its last memory ends, as the source says. */
    long memoryEnd() {
        return segment.taken.address() + growable.endBytes();
    }

    /** Then memory is put into holes first. */
    boolean isScarceOfAddresses() {
        return segment.holes.count() > 0
                && segment.memoryEnd() - segment.taken.address() > segment.taken.sizeBytes() / 2;
    }

    /** Asked before free memory leaves its place: may wait for the device. */
    boolean mayMove() {
        return freeIsIdle.getAsBoolean();
    }

    /** As {@link FreePieces#settle}, once the source is done with them. */
    long settle(final FreePieces pieces) {
        arena.lockAnyway();
        try {
            return pieces.settle();
        } finally {
            arena.taken = false;
            changed();
        }
    }

    /** The source has put memory there, or taken some away: blocks may end as far as it reaches now. */
    void changed() {
        final long committedBytes = growable.committedBytes();
        final long end = memoryEnd();
        arena.lockAnyway();
        try {
            totals.held(committedBytes - segment.heldBytes);
            segment.holes.endAt(end);
            segment.back(committedBytes, end);
        } finally {
            arena.taken = false;
        }
    }
}
