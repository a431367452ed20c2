package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.pool.internal.arena.Holes;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import java.util.Arrays;
import java.util.List;

/**
 * Puts memory into a region's holes so that there is room between others, where addresses come to an end. It isn't moved there, since
 * no piece would fit: what is missing on the device goes back to it before, of what is free.
 *
 * <p>The region lock is held; the arena's lock isn't, since the source works meanwhile.
 */
final class HoleRefill {

    private final GrowingRegion region;
    private final PoolEvents events;

    HoleRefill(final GrowingRegion region, final PoolEvents events) {
        this.region = region;
        this.events = events;
    }

    /** With what limit and device still allow. False if that isn't enough, or no hole would help. */
    boolean fill(final long sizeBytes, final long alignmentBytes) {
        return fill(sizeBytes, alignmentBytes, false, region.unusedBytes());
    }

    /** As {@link #fill(long, long)}, with what is free elsewhere, too. */
    boolean refill(final long sizeBytes, final long alignmentBytes) {
        // The device may have less than it says.
        return fill(sizeBytes, alignmentBytes, true, region.unusedBytes()) || fill(sizeBytes, alignmentBytes, true, 0);
    }

    private boolean fill(final long sizeBytes, final long alignmentBytes, final boolean gives, final long unusedBytes) {
        final Segment segment = region.segment;
        final long unitBytes = region.unitBytes;
        final PoolEvents.MemoryMovedEvent event = events.beginMemoryMoved();
        final long heldBytes = segment.heldBytes;
        final FreePieces pieces;
        final List<Region> holes;
        region.arena.lock();
        try {
            if (segment.holes.count() == 0) {
                return false;
            }
            final long address = new HoleSearch(segment, sizeBytes, alignmentBytes).find(region.memoryEnd());
            if (address == HoleSearch.NOWHERE) {
                return false;
            }
            final long from = address & -unitBytes;
            final long to = (address + sizeBytes + unitBytes - 1) & -unitBytes;
            final long missingBytes = segment.holes.bytesIn(from, to);
            pieces = new FreePieces(segment, from, to);
            final long givenBytes =
                    pieces.retire(gives ? Math.max(0, missingBytes - unusedBytes) : 0, FreePieces.LARGEST_FIRST);
            holes = missingBytes - givenBytes > unusedBytes ? List.of() : segment.holes.separated(from, to);
            if (holes.isEmpty()) {
                pieces.settle();
                return false;
            }
        } finally {
            region.arena.taken = false;
        }
        int filled = 0;
        try {
            if (pieces.count() > 0 && !(region.mayMove() && givesBack(pieces.addresses()))) {
                return false;
            }
            for (final Region hole : holes) {
                if (hole.address() > region.memoryEnd()) {
                    // What went back was the last memory: these addresses are behind it now, where memory is put
                    // otherwise.
                    return true;
                }
                region.growable.commit(hole.address(), hole.sizeBytes(), region.sizes.ofBlock(sizeBytes));
                filled++;
            }
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            region.refused(e);
            return false;
        } finally {
            settle(holes, filled);
            final long movedBytes = region.settle(pieces);
            region.totals.moved(movedBytes);
            event.commit(sizeBytes, movedBytes, segment.heldBytes - heldBytes);
        }
    }

    /** False if the region did nothing, since a capture has begun. */
    private boolean givesBack(final long[] pieces) {
        region.growable.giveBack(pieces, pieces.length);
        return Arrays.stream(pieces).noneMatch(piece -> region.growable.pieceBytes(piece) > 0);
    }

    /** Those that are filled have memory; the others are as if they had never been divided. */
    private void settle(final List<Region> holes, final int filled) {
        final Holes all = region.segment.holes;
        region.arena.lock();
        try {
            for (int i = 0; i < holes.size(); i++) {
                if (i < filled) {
                    all.fill(holes.get(i).address());
                } else {
                    all.joinAt(holes.get(i).address());
                    all.joinAt(holes.get(i).endAddress());
                }
            }
        } finally {
            region.arena.taken = false;
        }
    }
}
