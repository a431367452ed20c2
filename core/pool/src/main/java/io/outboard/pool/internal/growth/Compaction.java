package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;

/**
 * Puts memory behind a region's last for a block that no free block has room for, though all of them together have: what the device
 * still has, and whole pieces that lie in free blocks, which move there.
 *
 * <p>The region lock is held; the arena's lock isn't, since the source works meanwhile.
 */
final class Compaction {

    /** Such a part of what the device says that it has isn't to be had. */
    private static final long DEVICE_SHARE = 64;

    private final GrowingRegion region;
    private final PoolEvents events;

    Compaction(final GrowingRegion region, final PoolEvents events) {
        this.region = region;
        this.events = events;
    }

    /** How much is free in whole pieces, which could move. */
    long movableBytes() {
        region.arena.lock();
        try {
            return new FreePieces(region.segment, 0, 0).bytes();
        } finally {
            region.arena.taken = false;
        }
    }

    /**
     * Puts memory behind the last one until a block can end there: of the device, and what it hasn't of free blocks.
     *
     * @param sizeBytes of the block
     * @return false if there isn't enough
     */
    boolean gather(final long sizeBytes, final long end) {
        // The device has less than it says, as a rule.
        final long unusedBytes = region.unusedBytes();
        return gather(sizeBytes, end, unusedBytes - unusedBytes / DEVICE_SHARE)
                || gather(sizeBytes, end, unusedBytes)
                || gather(sizeBytes, end, unusedBytes / 2)
                || gather(sizeBytes, end, 0);
    }

    private boolean gather(final long sizeBytes, final long end, final long unusedBytes) {
        final Segment segment = region.segment;
        final long unitBytes = region.unitBytes;
        final long memoryEnd = region.memoryEnd();
        final long missingBytes = (end - memoryEnd + unitBytes - 1) & -unitBytes;
        final long mostBytes = unusedBytes & -unitBytes;
        final PoolEvents.MemoryMovedEvent event = events.beginMemoryMoved();
        final long heldBytes = segment.heldBytes;
        final FreePieces pieces;
        long newBytes = -1;
        region.arena.lock();
        try {
            pieces = new FreePieces(segment, tailOf(memoryEnd), Long.MAX_VALUE);
            final long movingBytes = pieces.retire(Math.max(0, missingBytes - mostBytes), FreePieces.LARGEST_FIRST);
            newBytes = Math.max(0, missingBytes - movingBytes);
            if (newBytes > mostBytes || memoryEnd + newBytes + movingBytes > segment.taken.endAddress()) {
                pieces.settle();
                return false;
            }
        } finally {
            region.arena.taken = false;
        }
        long movedBytes = 0;
        try {
            if (pieces.count() > 0 && !region.mayMove()) {
                return false;
            }
            if (newBytes > 0) {
                region.growable.commit(memoryEnd, newBytes, region.sizes.ofBlock(sizeBytes));
            }
            region.growable.move(pieces.addresses(), pieces.count());
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            region.refused(e);
            return false;
        } finally {
            movedBytes = region.settle(pieces);
            region.totals.moved(movedBytes);
            event.commit(sizeBytes, movedBytes, segment.heldBytes - heldBytes);
        }
    }

    /** Where the free block begins that memory ends with: a block that is larger than that is to begin there. */
    private long tailOf(final long memoryEnd) {
        final long[] tail = {memoryEnd};
        region.segment.strategy.forEachFree(region.unitBytes, (block, address, sizeBytes) -> {
            if (address < memoryEnd && address + sizeBytes >= memoryEnd) {
                tail[0] = address;
            }
        });
        return tail[0];
    }
}
