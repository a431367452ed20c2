package io.outboard.tlsf;

import io.outboard.core.StrategyOptions;

/**
 * These are {@link PowerOfTwoLists} by the policy of Bell, Kumar and Gill (2024), section V-A: a request takes only
 * blocks of lists in which every block fits, and a block that becomes free, or grows, is the first of its list.
 */
final class SureLists extends PowerOfTwoLists {

    SureLists(final StrategyOptions options) {
        super(options);
    }

    @Override
    int findFor(final long size) {
        return findFitting(size);
    }

    @Override
    int search(final long size, final long origin, final long alignmentMask) {
        return NONE;
    }

    @Override
    void insertFree(final int block, final int own, final int previous) {
        super.insertFree(block, NO_LIST, NONE);
    }
}
