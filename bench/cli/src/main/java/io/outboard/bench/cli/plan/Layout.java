package io.outboard.bench.cli.plan;

/** Where all blocks lie. Safe for any number of threads: nobody writes to its arrays. */
final class Layout {

    private final int[] offsets;
    private final int[] order;
    private final int top;

    Layout(final int[] offsets, final int[] order, final int top) {
        this.offsets = offsets;
        this.order = order;
        this.top = top;
    }

    /** Of each block, in granules. */
    int[] offsets() {
        return offsets;
    }

    /** In which placing each block at the lowest offset gives these; empty if they were found otherwise. */
    int[] order() {
        return order;
    }

    /** Where the highest block ends, in granules. */
    int top() {
        return top;
    }
}
