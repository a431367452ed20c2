package io.outboard.bench.cli.plan;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A placement places blocks one after the other, each at the lowest offset at which it overlaps no block that is live
 * at the same time.
 *
 * <p>Time is cut into stretches of {@value #STRETCH} allocations. Each stretch has a list of the placed blocks that
 * live in it, in order of offset:
 *
 * <pre>
 *   offset
 *     ^   | CC |    |      stretch 0: A, C
 *     |   |  BBBBB  |      stretch 1: A, B
 *     |   | AAAAAAA |      stretch 2: A
 *     +---+----+----+--&gt; time
 * </pre>
 *
 * <p>A block that lives in one stretch is placed by one walk through its list. For a block that lives in several, the
 * lists are visited in turn. In each list the block moves up past the blocks in its way, until no list has a block in
 * its way. It never moves above the lowest free offset, since everything below its offset is taken by blocks that were
 * seen.
 *
 * <p>Thread-safety: confined to one thread. Cost: placing a block and taking it back are walks through the lists of its
 * life; 16 host bytes for each stretch of each block.
 */
final class Placement {

    /** The result of {@link #place} if the block would end above the ceiling. */
    static final int NO_ROOM = -1;

    private static final int STRETCH = 64;

    private static final int STRETCH_LOG2 = Integer.numberOfTrailingZeros(STRETCH);

    /** The number of fields of an entry in a list: offset, end, first and last moment of life. */
    private static final int ENTRY = 4;

    private final Lifetimes blocks;
    private final int[][] lists;
    private final int[] lengths;
    private final int[] offsets;

    Placement(final Lifetimes blocks) {
        this.blocks = blocks;
        final int stretches = (blocks.count() + STRETCH - 1) >>> STRETCH_LOG2;
        lists = new int[stretches][ENTRY * STRETCH];
        lengths = new int[stretches];
        offsets = new int[blocks.count()];
    }

    /** Takes all blocks back. */
    void clear() {
        Arrays.fill(lengths, 0);
    }

    /**
     * Takes all blocks back and places them in an order, which the layout keeps. Returns null if a block finds no room
     * below the ceiling.
     */
    @Nullable
    Layout placeAll(final int[] order, final int ceiling) {
        clear();
        int top = 0;
        for (final int block : order) {
            final int offset = place(block, ceiling);
            if (offset == NO_ROOM) {
                return null;
            }
            top = Math.max(top, offset + blocks.size(block));
        }
        return new Layout(offsets.clone(), order, top);
    }

    /**
     * Places a block that isn't placed.
     *
     * @param ceiling granules; no block may end above it
     * @return the block's offset in granules, or {@link #NO_ROOM}, and nothing changes
     */
    int place(final int block, final int ceiling) {
        final int offset = lowest(block, ceiling - blocks.size(block));
        if (offset != NO_ROOM) {
            offsets[block] = offset;
            enter(block, offset);
        }
        return offset;
    }

    private int lowest(final int block, final int highest) {
        final int size = blocks.size(block);
        final int first = block;
        final int last = blocks.end(block) - 1;
        final int from = first >>> STRETCH_LOG2;
        final int to = last >>> STRETCH_LOG2;
        int offset = 0;
        int stretch = from;
        for (int quiet = 0; quiet <= to - from && offset <= highest; quiet++) {
            final int above = above(stretch, offset, size, first, last);
            if (above != offset) {
                offset = above;
                quiet = 0;
            }
            stretch = stretch == to ? from : stretch + 1;
        }
        return offset <= highest ? offset : NO_ROOM;
    }

    /** Returns the lowest offset, from {@code from} up, at which no block of a stretch is in the way. */
    private int above(final int stretch, final int from, final int size, final int first, final int last) {
        final int[] list = lists[stretch];
        final int length = lengths[stretch];
        int offset = from;
        for (int i = 0; i < length && list[i] - size < offset; i += ENTRY) {
            if (list[i + 1] > offset && list[i + 2] <= last && list[i + 3] >= first) {
                offset = list[i + 1];
            }
        }
        return offset;
    }

    private void enter(final int block, final int offset) {
        final int last = blocks.end(block) - 1;
        for (int stretch = block >>> STRETCH_LOG2; stretch <= last >>> STRETCH_LOG2; stretch++) {
            final int length = lengths[stretch];
            if (length == lists[stretch].length) {
                lists[stretch] = Arrays.copyOf(lists[stretch], 2 * length);
            }
            final int[] list = lists[stretch];
            final int at = firstAtOrAbove(list, length, offset);
            System.arraycopy(list, at, list, at + ENTRY, length - at);
            list[at] = offset;
            list[at + 1] = offset + blocks.size(block);
            list[at + 2] = block;
            list[at + 3] = last;
            lengths[stretch] = length + ENTRY;
        }
    }

    /** Takes a placed block back. */
    void takeBack(final int block) {
        final int last = blocks.end(block) - 1;
        for (int stretch = block >>> STRETCH_LOG2; stretch <= last >>> STRETCH_LOG2; stretch++) {
            final int length = lengths[stretch];
            final int[] list = lists[stretch];
            int at = firstAtOrAbove(list, length, offsets[block]);
            while (list[at + 2] != block) {
                at += ENTRY;
            }
            System.arraycopy(list, at + ENTRY, list, at, length - at - ENTRY);
            lengths[stretch] = length - ENTRY;
        }
    }

    private static int firstAtOrAbove(final int[] list, final int length, final int offset) {
        int low = 0;
        int high = length / ENTRY;
        while (low < high) {
            final int middle = (low + high) >>> 1;
            if (list[middle * ENTRY] < offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low * ENTRY;
    }
}
