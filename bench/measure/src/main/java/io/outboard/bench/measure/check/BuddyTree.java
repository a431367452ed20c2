package io.outboard.bench.measure.check;

import java.util.Arrays;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;

/**
 * The class reads the blocks of a region as the leaves of a row of buddy trees, and finds two faults: a block that is
 * no node of a tree, and two buddies that are both free and undivided. The first tree is the largest that fits into the
 * region, the second is the largest that fits behind the first, and so on. Of two systems, each divides half of the
 * region like this, but for what isn't a multiple of three, and the trees of both come in the order of their sizes. Confined to one thread.
 */
final class BuddyTree {

    /** The granules from which on two systems divide a region. */
    private static final long LEAST_DIVIDED = 16;

    private final int systems;
    private final int step;
    private final long[] classSizes;
    private final int[] roots;

    private long[] starts = new long[0];
    private long[] sizes = new long[0];
    private boolean[] free = new boolean[0];
    private int count;
    private int at;

    /**
     * {@code step} is the number of size classes between a block and its right half; the left half is one class below
     * the block, or, if its size is in the second of two systems or above, {@code systems} classes.
     */
    BuddyTree(final int systems, final int step, final long granules) {
        this.systems = systems;
        this.step = step;
        final long[] all = new long[Long.SIZE + 1];
        all[0] = 1;
        int last = 0;
        while (all[last] <= granules) {
            last++;
            all[last] = all[left(last)] + all[Math.max(0, last - step)];
        }
        classSizes = Arrays.copyOf(all, last);
        final long ofSecond = systems == 1 || granules < LEAST_DIVIDED ? 0 : granules / 2 - granules / 2 % 3;
        roots = IntStream.concat(
                        rootsOf(granules - ofSecond, size -> systems == 1 || size % 3 != 0),
                        rootsOf(ofSecond, size -> size % 3 == 0))
                .map(root -> -root)
                .sorted()
                .map(root -> -root)
                .toArray();
    }

    private int left(final int sizeClass) {
        return sizeClass <= 2 ? sizeClass - 1 : sizeClass - systems;
    }

    private IntStream rootsOf(final long granules, final LongPredicate isSize) {
        final IntStream.Builder found = IntStream.builder();
        long left = granules;
        for (int root = classSizes.length - 1; root >= 0; root--) {
            if (classSizes[root] <= left && isSize.test(classSizes[root])) {
                found.add(root);
                left -= classSizes[root];
            }
        }
        return found.build();
    }

    /** Compares blocks with the trees, and throws if they don't agree. The arrays aren't kept. */
    void check(final long[] blockStarts, final long[] blockSizes, final boolean[] isFree, final int blocks) {
        starts = blockStarts;
        sizes = blockSizes;
        free = isFree;
        count = blocks;
        at = 0;
        long start = 0;
        for (final int root : roots) {
            isFreeNode(start, root);
            start += classSizes[root];
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
        final boolean left = isFreeNode(start, left(sizeClass));
        final boolean right = isFreeNode(start + classSizes[left(sizeClass)], Math.max(0, sizeClass - step));
        if (left && right) {
            throw new ViolationException("both buddies at granule " + start + ", of " + size
                    + " granules together, are free and not merged");
        }
        return false;
    }
}
