package io.outboard.tlsf;

import io.outboard.core.StrategyOptions;

/**
 * These free lists are in two levels, with a bitmap for each: Masmano, Ripoll, Crespo and Real (2004), section 3, with
 * sizes counted in granules.
 *
 * <p>The first level (fl there) splits sizes by power of two, the second (sl) splits each power of two into 32 lists of
 * equal width. Sizes below 32 granules have a list each. A list is numbered {@code first level * 32 + second level}:
 *
 * <pre>
 *   size in granules      list     width
 *   1, 2, .. 31           1..31    1
 *   32, 33, .. 63         32..63   1
 *   64, 66, .. 126        64..95   2
 *   2^m + k * 2^(m-5)     (m - 4) * 32 + k, k in 0..31
 * </pre>
 *
 * <p>Where we deviate: in the paper every block is put first into its list. Here, a block of the lower half is, which
 * {@link TlsfStrategy} defines; the others are put last. So requests divide the blocks of the lower half again and
 * again, and leave the others alone until their neighbours are free, too, and they merge. This order by one bit touches
 * no other record; lists sorted by address would need walks. The half follows what is in use, as of the last free, and
 * not the region, since that of a pool which grows is far larger than what is in use. The rule is ours.
 */
final class TwoLevelLists extends FreeLists {

    /**
     * The logarithm of the lists that a power of two is split into: a block taken is at most 1/32 larger than it need
     * be.
     */
    private static final int SECOND_LEVEL_LOG2 = 5;

    private static final int SECOND_LEVELS = 1 << SECOND_LEVEL_LOG2;

    /** Sizes end at 2^32 - 1, so the highest list that a size maps to is 28 * 32 - 1. */
    private static final int FIRST_LEVELS = 32 - SECOND_LEVEL_LOG2 + 1;

    private static final int LISTS = FIRST_LEVELS << SECOND_LEVEL_LOG2;

    /** The words of the second level start here. Those after the last level stay 0. */
    private static final int SECOND_LEVEL = firstWord(LISTS);

    private static final int WORDS = 33;

    /**
     * Bit f is set if word f of the second level isn't 0; bit s of that is set if list {@code 32 * f + s} isn't empty.
     */
    private int firstLevel;

    TwoLevelLists(final StrategyOptions options) {
        super(options, LISTS, WORDS);
    }

    @Override
    int listHolding(final long size) {
        final int widthLog2 = widthLog2(size);
        // From 32 on, the leading bit of the shifted size adds the one level that the sizes below take.
        return (widthLog2 << SECOND_LEVEL_LOG2) + (int) (size >>> widthLog2);
    }

    @Override
    int listFitting(final long size) {
        final int widthLog2 = widthLog2(size);
        return (widthLog2 << SECOND_LEVEL_LOG2) + (int) ((size + (1L << widthLog2) - 1) >>> widthLog2);
    }

    /**
     * Computes log2 of the width of the list that holds a size; the bit set in front makes that 0 for all sizes below
     * 32.
     */
    private static int widthLog2(final long size) {
        return 63 - SECOND_LEVEL_LOG2 - Long.numberOfLeadingZeros(size | SECOND_LEVELS);
    }

    @Override
    int side(final int block) {
        // The sign says which half the block is in, and IN_FRONT is -1: which one can't be foreseen, so no branch.
        return (int) ((half - 1 - Integer.toUnsignedLong(start(block))) >> 63);
    }

    @Override
    void mark(final int list) {
        final int level = list >>> SECOND_LEVEL_LOG2;
        put(SECOND_LEVEL + level, get(SECOND_LEVEL + level) | 1 << list);
        firstLevel |= 1 << level;
    }

    @Override
    void unmark(final int list, final int empty) {
        final int level = list >>> SECOND_LEVEL_LOG2;
        final int left = get(SECOND_LEVEL + level) & ~(empty << list);
        put(SECOND_LEVEL + level, left);
        firstLevel &= ~((zeroMask(left) & 1) << level);
    }

    @Override
    int findNonEmpty(final int list) {
        final int own = list >>> SECOND_LEVEL_LOG2;
        final int ownLists = get(SECOND_LEVEL + own) & (-1 << list);
        final int higher = Integer.numberOfTrailingZeros(firstLevel & (-2 << own));
        final int takeHigher = zeroMask(ownLists);
        final int lists = ownLists | (get(SECOND_LEVEL + higher) & takeHigher);
        if (lists == 0) {
            return NO_LIST;
        }
        final int level = (own & ~takeHigher) | (higher & takeHigher);
        return (level << SECOND_LEVEL_LOG2) + Integer.numberOfTrailingZeros(lists);
    }

    /**
     * Sets all bits if the value is 0, else none. It needs no branch, since whether a list is empty can't be foreseen.
     */
    private static int zeroMask(final int value) {
        return (int) ((Integer.toUnsignedLong(value) - 1) >> 63);
    }
}
