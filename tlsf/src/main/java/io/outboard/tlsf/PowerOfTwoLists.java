package io.outboard.tlsf;

import io.outboard.core.StrategyOptions;

/**
 * There is a free list for each power of two, and one bitmap: Bell, Kumar and Gill (2024), section V-A.
 *
 * <pre>
 *   size in granules      1    2, 3    4..7    2^m .. 2^(m+1) - 1
 *   list                  1    2       3       m + 1
 * </pre>
 */
class PowerOfTwoLists extends FreeLists {

    private static final int LISTS = 33;

    /** Bit n is set if list n isn't empty. */
    private long nonEmpty;

    PowerOfTwoLists(final StrategyOptions options) {
        super(options, LISTS, 0);
    }

    @Override
    int listHolding(final long size) {
        return Long.SIZE - Long.numberOfLeadingZeros(size);
    }

    @Override
    int listFitting(final long size) {
        return Long.SIZE + 1 - Long.numberOfLeadingZeros(size - 1);
    }

    @Override
    void mark(final int list) {
        nonEmpty |= 1L << list;
    }

    @Override
    void unmark(final int list, final int empty) {
        nonEmpty &= ~((long) empty << list);
    }

    @Override
    int findNonEmpty(final int list) {
        final long lists = nonEmpty & (-1L << list);
        return lists == 0 ? NO_LIST : Long.numberOfTrailingZeros(lists);
    }
}
