package io.outboard.pool.internal.arena;

/**
 * What becomes of blocks that are freed, as far as arenas have to know.
 *
 * <p>Public for the pool's other packages, not for applications.
 *
 * @param immediate they are free at once; there is no limbo
 * @param ordered those of one stream wait for that alone, and come back to it before
 * @param limited the program says how much may be in limbo; else whole batches are looked at
 * @param mostNewBytes so much that is new in limbo is worth an epoch though memory isn't needed...
 * @param newShare ... or such a part of what the pool holds, if that is less; 0 for none
 * @param large a batch that has more than that is closed, however few its blocks are
 */
public record LimboRules(
        boolean immediate, boolean ordered, boolean limited, long mostNewBytes, long newShare, boolean large) {

    /**
     * The device's work is marked, which takes microseconds, when the blocks that aren't marked yet are more than such a part of
     * what the pool holds.
     */
    private static final long MARKED_SHARE = 8;

    /** With so much new in limbo, as a part of what the pool holds, the device is synchronised ahead of need. */
    private static final long AHEAD_SHARE = 4;

    /** There is no limbo. */
    public static final LimboRules NONE = new LimboRules(true, false, false, Long.MAX_VALUE, 0, false);

    /**
     * All wait until the device was synchronised.
     *
     * @param mostBytes of limbo, in bytes
     * @param ahead whether that may be done ahead of need
     */
    public static LimboRules synchronised(final long mostBytes, final boolean ahead) {
        return new LimboRules(false, false, mostBytes < Long.MAX_VALUE, mostBytes, ahead ? AHEAD_SHARE : 0, true);
    }

    /**
     * They wait for marks: of all work, or, if ordered, of each stream's. A mark costs the thread that frees a block, so there are
     * no more of them for large blocks.
     */
    public static LimboRules marked(final boolean ordered) {
        return new LimboRules(false, ordered, false, Long.MAX_VALUE, MARKED_SHARE, false);
    }

    /** So much that is new in limbo is worth an epoch though memory isn't needed, in bytes, in a pool that holds so much. */
    long recycledAbove(final long heldBytes) {
        return newShare == 0 ? mostNewBytes : Math.min(mostNewBytes, heldBytes / newShare);
    }

    /**
     * A batch of more bytes is closed, in a pool that holds so much: 64 large blocks may be more than all of that, and would
     * be waited for only when there is nothing left.
     */
    long closedAbove(final long heldBytes) {
        return large ? recycledAbove(heldBytes) : Long.MAX_VALUE;
    }
}
