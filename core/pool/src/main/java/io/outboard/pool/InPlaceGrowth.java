package io.outboard.pool;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;

/**
 * By how much a region grows in place, and shrinks. The region lock is held.
 *
 * @param region what grows
 * @param firstBytes the least that it grows by, if limit and device allow that
 */
record InPlaceGrowth(GrowableRegion region, long firstBytes) {

    /** A region grows by such a part of what it has: little that isn't needed, and not often. */
    private static final long SHARE = 64;

    /** By how much a region grows that has so much, if no more is needed. */
    static long stepBytes(final long committedBytes, final long firstBytes) {
        return Math.max(firstBytes, committedBytes / SHARE);
    }

    /**
     * Puts memory behind all up to an end at least; false if the limit or the device doesn't allow that.
     *
     * @param availableBytes what the device says that it has
     */
    boolean commit(final long leastEnd, final long limitBytes, final long availableBytes) {
        final long committedBytes = region.committedBytes();
        final long end = region.endBytes();
        if (leastEnd <= end) {
            return true;
        }
        final long moreBytes = (limitBytes & -region.unitBytes()) - committedBytes;
        final long mostEnd = Math.min(region.region().sizeBytes() - end, moreBytes) + end;
        if (leastEnd > mostEnd) {
            return false;
        }
        final long goodEnd = Math.min(Math.max(leastEnd, end + stepBytes(committedBytes, firstBytes)), mostEnd);
        // What the device says that it doesn't have isn't tried: some regions make a call for each unit.
        return (goodEnd - end <= availableBytes && tryCommit(goodEnd))
                || (goodEnd > leastEnd && leastEnd - end <= availableBytes && tryCommit(leastEnd));
    }

    private boolean tryCommit(final long end) {
        try {
            region.commit(end);
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            return false;
        }
    }
}
