package io.outboard.pool.internal.growth;

/**
 * How large the pieces are that a region's memory consists of. To add or move one takes as long for a small one as for a large one;
 * but a block in use keeps all of a large one where it is.
 *
 * @param small of what blocks share, which are small themselves, in bytes
 * @param most of those that a single block has, unless it is very large, in bytes
 */
record PieceSizes(long small, long most) {

    /** So many are all memory, of a device that hasn't very much. */
    private static final long SMALL_SHARE = 1L << 15;

    private static final long MOST_SHARE = 1L << 11;

    private static final long MOST_SMALL = 1L << 22;
    private static final long MOST = 1L << 26;

    /** By so many small ones a region grows at once, at most: larger blocks that come to lie there can't move at once. */
    private static final long STEP = 2;

    /**
     * As long as a region has less than so many first ones it grows by those, for a large block, too: what it doesn't need is no great
     * part of a device, and arenas and limbo are faster with some room.
     */
    private static final long FEW = 8;

    /** Of a step no piece has more: blocks share it. With 32 MiB too few move for a block of 0.4 of a device (PoolGatherTest). */
    private static final long MOST_STEP_PIECE = 16L << 20;

    /** What an arena that holds little, or takes memory over from others, grows by at a time: a caller waits for it. */
    static final long SHORT_STEP = 32L << 20;

    /** No step has more, unless the request needs it: a caller waits for it, and others for the region lock. */
    static final long MOST_STEP = 256L << 20;

    /** A block of any size has about so many. */
    private static final long BLOCK_SHARE = 64;

    /** For a region of such units that has at most so much memory. */
    static PieceSizes of(final long unitBytes, final long memoryBytes) {
        return new PieceSizes(
                Math.max(unitBytes, Math.min(MOST_SMALL, Long.highestOneBit(memoryBytes / SMALL_SHARE))),
                Math.max(unitBytes, Math.min(MOST, Long.highestOneBit(memoryBytes / MOST_SHARE))));
    }

    /** Of those of a step of that size: few, since each takes calls of the driver. */
    long ofStep(final long sizeBytes) {
        return Math.max(small, Math.min(Math.min(most, MOST_STEP_PIECE), Long.highestOneBit(sizeBytes)));
    }

    /** Of those of a block of that size. */
    long ofBlock(final long sizeBytes) {
        return Math.max(most, Long.highestOneBit(sizeBytes / BLOCK_SHARE));
    }

    /** Whether it grows by no more than a large block needs. */
    static boolean isExact(final long heldBytes, final long firstRegionBytes) {
        return heldBytes / FEW >= firstRegionBytes;
    }

    /** By how much a region grows that has so much, if no more is needed. */
    long stepBytes(final long heldBytes, final long firstRegionBytes) {
        if (heldBytes < firstRegionBytes) {
            return firstRegionBytes - heldBytes;
        }
        final long leastBytes = isExact(heldBytes, firstRegionBytes) ? 0 : Math.min(firstRegionBytes, SHORT_STEP);
        return Math.max(leastBytes, STEP * small);
    }
}
