package io.outboard.tlsf;

import io.outboard.core.StrategyOptions;

/**
 * These free lists are in two levels, with a bitmap for each: Masmano, Ripoll, Crespo and Real (2004), section 3, with
 * sizes counted in granules.
 *
 * <p>The first level (fl there) splits sizes by power of two, the second (sl) splits each power of two into 32 lists of
 * equal width, or, from 2^14 granules on, 64. Sizes below 32 granules have a list each:
 *
 * <pre>
 *   size in granules                     list                       width
 *   1, 2, .. 31                          1..31                      1
 *   32, 33, .. 63                        32..63                     1
 *   64, 66, .. 126                       64..95                     2
 *   2^m + k * 2^(m-5), m below 14        (m - 4) * 32 + k           2^(m-5)     k in 0..31
 *   2^m + k * 2^(m-6), m from 14 on      (m - 9) * 64 + k           2^(m-6)     k in 0..63
 * </pre>
 *
 * <p>So a block taken is at most 1/32 larger than it need be, and a large one 1/64. The finer lists save what would be
 * left over from large blocks, and too small for most requests: the profiles {@code paper} and {@code mimalloc} need
 * regions that are 0.4 % smaller. From 2^12 granules on they are no better, and a recorded trace, Llama's, needs more,
 * from 2^10 on 2.5 % (2026-11-29).
 *
 * <p>Where we deviate: in the paper every block is put first into its list. Here, a block of the lower half is, which
 * {@link TlsfStrategy} defines; the others are put last. So requests divide the blocks of the lower half again and
 * again, and leave the others alone until their neighbours are free, too, and they merge. This order by one bit touches
 * no other record; lists sorted by address would need walks. The half follows what is in use, as of the last free, and
 * not the region, since that of a pool which grows is far larger than what is in use. The rule is ours.
 */
final class TwoLevelLists extends FreeLists {

    /** The logarithm of the lists of which a word of the second level knows. */
    private static final int WORD_LOG2 = 5;

    /** The bits of a number to which a shift of a long looks. */
    private static final int SHIFT_BITS = 6;

    /** The first power of two that is split into 64 lists, by its logarithm. */
    private static final int FINE = 14;

    /** The words that know of a list. Sizes end at 2^32 - 1, whose list is the last of these. */
    private static final int LEVELS = 2 * 32 - FINE - WORD_LOG2 + 1;

    private static final int LISTS = LEVELS << WORD_LOG2;

    /** What {@link #shape} tells, by the leading zeros of a size. */
    private static final int[] SHAPES = new int[Long.SIZE];

    static {
        for (int power = 0; power < Long.SIZE; power++) {
            // The leading bit of the shifted size counts as one word more, or two.
            final int words = power < FINE ? Math.max(power - WORD_LOG2, 0) : 2 * power - WORD_LOG2 - FINE - 1;
            final int widthLog2 = power < FINE ? Math.max(power - WORD_LOG2, 0) : power - WORD_LOG2 - 1;
            SHAPES[Long.SIZE - 1 - power] = words << (WORD_LOG2 + SHIFT_BITS) | widthLog2;
        }
    }

    /** The words of the second level start here. Two after the last level stay 0. */
    private static final int SECOND_LEVEL = firstWord(LISTS);

    private static final int WORDS = LEVELS + 2;

    /**
     * Bit f is set if word f of the second level isn't 0; bit s of that is set if list {@code 32 * f + s} isn't empty.
     * The bit of the last word, which is 0, is set, too: so there is always a higher one, also where the list that
     * isn't there is asked about.
     */
    private long firstLevel = 1L << (LEVELS + 1);

    TwoLevelLists(final StrategyOptions options) {
        super(options, LISTS, WORDS);
    }

    @Override
    int listHolding(final long size) {
        final int shape = shape(size);
        return (shape >>> SHIFT_BITS) + (int) (size >>> shape);
    }

    @Override
    int listFitting(final long size) {
        final int shape = shape(size);
        return (shape >>> SHIFT_BITS) + (int) ((size + (1L << shape) - 1) >>> shape);
    }

    /**
     * Tells how a size's power of two is split: in the lowest bits, log2 of a list's width; above them, what the size
     * in widths lacks of the number of its list.
     */
    private static int shape(final long size) {
        // Sizes aren't 0, and the mask shows C2 that no position is outside.
        return SHAPES[Long.numberOfLeadingZeros(size) & Long.SIZE - 1];
    }

    @Override
    int side(final int block) {
        // The sign says which half the block is in, and IN_FRONT is -1: which one can't be foreseen, so no branch.
        return (int) ((half - 1 - Integer.toUnsignedLong(start(block))) >> 63);
    }

    @Override
    void mark(final int list) {
        final int level = list >>> WORD_LOG2;
        put(SECOND_LEVEL + level, get(SECOND_LEVEL + level) | 1 << list);
        firstLevel |= 1L << level;
    }

    @Override
    void unmark(final int list, final int empty) {
        final int level = list >>> WORD_LOG2;
        final int left = get(SECOND_LEVEL + level) & ~(empty << list);
        put(SECOND_LEVEL + level, left);
        firstLevel &= ~((zeroMask(left) & 1L) << level);
    }

    @Override
    int findNonEmpty(final int list) {
        final int own = list >>> WORD_LOG2;
        final int ownLists = get(SECOND_LEVEL + own) & (-1 << list);
        final int higher = Long.numberOfTrailingZeros(firstLevel & (-2L << own));
        final int takeHigher = zeroMask(ownLists);
        final int lists = ownLists | (get(SECOND_LEVEL + higher) & takeHigher);
        if (lists == 0) {
            return NO_LIST;
        }
        final int level = (own & ~takeHigher) | (higher & takeHigher);
        return (level << WORD_LOG2) + Integer.numberOfTrailingZeros(lists);
    }

    /**
     * Sets all bits if the value is 0, else none. It needs no branch, since whether a list is empty can't be foreseen.
     */
    private static int zeroMask(final int value) {
        return (int) ((Integer.toUnsignedLong(value) - 1) >> 63);
    }
}
