package io.outboard.pool.internal.growth;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;

/**
 * By how much a region grows in place, and in which pieces. The region lock is held.
 *
 * @param region what grows
 * @param sizes how large its pieces are
 * @param firstBytes what it has at least, if limit and device allow that
 * @param busyBytes by how much it grows at least, if they do, also for a large block
 * @param moves whether its pieces are to move
 * @param maker asks what the device says that it has, which costs as much as a small piece, and is told what it refuses
 */
record InPlaceGrowth(
        GrowableRegion region, PieceSizes sizes, long firstBytes, long busyBytes, boolean moves, RegionMaker maker) {

    /** Puts memory behind all up to an end at least; false if the limit or the device doesn't allow that. */
    boolean commit(final long leastEnd, final long limitBytes) {
        final long unitBytes = region.unitBytes();
        final long end = region.endBytes();
        if (leastEnd <= end) {
            return true;
        }
        final long committedBytes = region.committedBytes();
        final long moreBytes = (limitBytes & -unitBytes) - committedBytes;
        final long mostEnd = Math.min(region.region().sizeBytes() - end, moreBytes) + end;
        if (leastEnd > mostEnd) {
            return false;
        }
        final long roundedEnd = Math.min((leastEnd + unitBytes - 1) & -unitBytes, mostEnd);
        final long stepBytes = Math.max(busyBytes, sizes.stepBytes(committedBytes, firstBytes));
        final long stepEnd = Math.min(end + stepBytes, mostEnd) & -unitBytes;
        final long missingBytes = roundedEnd - end;
        if (missingBytes > sizes.most() && !isAvailable(missingBytes)) {
            return false;
        }
        if (!moves) {
            return tryCommit(end, Math.max(roundedEnd, stepEnd), sizes.ofBlock(missingBytes))
                    || tryCommit(end, roundedEnd, sizes.ofBlock(missingBytes));
        }
        if (leastEnd - end < sizes.small() || committedBytes + missingBytes < firstBytes) {
            return tryCommit(end, Math.max(roundedEnd, stepEnd), sizes.ofStep(stepBytes))
                    || tryCommit(end, roundedEnd, sizes.small());
        }
        // Its last unit is for its neighbour, too, which would keep the whole piece here.
        final long ownEnd = leastEnd & -unitBytes;
        final boolean done = (ownEnd <= end || tryCommit(end, ownEnd, sizes.ofBlock(missingBytes)))
                && (ownEnd == roundedEnd || tryCommit(Math.max(end, ownEnd), roundedEnd, unitBytes));
        if (done && stepEnd > roundedEnd && (busyBytes > 0 || !PieceSizes.isExact(committedBytes, firstBytes))) {
            // As much as there is.
            tryCommit(roundedEnd, stepEnd, sizes.ofStep(stepBytes));
        }
        return done;
    }

    /** Else as many pieces would be made as there is memory for, and given back. */
    private boolean isAvailable(final long missingBytes) {
        final long availableBytes = maker.availableBytes();
        if (missingBytes > availableBytes) {
            maker.refused(DeviceOutOfMemoryException.ofDevice(missingBytes, availableBytes, maker.scarcity()));
        }
        return missingBytes <= availableBytes;
    }

    private boolean tryCommit(final long from, final long to, final long pieceBytes) {
        try {
            region.commit(region.region().address() + from, to - from, pieceBytes);
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            maker.refused(e);
            return false;
        }
    }
}
