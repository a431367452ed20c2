package io.outboard.bench.measure.check;

import java.util.Arrays;

/**
 * The class reads the blocks of a region as the leaves of a row of buddy trees, and finds two faults: a block that is
 * no node of a tree, and two buddies that are both free and undivided. The first tree is the largest that fits into the
 * region, the second is the largest that fits behind the first, and so on. Confined to one thread.
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

    /**
     * {@code step} is the number of size classes between a block and its right half; the left half is always one class
     * below the block.
     */
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

    /** Compares blocks with the trees, and throws if they don't agree. The arrays aren't kept. */
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

    /** Reads the blocks of a node, and returns whether the node is a single free block. */
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
