package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This class runs one compaction of a region. It takes pieces of memory that lie wholly in free blocks, and maps them
 * again behind the last memory or in holes, so that a block fits that no free block has room for though all of them
 * together have; or it gives the pieces back.
 *
 * <p>What is needed is chosen under the arena's lock, and retired, so that no request gets it. Then the source works,
 * without the lock. Then holes are settled: the region says which pieces are gone and which holes have memory, whatever
 * failed.
 *
 * <p>The region lock is held.
 */
final class Compaction {

    /** The order of giving back: no holes stay behind the last memory. */
    private static final Comparator<Piece> LAST_FIRST =
            Comparator.comparingLong(Piece::address).reversed();

    /** The order of moving: each costs as much, whatever its size. */
    private static final Comparator<Piece> LARGEST_FIRST =
            Comparator.comparingLong(Piece::bytes).reversed().thenComparing(LAST_FIRST);

    /** This piece lies in a free block, whose name in the strategy it has. */
    private record Piece(long block, long address, long bytes) {

        long end() {
            return address + bytes;
        }
    }

    private final GrowingRegion region;
    private final Segment segment;
    private final GrowableRegion growable;

    /** The pieces found; then those of them that nobody is handed now, the last ones first. */
    private List<Piece> pieces = new ArrayList<>();

    /** The holes that memory goes into, and below, how many of them have memory. */
    private List<Region> holes = List.of();

    private int filled;

    Compaction(final GrowingRegion region) {
        this.region = region;
        segment = region.segment;
        growable = region.growable;
    }

    /**
     * Puts pieces, and what the device may have, behind the last memory for a block. Returns false if that isn't
     * enough.
     */
    boolean gather(final long sizeBytes, final long end, final long unusedBytes) {
        final long memoryEnd = region.memoryEnd();
        final long missingBytes = region.wholeUnits(end - memoryEnd);
        final long mostBytes = unusedBytes & -region.unitBytes;
        return serve(
                sizeBytes,
                () -> {
                    // A block that is larger than the free block that memory ends with is to begin there.
                    find(memoryEnd);
                    retire(missingBytes - mostBytes, LARGEST_FIRST);
                    final long movingBytes = bytes();
                    return missingBytes - movingBytes <= mostBytes
                            && Math.max(missingBytes, movingBytes) <= segment.taken.endAddress() - memoryEnd;
                },
                () -> {
                    final long newBytes = missingBytes - bytes();
                    if (newBytes > 0) {
                        growable.commit(memoryEnd, newBytes, region.pieceBytes(sizeBytes));
                    }
                    tellLeaving();
                    growable.move(addresses(), pieces.size());
                    return true;
                });
    }

    /**
     * Puts memory into holes so that there is room between others. Since no piece would fit there, what is missing on
     * the device goes back to it before, if free pieces may be taken. Returns false if that isn't enough, or no hole
     * would help.
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
                    final long missingBytes = segment.holes.bytesIn(from, to);
                    if (takes) {
                        find(Long.MAX_VALUE);
                        pieces.removeIf(piece -> piece.end() > from && piece.address() < to);
                        retire(missingBytes - unusedBytes, LARGEST_FIRST);
                    }
                    if (missingBytes - bytes() <= unusedBytes) {
                        holes = segment.holes.separated(from, to);
                    }
                    return !holes.isEmpty();
                },
                () -> {
                    if (!giveBack()) {
                        return false;
                    }
                    for (final Region hole : holes) {
                        if (hole.address() > region.memoryEnd()) {
                            // What went back was the last memory, and these addresses are behind it now.
                            break;
                        }
                        growable.commit(hole.address(), hole.sizeBytes(), region.pieceBytes(sizeBytes));
                        filled++;
                    }
                    return true;
                });
    }

    /** Gives {@code bytes} back to the device, if there are as many: whole pieces, the last ones first. */
    void trim(final long bytes) {
        try {
            run(
                    () -> {
                        if (region.moves) {
                            find(Long.MAX_VALUE);
                            retire(bytes, LAST_FIRST);
                        } else {
                            withdrawTail(bytes);
                        }
                        return true;
                    },
                    this::giveBack);
        } finally {
            tellGone();
        }
    }

    /** Returns what is free in whole pieces, which could move. */
    long movableBytes() {
        return region.underLock(() -> {
            find(Long.MAX_VALUE);
            return bytes();
        });
    }

    private boolean serve(final long sizeBytes, final BooleanSupplier chooses, final BooleanSupplier puts) {
        final PoolEvents.@Nullable MemoryMoved event = region.growth.regions.events.beginMoving();
        final long heldBytes = segment.heldBytes;
        try {
            return run(chooses, puts);
        } catch (final DeviceOutOfMemoryException e) {
            region.growth.regions.refusal = e;
            return false;
        } finally {
            long movedBytes = 0;
            for (int i = 0; i < pieces.size(); i++) {
                movedBytes += isGone(pieces.get(i)) ? pieces.get(i).bytes() : 0;
            }
            region.growth.arenas.totals.moved(movedBytes);
            if (event != null && (movedBytes > 0 || segment.heldBytes != heldBytes)) {
                event.done(sizeBytes, movedBytes, segment.heldBytes - heldBytes);
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
            return chosen && (pieces.isEmpty() || region.growth.freeIsIdle.getAsBoolean()) && puts.getAsBoolean();
        } finally {
            settle();
        }
    }

    /** Frees pieces that are where they were, and holes that are filled; the others join those beside them. */
    private void settle() {
        segment.owner.lockAnyway();
        try {
            // In this order, since what is joined isn't found any more.
            for (int i = 0; i < pieces.size(); i++) {
                if (!isGone(pieces.get(i))) {
                    segment.holes.fill(pieces.get(i).address());
                }
            }
            for (int i = 0; i < filled; i++) {
                segment.holes.fill(holes.get(i).address());
            }
            segment.holes.join();
        } catch (final OutOfMemoryError ignored) {
            // The region has no host memory to answer: some holes stay.
        } finally {
            segment.owner.taken = false;
            region.changed();
        }
    }

    // Under the arena's lock: what nobody is handed any more

    /** Finds those of free blocks that end before an address. */
    private void find(final long before) {
        segment.parts().forEachFree(region.unitBytes, (block, address, sizeBytes) -> {
            if (address + sizeBytes < before) {
                findIn(block, address, address + sizeBytes);
            }
        });
    }

    private void findIn(final long block, final long from, final long to) {
        long piece = growable.pieceFrom(from);
        while (piece < to) {
            final long end = piece + growable.pieceBytes(piece);
            if (end <= to) {
                pieces.add(new Piece(block, piece, end - piece));
            }
            piece = growable.pieceFrom(end);
        }
    }

    /** Retires as many as are enough, or all if that isn't enough. */
    private void retire(final long enoughBytes, final Comparator<Piece> order) {
        pieces = choose(order, enoughBytes, segment.holes.room());
        // A free block keeps its name while its end is retired.
        pieces.sort(LAST_FIRST);
        int count = 0;
        for (final Piece piece : pieces) {
            if (!segment.holes.retire(piece.block(), piece.address(), piece.bytes())) {
                break;
            }
            count++;
        }
        pieces = pieces.subList(0, count);
    }

    /**
     * Hands out no memory behind the last block in use, for free memory that can't be retired; requests wait to grow.
     */
    private void withdrawTail(final long enoughBytes) {
        final long end = segment.lastBlockEnd();
        findIn(Strategy.NO_SPACE, end, segment.taken.endAddress());
        pieces = choose(LAST_FIRST, enoughBytes, pieces.size());
        segment.withdrawBehind(end);
    }

    private List<Piece> choose(final Comparator<Piece> order, final long enoughBytes, final int most) {
        pieces.sort(order);
        final List<Piece> chosen = new ArrayList<>();
        long left = enoughBytes;
        for (int i = 0; i < pieces.size() && left > 0 && chosen.size() < most; i++) {
            final boolean isNextEnough = order == LARGEST_FIRST
                    && i + 1 < pieces.size()
                    && pieces.get(i + 1).bytes() >= left;
            if (!isNextEnough) {
                chosen.add(pieces.get(i));
                left -= pieces.get(i).bytes();
            }
        }
        return chosen;
    }

    private long bytes() {
        return pieces.stream().mapToLong(Piece::bytes).sum();
    }

    // Without it: what the source does

    private void tellLeaving() {
        pieces.forEach(piece -> region.growth.regions.leaving(piece.address(), piece.bytes()));
    }

    private long[] addresses() {
        return pieces.stream().mapToLong(Piece::address).toArray();
    }

    /** Gives the pieces back. Returns false if the region did nothing, since a capture has begun. */
    private boolean giveBack() {
        if (!pieces.isEmpty()) {
            tellLeaving();
            growable.giveBack(addresses(), pieces.size());
        }
        return pieces.stream().allMatch(this::isGone);
    }

    private boolean isGone(final Piece piece) {
        return growable.pieceBytes(piece.address()) == 0;
    }

    /** Tells of the pieces that are gone, and of neighbouring ones as one. Takes no host memory. */
    private void tellGone() {
        int i = 0;
        while (i < pieces.size()) {
            final long end = pieces.get(i).end();
            long begin = end;
            while (i < pieces.size() && pieces.get(i).end() == begin && isGone(pieces.get(i))) {
                begin = pieces.get(i).address();
                i++;
            }
            if (begin < end) {
                final PoolEvents.@Nullable RegionGivenBack event = region.growth.regions.events.beginGivingBack();
                if (event != null) {
                    event.done(begin, end - begin);
                }
            } else {
                i++;
            }
        }
    }
}
