package io.outboard.pool;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Growth of a pool's first region, if the source has such that grow. Its strategy divides all of its addresses, but a block that
 * ends beyond the last memory goes back to the strategy before the main lane's lock is released, and where memory has gone
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
 * <p>The region lock is held; the main lane's lock isn't, since the source works meanwhile.
 */
final class GrowthInPlace {

    /** For one request. */
    private static final int MOST_GATHERINGS = 16;

    /** Such a part of what the device says that it has isn't to be had. */
    private static final long DEVICE_SHARE = 64;

    private final RegionMaker maker;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final DeviceWork work;

    /** Whether free memory may still be worked on. */
    private final boolean waits;

    private final Lanes lanes;
    private final Lane main;
    private final PoolEvents events;

    /** Of the region, once that is reserved. */
    private PieceSizes sizes = PieceSizes.of(1, 1);

    GrowthInPlace(final PoolBuilder builder, final Lanes lanes, final RegionMaker maker, final PoolEvents events) {
        firstRegionBytes = builder.firstRegionBytes;
        limitBytes = builder.limitBytes;
        // With that policy the pool may have been told of no work, or of another device's.
        work = builder.policy == ReusePolicy.IMMEDIATE && builder.source instanceof DeviceMemorySource source
                ? source.work()
                : builder.work;
        waits = builder.policy == ReusePolicy.IMMEDIATE;
        this.maker = maker;
        this.lanes = lanes;
        this.events = events;
        main = lanes.main();
    }

    private @Nullable Part region() {
        final Part[] all = main.parts.all();
        return all.length > 0 && all[0].growable != null ? all[0] : null;
    }

    boolean isUsed() {
        return region() != null;
    }

    /** By how much it grows if no more is needed, in bytes. */
    long stepBytes() {
        return region() == null ? firstRegionBytes : sizes.stepBytes(lanes.heldBytes(), firstRegionBytes);
    }

    void reserve() {
        final Part reserved = maker.reserve(limitBytes);
        if (reserved != null) {
            sizes = PieceSizes.of(
                    Objects.requireNonNull(reserved.growable).unitBytes(),
                    Math.min(limitBytes, maker.availableBytes()));
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
        }
    }

    /** Puts memory behind the region until it serves a request. An address, or {@code NO_SPACE} if there are no addresses. */
    long commitAndPlace(final long sizeBytes, final long alignmentBytes) {
        final Part region = region();
        if (region == null) {
            return Strategy.NO_SPACE;
        }
        while (true) {
            final long placed = place(region, false, sizeBytes, alignmentBytes);
            if (placed > Strategy.NO_SPACE) {
                return placed;
            }
            if (placed == Strategy.NO_SPACE || isScarceOfAddresses(region)) {
                final long filled = fillAndPlace(region, sizeBytes, alignmentBytes);
                if (filled > Strategy.NO_SPACE || placed == Strategy.NO_SPACE) {
                    return filled;
                }
            }
            // Others may take what is committed here before this thread does: then once more, for the end
            // that is next.
            if (!commit(region, ~placed)) {
                final long tried = place(region, true, sizeBytes, alignmentBytes);
                // No whole region either: the device has no more.
                return tried == Strategy.NO_SPACE ? Strategy.NO_SPACE - 1 : tried;
            }
        }
    }

    /** Then memory is put into holes first. */
    private static boolean isScarceOfAddresses(final Part region) {
        return region.holes.count() > 0 && region.memoryEnd() - region.taken.address() > region.taken.sizeBytes() / 2;
    }

    private long place(final Part region, final boolean onlyBacked, final long sizeBytes, final long alignmentBytes) {
        main.lock();
        try {
            if (onlyBacked) {
                // A slab needs more than the request: it may lie where nothing can be committed though there are holes.
                region.strategy.makeDo();
                region.gained();
            }
            final long placed = main.placeIn(region, sizeBytes, alignmentBytes);
            return onlyBacked && placed < Strategy.NO_SPACE
                    ? placeAroundTail(region, sizeBytes, alignmentBytes)
                    : placed;
        } finally {
            main.taken = false;
        }
    }

    /**
     * Places a block though the strategy prefers the addresses that nothing backs, and nothing can: a good fit takes the tail
     * if that is shorter than the other free blocks. With the tail in use meanwhile, as far as it is one free block, it takes
     * one of those.
     */
    private long placeAroundTail(final Part region, final long sizeBytes, final long alignmentBytes) {
        final Strategy strategy = region.strategy;
        final long tail =
                alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
        if (tail == Strategy.NO_SPACE) {
            return Strategy.NO_SPACE;
        }
        strategy.extend(tail, (region.used.endAddress() - tail) & -strategy.granuleBytes());
        final long placed = main.placeIn(region, sizeBytes, alignmentBytes);
        strategy.free(tail);
        region.gained();
        return Math.max(placed, Strategy.NO_SPACE);
    }

    /** Grows so that blocks may end there, if limit and device allow. */
    boolean commitTo(final long end) {
        final Part region = region();
        return region != null && commit(region, end);
    }

    private boolean commit(final Part region, final long end) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final PoolEvents.RegionTakenEvent event = events.beginRegionTaken();
        final long mostBytes = limitBytes - (lanes.heldBytes() - region.heldBytes);
        final long endBytes = growable.endBytes();
        try {
            return new InPlaceGrowth(growable, sizes, firstRegionBytes, isMoving(region), maker::availableBytes)
                    .commit(end - region.taken.address(), mostBytes);
        } finally {
            if (growable.endBytes() > endBytes) {
                event.commit(part(region, endBytes, growable.endBytes()));
            }
            backed(region);
        }
    }

    private boolean isMoving(final Part region) {
        final long unitBytes = Objects.requireNonNull(region.growable).unitBytes();
        return maker.canGather()
                && region.strategy.granuleBytes() <= unitBytes
                && (region.taken.address() & (unitBytes - 1)) == 0;
    }

    /** How much is free in whole pieces, which could move; negative if memory doesn't. */
    long movableBytes() {
        final Part region = region();
        if (region == null || !isMoving(region)) {
            return -1;
        }
        main.lock();
        try {
            return new FreePieces(region, 0, 0).bytes();
        } finally {
            main.taken = false;
        }
    }

    /** Memory for a block that no free block has room for, though all of them together have. An address, or {@code NO_SPACE}. */
    long gatherAndPlace(final long sizeBytes, final long alignmentBytes) {
        final Part region = region();
        if (region == null || !isMoving(region)) {
            return Strategy.NO_SPACE;
        }
        // Others may take what was gathered here before this thread does: then once more.
        for (int tries = 0; tries <= MOST_GATHERINGS; tries++) {
            final long placed = place(region, false, sizeBytes, alignmentBytes);
            if (placed >= 0) {
                return placed;
            }
            // A good fit prefers the addresses behind to a block that just fits.
            final long around = tries == 0 ? Strategy.NO_SPACE : place(region, true, sizeBytes, alignmentBytes);
            if (around >= 0) {
                return around;
            }
            final boolean fills = placed == Strategy.NO_SPACE || isScarceOfAddresses(region);
            if (fills && refill(region, sizeBytes, alignmentBytes)) {
                continue;
            }
            if (placed == Strategy.NO_SPACE || !gather(region, sizeBytes, ~placed)) {
                break;
            }
        }
        return Strategy.NO_SPACE;
    }

    /** What limit and device still allow. */
    private long unusedBytes(final Part region) {
        final long unitBytes = Objects.requireNonNull(region.growable).unitBytes();
        return Math.max(0, Math.min(limitBytes - lanes.heldBytes(), maker.availableBytes())) & -unitBytes;
    }

    /** While a stream is captured, nothing moves; and who isn't sure that nothing works on free memory waits. */
    private boolean mayMove() {
        return !work.isCapturing() && (!waits || work.synchronize());
    }

    /**
     * Puts memory behind the last one until a block can end there: of the device, and what it hasn't of free blocks.
     *
     * @param sizeBytes of the block
     * @return false if there isn't enough
     */
    private boolean gather(final Part region, final long sizeBytes, final long end) {
        // The device has less than it says, as a rule.
        final long unusedBytes = unusedBytes(region);
        return gather(region, sizeBytes, end, unusedBytes - unusedBytes / DEVICE_SHARE)
                || gather(region, sizeBytes, end, unusedBytes)
                || gather(region, sizeBytes, end, unusedBytes / 2)
                || gather(region, sizeBytes, end, 0);
    }

    private boolean gather(final Part region, final long sizeBytes, final long end, final long unusedBytes) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final long unitBytes = growable.unitBytes();
        final long memoryEnd = region.taken.address() + growable.endBytes();
        final long missingBytes = (end - memoryEnd + unitBytes - 1) & -unitBytes;
        final long mostBytes = unusedBytes & -unitBytes;
        final PoolEvents.MemoryMovedEvent event = events.beginMemoryMoved();
        final long heldBytes = region.heldBytes;
        final FreePieces pieces;
        long newBytes = -1;
        main.lock();
        try {
            pieces = new FreePieces(region, tailOf(region, memoryEnd), Long.MAX_VALUE);
            final long movingBytes = pieces.retire(Math.max(0, missingBytes - mostBytes), FreePieces.LARGEST_FIRST);
            newBytes = Math.max(0, missingBytes - movingBytes);
            if (newBytes > mostBytes || memoryEnd + newBytes + movingBytes > region.taken.endAddress()) {
                pieces.settle();
                return false;
            }
        } finally {
            main.taken = false;
        }
        long movedBytes = 0;
        try {
            if (pieces.count() > 0 && !mayMove()) {
                return false;
            }
            if (newBytes > 0) {
                growable.commit(memoryEnd, newBytes, sizes.ofBlock(sizeBytes));
            }
            growable.move(pieces.addresses(), pieces.count());
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            return false;
        } finally {
            movedBytes = settle(region, pieces);
            lanes.moved(movedBytes);
            event.commit(sizeBytes, movedBytes, region.heldBytes - heldBytes);
        }
    }

    /** Where the free block begins that memory ends with: a block that is larger than that is to begin there. */
    private static long tailOf(final Part region, final long memoryEnd) {
        final long[] tail = {memoryEnd};
        final long unitBytes = Objects.requireNonNull(region.growable).unitBytes();
        region.strategy.forEachFree(unitBytes, (block, address, sizeBytes) -> {
            if (address < memoryEnd && address + sizeBytes >= memoryEnd) {
                tail[0] = address;
            }
        });
        return tail[0];
    }

    private long settle(final Part region, final FreePieces pieces) {
        main.lock();
        try {
            return pieces.settle();
        } finally {
            main.taken = false;
            backed(region);
        }
    }

    /** Addresses come to an end. An address or {@code NO_SPACE}. */
    private long fillAndPlace(final Part region, final long sizeBytes, final long alignmentBytes) {
        return isMoving(region) && fill(region, sizeBytes, alignmentBytes, false, unusedBytes(region))
                ? place(region, true, sizeBytes, alignmentBytes)
                : Strategy.NO_SPACE;
    }

    private boolean refill(final Part region, final long sizeBytes, final long alignmentBytes) {
        // The device may have less than it says.
        return fill(region, sizeBytes, alignmentBytes, true, unusedBytes(region))
                || fill(region, sizeBytes, alignmentBytes, true, 0);
    }

    /**
     * Puts memory into holes so that there is room between others. It isn't moved there, since no piece would fit: what is missing
     * on the device goes back to it before.
     */
    private boolean fill(
            final Part region,
            final long sizeBytes,
            final long alignmentBytes,
            final boolean gives,
            final long unusedBytes) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final long unitBytes = growable.unitBytes();
        final PoolEvents.MemoryMovedEvent event = events.beginMemoryMoved();
        final long heldBytes = region.heldBytes;
        final FreePieces pieces;
        final List<Region> holes;
        main.lock();
        try {
            if (region.holes.count() == 0) {
                return false;
            }
            final long address = new HoleSearch(region, sizeBytes, alignmentBytes)
                    .find(region.taken.address() + growable.endBytes());
            if (address == HoleSearch.NOWHERE) {
                return false;
            }
            final long from = address & -unitBytes;
            final long to = (address + sizeBytes + unitBytes - 1) & -unitBytes;
            final long missingBytes = region.holes.bytesIn(from, to);
            pieces = new FreePieces(region, from, to);
            final long givenBytes =
                    pieces.retire(gives ? Math.max(0, missingBytes - unusedBytes) : 0, FreePieces.LARGEST_FIRST);
            holes = missingBytes - givenBytes > unusedBytes ? List.of() : region.holes.separated(from, to);
            if (holes.isEmpty()) {
                pieces.settle();
                return false;
            }
        } finally {
            main.taken = false;
        }
        int filled = 0;
        try {
            if (pieces.count() > 0 && !(mayMove() && givesBack(growable, pieces.addresses()))) {
                return false;
            }
            for (final Region hole : holes) {
                if (hole.address() - region.taken.address() > growable.endBytes()) {
                    // What went back was the last memory: these addresses are behind it now, where memory is put
                    // otherwise.
                    return true;
                }
                growable.commit(hole.address(), hole.sizeBytes(), sizes.ofBlock(sizeBytes));
                filled++;
            }
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            return false;
        } finally {
            settle(region, holes, filled);
            final long movedBytes = settle(region, pieces);
            lanes.moved(movedBytes);
            event.commit(sizeBytes, movedBytes, region.heldBytes - heldBytes);
        }
    }

    /** False if the region did nothing, since a capture has begun. */
    private static boolean givesBack(final GrowableRegion growable, final long[] pieces) {
        growable.giveBack(pieces, pieces.length);
        return Arrays.stream(pieces).noneMatch(piece -> growable.pieceBytes(piece) > 0);
    }

    /** Those that are filled have memory; the others are as if they had never been divided. */
    private void settle(final Part region, final List<Region> holes, final int filled) {
        main.lock();
        try {
            for (int i = 0; i < holes.size(); i++) {
                if (i < filled) {
                    region.holes.fill(holes.get(i).address());
                } else {
                    region.holes.joinAt(holes.get(i).address());
                    region.holes.joinAt(holes.get(i).endAddress());
                }
            }
        } finally {
            main.taken = false;
        }
    }

    /** Gives so much memory back, as far as it is free: whole pieces, the last ones first. */
    void giveBack(final long bytes) {
        final Part region = region();
        if (region != null) {
            if (isMoving(region)) {
                giveBackFree(region, bytes);
            } else {
                giveBackTail(region, bytes);
            }
        }
    }

    private void giveBackFree(final Part region, final long bytes) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final FreePieces pieces;
        main.lock();
        try {
            pieces = new FreePieces(region, 0, 0);
            pieces.retire(bytes, FreePieces.LAST_FIRST);
        } finally {
            main.taken = false;
        }
        long[] addresses = {};
        long[] bytesOfEach = {};
        try {
            addresses = pieces.addresses();
            bytesOfEach = bytesOf(growable, addresses);
            if (addresses.length > 0 && mayMove()) {
                growable.giveBack(addresses, addresses.length);
            }
        } finally {
            settle(region, pieces);
            tellGivenBack(growable, addresses, bytesOfEach);
        }
    }

    /** Where free memory can't be retired: nobody is handed any behind the last block in use, and who looks for some waits to grow. */
    private void giveBackTail(final Part region, final long bytes) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final long usedEnd = withdrawUnused(region);
        final long[] all = LongStream.iterate(
                        growable.pieceFrom(usedEnd),
                        piece -> piece < region.taken.endAddress(),
                        piece -> growable.pieceFrom(piece + 1))
                .toArray();
        int first = all.length;
        for (long left = bytes; first > 0 && left > 0; left -= growable.pieceBytes(all[first])) {
            first--;
        }
        final long[] addresses = Arrays.copyOfRange(all, first, all.length);
        final long[] bytesOfEach = bytesOf(growable, addresses);
        try {
            if (addresses.length > 0 && mayMove()) {
                growable.giveBack(addresses, addresses.length);
            }
        } finally {
            backed(region);
            tellGivenBack(growable, addresses, bytesOfEach);
        }
    }

    private static long[] bytesOf(final GrowableRegion growable, final long[] pieces) {
        return Arrays.stream(pieces).map(growable::pieceBytes).toArray();
    }

    /** An event for each row of pieces, which come in order of address, one way or the other. */
    private void tellGivenBack(final GrowableRegion growable, final long[] pieces, final long[] bytes) {
        long begin = 0;
        long end = 0;
        for (int i = 0; i < pieces.length; i++) {
            if (growable.pieceBytes(pieces[i]) == 0) {
                final long pieceEnd = pieces[i] + bytes[i];
                if (pieceEnd != begin && pieces[i] != end) {
                    tellGivenBack(begin, end);
                    begin = pieces[i];
                    end = pieceEnd;
                }
                begin = Math.min(begin, pieces[i]);
                end = Math.max(end, pieceEnd);
            }
        }
        tellGivenBack(begin, end);
    }

    private void tellGivenBack(final long begin, final long end) {
        if (end > begin) {
            events.beginRegionGivenBack().commit(new Region(begin, end - begin));
        }
    }

    private static Region part(final Part of, final long fromBytes, final long toBytes) {
        return new Region(of.taken.address() + fromBytes, toBytes - fromBytes);
    }

    /** From now on nobody is handed memory behind the last block in use; its end. Who looks for some waits to grow. */
    private long withdrawUnused(final Part region) {
        main.lock();
        try {
            final long end = region.usedEnd();
            region.withdrawBehind(end);
            return end;
        } finally {
            main.taken = false;
        }
    }

    private void backed(final Part region) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final long committedBytes = growable.committedBytes();
        final long end = region.taken.address() + growable.endBytes();
        main.lock();
        try {
            lanes.held(committedBytes - region.heldBytes);
            region.holes.endAt(end);
            region.back(committedBytes, end);
        } finally {
            main.taken = false;
        }
    }
}
