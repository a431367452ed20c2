package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Memory of free pieces leaves its place, once: it goes behind a region's last memory, or into holes, for a block that no free block has
 * room for, though all of them together have; or it goes back to the device. What is needed for the block is chosen under the arena's
 * lock; then the source works, without it; then the tables are told what has happened, whatever failed.
 *
 * <p>The region lock is held.
 */
final class Compaction {

    private final GrowingRegion region;
    private final Segment segment;
    private final GrowableRegion growable;
    private final FreePieces pieces;

    /** What the device is to give, in bytes. */
    private long newBytes;

    /** Where memory is to be put between others, and how many of these holes have it. */
    private List<Region> holes = List.of();

    private int filled;
    private long movedBytes;

    Compaction(final GrowingRegion region) {
        this.region = region;
        segment = region.segment;
        growable = region.growable;
        pieces = new FreePieces(segment);
    }

    /**
     * Puts memory behind the last until a block can end there.
     *
     * @param sizeBytes of the block
     * @param unusedBytes what the device may have: the rest moves there
     * @return false if there isn't enough
     */
    boolean gather(final long sizeBytes, final long end, final long unusedBytes) {
        final long memoryEnd = region.memoryEnd();
        final long missingBytes = region.wholeUnits(end - memoryEnd);
        final long mostBytes = unusedBytes & -region.unitBytes;
        return serve(
                sizeBytes,
                () -> {
                    final long movingBytes = pieces.find(tailOf(memoryEnd), Long.MAX_VALUE)
                            .retire(missingBytes - mostBytes, FreePieces.LARGEST_FIRST);
                    newBytes = Math.max(0, missingBytes - movingBytes);
                    return newBytes <= mostBytes && memoryEnd + newBytes + movingBytes <= segment.taken.endAddress();
                },
                () -> {
                    if (newBytes > 0) {
                        growable.commit(memoryEnd, newBytes, region.sizes.ofBlock(sizeBytes));
                    }
                    growable.move(pieces.addresses(), pieces.count());
                    return true;
                });
    }

    /** Where the free block begins that memory ends with: a block that is larger than that is to begin there. */
    private long tailOf(final long memoryEnd) {
        final long[] tail = {memoryEnd};
        segment.strategy.forEachFree(region.unitBytes, (block, address, sizeBytes) -> {
            if (address < memoryEnd && address + sizeBytes >= memoryEnd) {
                tail[0] = address;
            }
        });
        return tail[0];
    }

    /**
     * Puts memory into holes so that there is room between others. It isn't moved there, since no piece would fit: what is missing on the
     * device goes back to it before.
     *
     * @param takes whether memory of free pieces is taken
     * @return false if that isn't enough, or no hole would help
     */
    boolean refill(final long sizeBytes, final long alignmentBytes, final boolean takes, final long unusedBytes) {
        return serve(
                sizeBytes,
                () -> {
                    final long address = segment.holes.placeFor(sizeBytes, alignmentBytes, region.memoryEnd());
                    if (address == Strategy.NO_SPACE) {
                        return false;
                    }
                    final long from = address & -region.unitBytes;
                    final long to = region.wholeUnits(address + sizeBytes);
                    newBytes = segment.holes.bytesIn(from, to);
                    if (takes) {
                        newBytes -= pieces.find(from, to).retire(newBytes - unusedBytes, FreePieces.LARGEST_FIRST);
                    }
                    if (newBytes <= unusedBytes) {
                        holes = segment.holes.separated(from, to);
                    }
                    return !holes.isEmpty();
                },
                () -> {
                    if (!pieces.giveBack()) {
                        return false;
                    }
                    for (final Region hole : holes) {
                        if (hole.address() > region.memoryEnd()) {
                            // What went back was the last memory: these addresses are behind it now, where memory
                            // is put otherwise.
                            break;
                        }
                        growable.commit(hole.address(), hole.sizeBytes(), region.sizes.ofBlock(sizeBytes));
                        filled++;
                    }
                    return true;
                });
    }

    /** Gives so much back to the device, if there is so much: whole pieces, the last ones first. */
    void trim(final long bytes) {
        try {
            run(
                    () -> {
                        if (region.moves) {
                            pieces.find(0, 0).retire(bytes, FreePieces.LAST_FIRST);
                        } else {
                            pieces.withdrawTail(bytes);
                        }
                        return true;
                    },
                    pieces::giveBack);
        } finally {
            for (final Region row : pieces.gone()) {
                region.events.begin(new PoolEvents.RegionGivenBackEvent()).commit(row);
            }
        }
    }

    private boolean serve(final long sizeBytes, final BooleanSupplier chooses, final BooleanSupplier puts) {
        final PoolEvents.MemoryMovedEvent event = region.events.begin(new PoolEvents.MemoryMovedEvent());
        final long heldBytes = segment.heldBytes;
        try {
            return run(chooses, puts);
        } catch (final DeviceOutOfMemoryException e) {
            region.maker.refusal = e;
            return false;
        } finally {
            region.totals.moved(movedBytes);
            if (movedBytes > 0 || segment.heldBytes != heldBytes) {
                event.commit(sizeBytes, movedBytes, segment.heldBytes - heldBytes);
            }
        }
    }

    private boolean run(final BooleanSupplier chooses, final BooleanSupplier puts) {
        try {
            final boolean chosen;
            segment.owner.lock();
            try {
                chosen = chooses.getAsBoolean();
            } finally {
                segment.owner.taken = false;
            }
            return chosen && (pieces.count() == 0 || region.freeIsIdle.getAsBoolean()) && puts.getAsBoolean();
        } finally {
            settle();
        }
    }

    /** Holes that are filled have memory; the others are as if they had never been divided. */
    private void settle() {
        segment.owner.lockAnyway();
        try {
            // In this order, since what is joined isn't found any more; the first two take hardly any of the host's
            // memory.
            movedBytes = pieces.settle();
            for (int i = 0; i < filled; i++) {
                segment.holes.fill(holes.get(i).address());
            }
            for (int i = filled; i < holes.size(); i++) {
                segment.holes.joinAt(holes.get(i).address());
                segment.holes.joinAt(holes.get(i).endAddress());
            }
            pieces.join();
        } catch (final OutOfMemoryError ignored) {
            // Some holes stay apart.
        } finally {
            segment.owner.taken = false;
            region.changed();
        }
    }
}
