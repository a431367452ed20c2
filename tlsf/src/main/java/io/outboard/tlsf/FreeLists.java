package io.outboard.tlsf;

import io.outboard.core.BlockTable;

/**
 * The free blocks of a region by size: two levels of lists and a bitmap for each level.
 *
 * <p>Masmano, Ripoll, Crespo and Real (2004), section 3, with sizes counted in granules. The first level (fl there)
 * splits sizes by power of two, the second (sl) splits each power of two into 32 lists of equal width. Sizes below 32
 * granules have a list each. A list is numbered {@code first level * 32 + second level}:
 *
 * <pre>
 *   size in granules      list     width
 *   1, 2, .. 31           1..31    1
 *   32, 33, .. 63         32..63   1
 *   64, 66, .. 126        64..95   2
 *   2^m + k * 2^(m-5)     (m - 4) * 32 + k, k in 0..31
 * </pre>
 *
 * <p>Confined to one thread. Every operation is O(1) but {@link #search} and {@link #largest}, which say so.
 */
final class FreeLists {

    /** log2 of the lists that a power of two is split into: a block taken is at most 1/32 larger than it need be. */
    private static final int SECOND_LEVEL_LOG2 = 5;

    private static final int SECOND_LEVELS = 1 << SECOND_LEVEL_LOG2;

    /** Sizes end at 2^32 - 1, so the highest list that a size maps to is 28 * 32 - 1. */
    private static final int FIRST_LEVELS = 32 - SECOND_LEVEL_LOG2 + 1;

    /** Bounds {@link #search}: a tenth of a microsecond or two, however long a list is. */
    private static final int SEARCH_STEPS = 64;

    /** Lists in all, list 0 included, which stays empty. */
    static final int LISTS = FIRST_LEVELS << SECOND_LEVEL_LOG2;

    /** No list: no block has size 0. */
    static final int NO_LIST = 0;

    /** Lists before this one are one granule wide, so each holds blocks of one size. */
    static final int FIRST_WIDE_LIST = 2 * SECOND_LEVELS;

    /** Host memory of the bitmaps, in bytes. */
    static final long HOST_BYTES = 33 * Integer.BYTES + 16 + 24;

    /** Bit f is set if {@code secondLevel[f]} isn't 0. */
    private int firstLevel;

    /** Bit s of element f is set if list {@code 32 * f + s} isn't empty. Elements after the last level stay 0. */
    private final int[] secondLevel = new int[33];

    /** The list that holds blocks of a size: {@code 0 < size < 2^32}. */
    static int listHolding(final long size) {
        final int widthLog2 = widthLog2(size);
        // From 32 on, the leading bit of the shifted size adds the one level that the sizes below take.
        return (widthLog2 << SECOND_LEVEL_LOG2) + (int) (size >>> widthLog2);
    }

    /** The first list whose blocks all have a size or more: at most {@link #LISTS}, which is no list. */
    static int listFitting(final long size) {
        final int widthLog2 = widthLog2(size);
        return (widthLog2 << SECOND_LEVEL_LOG2) + (int) ((size + (1L << widthLog2) - 1) >>> widthLog2);
    }

    /** log2 of the width of the list that holds a size; the bit set in front makes it 0 for all sizes below 32. */
    private static int widthLog2(final long size) {
        return 63 - SECOND_LEVEL_LOG2 - Long.numberOfLeadingZeros(size | SECOND_LEVELS);
    }

    void insert(final BlockTable table, final int block) {
        final int list = listHolding(Integer.toUnsignedLong(table.size(block)));
        table.push(block, list);
        secondLevel[list >>> SECOND_LEVEL_LOG2] |= 1 << list;
        firstLevel |= 1 << (list >>> SECOND_LEVEL_LOG2);
    }

    void remove(final BlockTable table, final int block) {
        final int list = table.list(block);
        final int level = list >>> SECOND_LEVEL_LOG2;
        final int left = secondLevel[level] & ~(table.unlink(block) << list);
        secondLevel[level] = left;
        firstLevel &= ~((zeroMask(left) & 1) << level);
    }

    /** The first block of the first list in which every block has {@code size} granules or more, or none. */
    int findFitting(final BlockTable table, final long size) {
        final int list = findNonEmpty(listFitting(size));
        return list == NO_LIST ? BlockTable.NONE : table.next(table.head(list));
    }

    /** The first list from this one, at most {@link #LISTS}, upwards that isn't empty, or {@link #NO_LIST}. */
    int findNonEmpty(final int list) {
        final int own = list >>> SECOND_LEVEL_LOG2;
        final int ownLists = secondLevel[own] & (-1 << list);
        final int higher = Integer.numberOfTrailingZeros(firstLevel & (-2 << own));
        final int takeHigher = zeroMask(ownLists);
        final int lists = ownLists | (secondLevel[higher] & takeHigher);
        if (lists == 0) {
            return NO_LIST;
        }
        final int level = (own & ~takeHigher) | (higher & takeHigher);
        return (level << SECOND_LEVEL_LOG2) + Integer.numberOfTrailingZeros(lists);
    }

    /**
     * A block that holds an aligned range, looked for from the request's own list upwards in a bounded number of steps.
     * For when {@link #findNonEmpty} has nothing: blocks in the request's own list may fit, or may not.
     *
     * @param size granules that the range needs
     * @param origin number of the region's first granule, counted from address 0
     * @param alignmentMask the range's first granule, counted from address 0, has none of these bits
     */
    int search(final BlockTable table, final long size, final long origin, final long alignmentMask) {
        int steps = 0;
        for (int list = findNonEmpty(listHolding(size)); list != NO_LIST; list = findNonEmpty(list + 1)) {
            final int head = table.head(list);
            for (int block = table.next(head); block != head; block = table.next(block)) {
                final long padding = -(origin + Integer.toUnsignedLong(table.start(block))) & alignmentMask;
                if (padding + size <= Integer.toUnsignedLong(table.size(block))) {
                    return block;
                }
                if (++steps == SEARCH_STEPS) {
                    return BlockTable.NONE;
                }
            }
        }
        return BlockTable.NONE;
    }

    /** All bits set if the value is 0, else none; whether a list is empty can't be foreseen, so no branch. */
    private static int zeroMask(final int value) {
        return (int) ((Integer.toUnsignedLong(value) - 1) >> 63);
    }

    /** The largest size of a free block, 0 if there is none. Looks at each block of the highest list. */
    long largest(final BlockTable table) {
        if (firstLevel == 0) {
            return 0;
        }
        final int level = 31 - Integer.numberOfLeadingZeros(firstLevel);
        final int list = (level << SECOND_LEVEL_LOG2) + 31 - Integer.numberOfLeadingZeros(secondLevel[level]);
        final int head = table.head(list);
        long largest = 0;
        for (int block = table.next(head); block != head; block = table.next(block)) {
            largest = Math.max(largest, Integer.toUnsignedLong(table.size(block)));
        }
        return largest;
    }
}
