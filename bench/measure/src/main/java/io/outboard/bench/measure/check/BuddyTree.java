package io.outboard.bench.measure.check;

import java.util.Arrays;

/**
 * Reads the blocks of a region as the leaves of a row of buddy trees, and finds what can't be: a block that is no node,
 * and two buddies that are both free and whole. The first tree is the largest that fits into the region, and so on.
 * Confined to one thread.
 */
final class BuddyTree {

    private final int step;
    private final long[] classSizes;
    private final long granules;

    private long[] starts = new long[0];
    private long[] sizes = new long[0];
    private boolean[] free = new boolean[0];
    private int count;
    private int at;

    /** {@code step}: how many classes below a block's own its right half is; the left one is the class below. */
    BuddyTree(final int step, final long granules) {
        this.step = step;
        this.granules = granules;
        final long[] all = new long[Long.SIZE];
        all[0] = 1;
        int last = 0;
        while (all[last] <= granules) {
            last++;
            all[last] = all[last - 1] + all[Math.max(0, last - step)];
        }
        classSizes = Arrays.copyOf(all, last);
    }

    /** Compares blocks with the trees; throws if they don't agree. The arrays aren't kept. */
    void check(final long[] blockStarts, final long[] blockSizes, final boolean[] isFree, final int blocks) {
        starts = blockStarts;
        sizes = blockSizes;
        free = isFree;
        count = blocks;
        at = 0;
        long start = 0;
        for (int root = classSizes.length - 1; root >= 0; root--) {
            if (classSizes[root] <= granules - start) {
                isFreeNode(start, root);
                start += classSizes[root];
            }
        }
    }

    /** Reads the blocks of a node, and answers whether it is one block that is free. */
    private boolean isFreeNode(final long start, final int sizeClass) {
        final long size = classSizes[sizeClass];
        if (at == count || starts[at] != start || sizes[at] > size) {
            throw new ViolationException("a block at granule " + start + " is no node of the buddies' trees");
        }
        if (sizes[at] == size) {
            return free[at++];
        }
        final boolean left = isFreeNode(start, sizeClass - 1);
        final boolean right = isFreeNode(start + classSizes[sizeClass - 1], Math.max(0, sizeClass - step));
        if (left && right) {
            throw new ViolationException("both buddies at granule " + start + ", of " + size
                    + " granules together, are free and not merged");
        }
        return false;
    }
}
