package io.outboard.tlsf;

import io.outboard.core.StrategyOptions;

/**
 * These are {@link TwoLevelLists} in which a block is first if it lies below the one that is first, and else second.
 * So low addresses are divided before high ones, as far as two blocks can tell, and high ones have time to merge.
 */
final class FrugalLists extends TwoLevelLists {

    FrugalLists(final StrategyOptions options) {
        super(options);
    }

    /**
     * Places a block by its address. In an empty list the first is the list's head, so both answers are the same, and
     * whatever start is read there doesn't matter.
     */
    @Override
    int placeFor(final int block, final int list) {
        final int head = head(list);
        final int first = next(head);
        return Integer.compareUnsigned(start(block), start(first)) < 0 ? head : first;
    }
}
