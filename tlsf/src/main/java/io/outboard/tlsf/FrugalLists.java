package io.outboard.tlsf;

/**
 * {@link TwoLevelLists} in which a block is first if it lies below the one that is first, and else second. So low addresses are
 * divided before high ones, as far as two blocks can tell, and high ones have time to merge.
 */
final class FrugalLists extends TwoLevelLists {

    /** In an empty list what is first is its head, so both answers are the same, and nothing that is read matters. */
    @Override
    int placeFor(final BlockTable table, final int block, final int list) {
        final int head = table.head(list);
        final int first = table.next(head);
        return Integer.compareUnsigned(table.start(block), table.start(first)) < 0 ? head : first;
    }
}
