package io.outboard.bench.cli.plan;

/** A layout says where all blocks lie. Safe for any number of threads, because nobody writes to its arrays. */
final class Layout {

    private final int[] offsets;
    private final int[] order;
    private final int top;

    Layout(final int[] offsets, final int[] order, final int top) {
        this.offsets = offsets;
        this.order = order;
        this.top = top;
    }

    /** Returns the offset of each block, in granules. */
    int[] offsets() {
        return offsets;
    }

    /**
     * Returns an order of the blocks that leads to these offsets if each block is placed at the lowest free offset;
     * empty if the offsets were found in another way.
     */
    int[] order() {
        return order;
    }

    /** Returns where the highest block ends, in granules. */
    int top() {
        return top;
    }
}
