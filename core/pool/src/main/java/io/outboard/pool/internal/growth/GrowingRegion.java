package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * The region that grows in place, and what is known about its memory: what those share who put memory behind it, move it and give it
 * back.
 *
 * <p>The region lock is held; the main arena's lock isn't.
 */
final class GrowingRegion {

    final Segment part;
    final GrowableRegion growable;

    /** Of its pieces. */
    final PieceSizes sizes;

    final long unitBytes;

    /** Whether its pieces can move: whole ones may lie in free blocks, and those can be retired. */
    final boolean moves;

    final Arenas arenas;
    final Arena main;
    private final RegionMaker maker;
    private final long limitBytes;
    private final BooleanSupplier freeIsIdle;

    /** @param freeIsIdle makes sure that nothing works on free memory; false if that can't be done now, so that nothing moves */
    GrowingRegion(
            final Segment part,
            final Arenas arenas,
            final RegionMaker maker,
            final long limitBytes,
            final BooleanSupplier freeIsIdle) {
        this.part = part;
        this.arenas = arenas;
        this.maker = maker;
        this.limitBytes = limitBytes;
        this.freeIsIdle = freeIsIdle;
        growable = Objects.requireNonNull(part.growable);
        unitBytes = growable.unitBytes();
        sizes = PieceSizes.of(unitBytes, Math.min(limitBytes, maker.availableBytes()));
        main = arenas.main();
        moves = maker.canGather()
                && part.strategy.granuleBytes() <= unitBytes
                && (part.taken.address() & (unitBytes - 1)) == 0;
    }

    /** What it may have with all that the limit leaves to it, in bytes. */
    long mostBytes() {
        return limitBytes - (arenas.totals.heldBytes() - part.heldBytes);
    }

    /** What limit and device still allow, in bytes. */
    long unusedBytes() {
        return Math.max(0, Math.min(limitBytes - arenas.totals.heldBytes(), maker.availableBytes())) & -unitBytes;
    }

    /** See {@link RegionMaker#refused}. */
    void refused(final DeviceOutOfMemoryException by) {
        maker.refused(by);
    }

    /** Where its last memory ends, as the source says. */
    long memoryEnd() {
        return part.taken.address() + growable.endBytes();
    }

    /** Then memory is put into holes first. */
    boolean isScarceOfAddresses() {
        return part.holes.count() > 0 && part.memoryEnd() - part.taken.address() > part.taken.sizeBytes() / 2;
    }

    /** Asked before free memory leaves its place: may wait for the device. */
    boolean mayMove() {
        return freeIsIdle.getAsBoolean();
    }

    /** As {@link FreePieces#settle}, once the source is done with them. */
    long settle(final FreePieces pieces) {
        main.lock();
        try {
            return pieces.settle();
        } finally {
            main.taken = false;
            changed();
        }
    }

    /** The source has put memory there, or taken some away: blocks may end as far as it reaches now. */
    void changed() {
        final long committedBytes = growable.committedBytes();
        final long end = memoryEnd();
        main.lock();
        try {
            arenas.held(committedBytes - part.heldBytes);
            part.holes.endAt(end);
            part.back(committedBytes, end);
        } finally {
            main.taken = false;
        }
    }
}
