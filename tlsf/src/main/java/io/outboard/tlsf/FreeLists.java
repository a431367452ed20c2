package io.outboard.tlsf;

import io.outboard.core.StrategyOptions;
import java.util.function.IntConsumer;

/**
 * This table has the blocks of a region, the free ones in lists by size, and a bitmap of the lists that hold any.
 * Subclasses say how a size maps to a list: that is all that segregated fit and its two-level kin differ in. This
 * class extends the table rather than have one, since each object between an operation and the records costs a load, a
 * check, and code: a method that C2 compiles to more than 2,500 bytes isn't inlined any more.
 *
 * <p>Lists are numbered from 1 in the order of the sizes that they hold. Sizes count granules: {@code 0 < size < 2^32}.
 *
 * <p>Confined to one thread. Every operation is O(1) but {@link #search} and {@link #forEachFrom}, which say so.
 */
abstract class FreeLists extends BlockTable {

    /** The number that stands for no list: no block has size 0. */
    static final int NO_LIST = 0;

    /**
     * The bound of {@link #search}, however long a list is: 0.15 to 0.6 microseconds where the blocks' records are in
     * the processor's caches, 10 to 20 where none is (2026-11-28).
     */
    private static final int SEARCH_STEPS = 64;

    /** Half of the granules that are in use, as {@link #noteUsed} was told. */
    long half;

    /**
     * Makes a table without blocks, of {@code lists} lists in all, list 0 included, which stays empty.
     */
    FreeLists(final StrategyOptions options, final int lists, final int words) {
        super(options.firstBlocks(), options.maxBlocks(), lists, words);
    }

    /** Tells the list that holds blocks of a size. */
    abstract int listHolding(long size);

    /** Tells the first list whose blocks all have a size or more: at most the number of lists, which is no list. */
    abstract int listFitting(long size);

    /**
     * Finds the first list that isn't empty, upwards from {@code list}, at most the number of lists, or {@link
     * #NO_LIST}.
     */
    abstract int findNonEmpty(int list);

    /** Notes that a list isn't empty. */
    abstract void mark(int list);

    /**
     * Notes that a list is empty if {@code empty} is 1, nothing if that is 0: which of them can't be foreseen, so
     * there is no branch.
     */
    abstract void unmark(int list, int empty);

    /** Notes how many granules of the region are in use; {@link #side} may depend on that. */
    final void noteUsed(final long used) {
        half = used >>> 1;
    }

    /** Puts a block that was in no list into that of its size, on the {@link #side} that is its own. */
    final void insertFree(final int block) {
        insertFree(block, NO_LIST, NONE);
    }

    /**
     * Puts a block into the list of its size: where it was if it was in that one, else on the {@link #side} that is its
     * own.
     *
     * @param own the list that it was in, or {@link #NO_LIST}
     * @param previous the one that it was behind there: a block, or the list's head
     */
    void insertFree(final int block, final int own, final int previous) {
        final int list = listHolding(Integer.toUnsignedLong(size(block)));
        // One call, since C2 wouldn't inline one that is rare, and a call would cost those who don't make it, too.
        final boolean keeps = list == own;
        link(block, list, keeps ? previous : head(list), keeps ? BEHIND : side(block));
        mark(list);
    }

    final void removeFree(final int block) {
        final int list = list(block);
        unmark(list, unlink(block));
    }

    /**
     * Tells whether a block becomes the first of a list that it wasn't in, {@link #BEHIND} the head, or the last,
     * {@link #IN_FRONT} of it.
     */
    int side(final int block) {
        return BEHIND;
    }

    /**
     * Finds the block that a request takes, or none: the first of the request's own list, in which only some blocks
     * fit, if that one does; else the first that {@link #findFitting} finds, or else {@link #search}.
     */
    int findFor(final long size) {
        final int ownHead = head(listHolding(size));
        final int first = next(ownHead);
        if (first != ownHead && Integer.toUnsignedLong(size(first)) >= size) {
            return first;
        }
        // This doesn't call findFitting, which would ask twice whether there is a list: 3 % of an operation on paper
        // (2026-11-24).
        final int list = findNonEmpty(listFitting(size));
        return list == NO_LIST ? search(size, 0, 0) : next(head(list));
    }

    /** Finds the first block of the first list in which every block has {@code size} granules or more, or none. */
    final int findFitting(final long size) {
        final int list = findNonEmpty(listFitting(size));
        return list == NO_LIST ? NONE : next(head(list));
    }

    /**
     * Finds a block that holds an aligned range, from the request's own list upwards in a bounded number of steps.
     * That is for when {@link #findNonEmpty} has nothing: blocks in the request's own list may fit, or may not.
     *
     * @param size granules that the range needs
     * @param origin number of the region's first granule, counted from address 0
     * @param alignmentMask the range's first granule, counted from address 0, has none of these bits
     */
    int search(final long size, final long origin, final long alignmentMask) {
        int steps = 0;
        for (int list = findNonEmpty(listHolding(size)); list != NO_LIST; list = findNonEmpty(list + 1)) {
            final int head = head(list);
            for (int block = next(head); block != head; block = next(block)) {
                final long padding = -(origin + Integer.toUnsignedLong(start(block))) & alignmentMask;
                if (padding + size <= Integer.toUnsignedLong(size(block))) {
                    return block;
                }
                if (++steps == SEARCH_STEPS) {
                    return NONE;
                }
            }
        }
        return NONE;
    }

    /** Shows the blocks of {@code least} granules or more. O(blocks in lists of such). */
    final void forEachFrom(final long least, final IntConsumer visitor) {
        for (int list = findNonEmpty(listHolding(least)); list != NO_LIST; list = findNonEmpty(list + 1)) {
            final int head = head(list);
            for (int block = next(head); block != head; block = next(block)) {
                if (Integer.toUnsignedLong(size(block)) >= least) {
                    visitor.accept(block);
                }
            }
        }
    }
}
