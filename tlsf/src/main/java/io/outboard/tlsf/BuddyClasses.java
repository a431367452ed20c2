package io.outboard.tlsf;

import java.util.Arrays;

/**
 * These are the sizes that blocks of a buddy system have, in granules. A block of one class splits into a left one of
 * the class below and a right one that is {@code step} classes below, or of class 0:
 *
 * <pre>
 *   class                    0   1   2   3   4    5    6
 *   step 1, binary           1   2   4   8   16   32   64    size(c) = 2 size(c - 1)
 *   step 2, Fibonacci        1   2   3   5   8    13   21    size(c) = size(c - 1) + size(c - 2)
 * </pre>
 *
 * <p>The last class is the first that no region holds. Immutable: safe for any number of threads.
 */
final class BuddyClasses {

    private static final long END_OF_SIZES = 1L << 32;

    private final int step;
    private final long[] sizes;

    /** The first class of 2^(b-1) + 1 granules or more, for each b. The last one's size may have a bit more than 32. */
    private final int[] firstOfBits = new int[Integer.SIZE + 2];

    BuddyClasses(final int step) {
        this.step = step;
        final long[] all = new long[Long.SIZE];
        all[0] = 1;
        int last = 0;
        while (all[last] < END_OF_SIZES) {
            last++;
            all[last] = all[last - 1] + all[right(last)];
        }
        sizes = Arrays.copyOf(all, last + 1);
        firstOfBits[Integer.SIZE + 1] = last;
        for (int bits = 1; bits <= Integer.SIZE; bits++) {
            firstOfBits[bits] = atLeast((1L << (bits - 1)) + 1, firstOfBits[bits - 1]);
        }
    }

    /** Counts the classes: fewer than 64. */
    int count() {
        return sizes.length;
    }

    long size(final int sizeClass) {
        return sizes[sizeClass];
    }

    /** Tells the class of the left part of a block that is split. Class 0 is never split. */
    int left(final int sizeClass) {
        return sizeClass - 1;
    }

    /** Tells the class of the right part of a block that is split, never larger than the left one. */
    int right(final int sizeClass) {
        return Math.max(0, sizeClass - step);
    }

    /** Finds the smallest class of a size or more: {@code 0 < size < 2^32}, or the last class's own size. */
    int holding(final long size) {
        return atLeast(size, firstOfBits[Long.SIZE - Long.numberOfLeadingZeros(size - 1)]);
    }

    /**
     * Lays a region out as a row of blocks: the largest class that fits, then the largest that fits into what is left.
     */
    int[] roots(final long granules) {
        final int[] roots = new int[sizes.length];
        int count = 0;
        long left = granules;
        // No class fits twice: twice a class is at least the class above, which would have fitted.
        for (int sizeClass = sizes.length - 1; left != 0; sizeClass--) {
            if (sizes[sizeClass] <= left) {
                roots[count++] = sizeClass;
                left -= sizes[sizeClass];
            }
        }
        return Arrays.copyOf(roots, count);
    }

    /**
     * Computes the least region that is a single block of {@code sizeBytes} or more, or {@link Long#MAX_VALUE} if none
     * is.
     */
    long regionBytesFor(final long sizeBytes, final long granuleBytes) {
        final long granules = sizeBytes / granuleBytes;
        final long size = granules >= END_OF_SIZES ? END_OF_SIZES : size(holding(granules));
        return size >= END_OF_SIZES ? Long.MAX_VALUE : size * granuleBytes;
    }

    private int atLeast(final long size, final int from) {
        int sizeClass = from;
        while (sizes[sizeClass] < size) {
            sizeClass++;
        }
        return sizeClass;
    }
}
