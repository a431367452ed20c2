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

    /** A region grows by such a part of what it has: few calls of the driver, and little that isn't needed. */
    private static final long SHARE = 8;

    long committedBytes() {
        return region.committedBytes();
    }

    /** By how much a region grows that has so much, if no more is needed. */
    static long stepBytes(final long committedBytes, final long firstBytes) {
        return Math.max(firstBytes, committedBytes / SHARE);
    }

    /** Puts memory behind at least so many bytes; false if the limit or the device doesn't allow that. */
    boolean commit(final long leastBytes, final long limitBytes) {
        final long committedBytes = region.committedBytes();
        if (leastBytes <= committedBytes) {
            return true;
        }
        final long mostBytes =
                Math.min(limitBytes & -region.unitBytes(), region.region().sizeBytes());
        if (leastBytes > mostBytes) {
            return false;
        }
        final long stepBytes = stepBytes(committedBytes, firstBytes);
        final long goodBytes = Math.min(Math.max(leastBytes, committedBytes + stepBytes), mostBytes);
        return tryCommit(goodBytes) || (goodBytes > leastBytes && tryCommit(leastBytes));
    }

    private boolean tryCommit(final long bytes) {
        try {
            region.commit(bytes);
            return true;
        } catch (final DeviceOutOfMemoryException e) {
            return false;
        }
    }

    /** Takes memory away, but not from the first {@code usedBytes}, until no more than {@code mostBytes} are committed. */
    void decommit(final long usedBytes, final long mostBytes) {
        long belowBytes = 0;
        long keptBytes;
        do {
            keptBytes = Math.max(usedBytes, mostBytes - belowBytes);
            region.decommit(keptBytes);
            // A piece that begins before what may stay has to go, too.
            belowBytes = Math.max(2 * belowBytes, region.unitBytes());
        } while (region.committedBytes() > mostBytes && keptBytes > usedBytes);
    }
}
