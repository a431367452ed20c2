package io.outboard.pool.internal.growth;

import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.pool.internal.events.PoolEvents;
import java.util.Arrays;
import java.util.stream.LongStream;

/**
 * Gives memory of a region that grows in place back to the source, as far as it is free: whole pieces, the last ones first.
 *
 * <p>The region lock is held; the arena's lock isn't, since the source works meanwhile.
 */
final class Trimming {

    private final GrowingRegion region;
    private final GrowableRegion growable;
    private final PoolEvents events;

    Trimming(final GrowingRegion region, final PoolEvents events) {
        this.region = region;
        growable = region.growable;
        this.events = events;
    }

    /** So much, if there is so much. */
    void giveBack(final long bytes) {
        if (region.moves) {
            giveBackFree(bytes);
        } else {
            giveBackTail(bytes);
        }
    }

    private void giveBackFree(final long bytes) {
        final FreePieces pieces;
        region.arena.lock();
        try {
            pieces = new FreePieces(region.segment, 0, 0);
            pieces.retire(bytes, FreePieces.LAST_FIRST);
        } finally {
            region.arena.taken = false;
        }
        long[] addresses = {};
        long[] bytesOfEach = {};
        try {
            addresses = pieces.addresses();
            bytesOfEach = bytesOf(addresses);
            if (addresses.length > 0 && region.mayMove()) {
                growable.giveBack(addresses, addresses.length);
            }
        } finally {
            region.settle(pieces);
            tell(addresses, bytesOfEach);
        }
    }

    /** Where free memory can't be retired: nobody is handed any behind the last block in use, and who looks for some waits to grow. */
    private void giveBackTail(final long bytes) {
        final long regionEnd = region.segment.taken.endAddress();
        final long[] all = LongStream.iterate(
                        growable.pieceFrom(withdrawUnused()),
                        piece -> piece < regionEnd,
                        piece -> growable.pieceFrom(piece + 1))
                .toArray();
        int first = all.length;
        for (long left = bytes; first > 0 && left > 0; left -= growable.pieceBytes(all[first])) {
            first--;
        }
        final long[] addresses = Arrays.copyOfRange(all, first, all.length);
        final long[] bytesOfEach = bytesOf(addresses);
        try {
            if (addresses.length > 0 && region.mayMove()) {
                growable.giveBack(addresses, addresses.length);
            }
        } finally {
            region.changed();
            tell(addresses, bytesOfEach);
        }
    }

    /** From now on nobody is handed memory behind the last block in use; its end. Who looks for some waits to grow. */
    private long withdrawUnused() {
        region.arena.lock();
        try {
            final long end = region.segment.lastBlockEnd();
            region.segment.withdrawBehind(end);
            return end;
        } finally {
            region.arena.taken = false;
        }
    }

    private long[] bytesOf(final long[] pieces) {
        return Arrays.stream(pieces).map(growable::pieceBytes).toArray();
    }

    /** An event for each row of pieces, which come in order of address, one way or the other. */
    private void tell(final long[] pieces, final long[] bytes) {
        long begin = 0;
        long end = 0;
        for (int i = 0; i < pieces.length; i++) {
            if (growable.pieceBytes(pieces[i]) == 0) {
                final long pieceEnd = pieces[i] + bytes[i];
                if (pieceEnd != begin && pieces[i] != end) {
                    tellRow(begin, end);
                    begin = pieces[i];
                    end = pieceEnd;
                }
                begin = Math.min(begin, pieces[i]);
                end = Math.max(end, pieceEnd);
            }
        }
        tellRow(begin, end);
    }

    private void tellRow(final long begin, final long end) {
        if (end > begin) {
            events.beginRegionGivenBack().commit(new Region(begin, end - begin));
        }
    }
}
