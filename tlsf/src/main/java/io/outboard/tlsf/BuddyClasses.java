package io.outboard.tlsf;

import java.util.Arrays;

/**
 * These are the sizes that blocks of a buddy system have, in granules. A block of one class splits into a left one of
 * the class below and a right one that is {@code step} classes below, or of class 0. With two systems, every second
 * class belongs to the same one, so the left part is two classes below, except in a block of three granules:
 *
 * <pre>
 *   class                    0   1   2   3   4    5    6
 *   step 1, binary           1   2   4   8   16   32   64    size(c) = 2 size(c - 1)
 *   step 2, Fibonacci        1   2   3   5   8    13   21    size(c) = size(c - 1) + size(c - 2)
 *   step 2, two systems      1   2   3   4   6    8    12    size(c) = 2 size(c - 2)
 * </pre>
 *
 * <p>The last class is the first that no region holds. Immutable: safe for any number of threads.
 */
final class BuddyClasses {

    private static final long END_OF_SIZES = 1L << 32;

    /** The granules from which on a region is divided between two systems: half of fewer is of little use to either. */
    private static final long LEAST_DIVIDED = 16;

    /** The first class of the second of two systems, and the last that splits as those of one system do. */
    private static final int FIRST_OF_SECOND = 2;

    private final int systems;
    private final int step;
    private final long[] sizes;

    /** The first class of 2^(b-1) + 1 granules or more, for each b. The last one's size may have a bit more than 32. */
    private final int[] firstOfBits = new int[Integer.SIZE + 2];

    /** For each class, and the one above the last, a bit for each class that a block of it can be split off. */
    private final long[] sources;

    BuddyClasses(final int systems, final int step) {
        this.systems = systems;
        this.step = step;
        final long[] all = new long[Long.SIZE];
        all[0] = 1;
        int last = 0;
        while (all[last] < END_OF_SIZES) {
            last++;
            all[last] = all[left(last)] + all[right(last)];
        }
        sizes = Arrays.copyOf(all, last + 1);
        firstOfBits[Integer.SIZE + 1] = last;
        for (int bits = 1; bits <= Integer.SIZE; bits++) {
            firstOfBits[bits] = atLeast((1L << (bits - 1)) + 1, firstOfBits[bits - 1]);
        }
        sources = new long[sizes.length + 1];
        for (int wanted = 0; wanted < sizes.length; wanted++) {
            sources[wanted] = 1L << wanted;
            for (int sizeClass = wanted + 1; sizeClass < sizes.length; sizeClass++) {
                final long parts = 1L << left(sizeClass) | 1L << right(sizeClass);
                sources[wanted] |= (parts & sources[wanted]) == 0 ? 0 : 1L << sizeClass;
            }
        }
    }

    /** Counts the classes: at most 64. */
    int count() {
        return sizes.length;
    }

    long size(final int sizeClass) {
        return sizes[sizeClass];
    }

    /** Tells the class of the left part of a block that is split. Class 0 is never split. */
    int left(final int sizeClass) {
        return sizeClass <= FIRST_OF_SECOND ? sizeClass - 1 : sizeClass - systems;
    }

    /** Tells the class of the right part of a block that is split, never larger than the left one. */
    int right(final int sizeClass) {
        return Math.max(0, sizeClass - step);
    }

    /** Tells from which classes a block of a class can be split off, a bit for each; the class itself is one. */
    long sources(final int sizeClass) {
        return sources[sizeClass];
    }

    /** Tells the class that serves a request where its own system has no room: one of the other system, if any. */
    int substitute(final int sizeClass) {
        return sizeClass + systems - 1;
    }

    /** Finds the smallest class of a size or more that can be split off a block of a class, which is as large. */
    int holdingWithin(final int block, final long size) {
        final int sizeClass = holding(size);
        return (sources[sizeClass] >>> block & 1) != 0 ? sizeClass : substitute(sizeClass);
    }

    /** Finds the smallest class of a size or more: {@code 0 < size < 2^32}, or the last class's own size. */
    int holding(final long size) {
        return atLeast(size, firstOfBits[Long.SIZE - Long.numberOfLeadingZeros(size - 1)]);
    }

    /**
     * Lays a region out as a row of blocks: the largest class that fits, then the largest that fits into what is left.
     * Of two systems, each has half of the region, but for what can't be a multiple of three, and lays it out for
     * itself. The largest block is the first. No two are of one class: their order in a list would depend on frees.
     */
    int[] roots(final long granules) {
        final long ofSecond = systems == 1 || granules < LEAST_DIVIDED ? 0 : granules / 6 * 3;
        final int[] roots = new int[sizes.length];
        int count = layOut(granules - ofSecond, 1, roots, 0);
        count = layOut(ofSecond, 0, roots, count);
        Arrays.sort(roots, 0, count);
        final int[] descending = new int[count];
        for (int i = 0; i < count; i++) {
            descending[i] = roots[count - 1 - i];
        }
        return descending;
    }

    private int layOut(final long granules, final int parity, final int[] roots, final int from) {
        int count = from;
        long left = granules;
        // No class fits twice: twice a class is at least the next of its system, which would have fitted.
        for (int sizeClass = sizes.length - 1; left != 0; sizeClass--) {
            final boolean belongs = systems == 1 || (sizeClass == 0 ? 1 : sizeClass % 2) == parity;
            if (belongs && sizes[sizeClass] <= left) {
                roots[count++] = sizeClass;
                left -= sizes[sizeClass];
            }
        }
        return count;
    }

    /**
     * Computes the least region that has a block of {@code sizeBytes} or more, as all larger ones do, or {@link
     * Long#MAX_VALUE} if none has.
     */
    long regionBytesFor(final long sizeBytes, final long granuleBytes) {
        final long granules = sizeBytes / granuleBytes;
        final long region = granules >= END_OF_SIZES ? END_OF_SIZES : leastRegion(granules);
        return region >= END_OF_SIZES ? Long.MAX_VALUE : region * granuleBytes;
    }

    private long leastRegion(final long granules) {
        final long size = size(holding(granules));
        if (systems == 1) {
            return size;
        }
        if (2 * granules <= LEAST_DIVIDED) {
            // A region that isn't divided is the first system's, whose sizes are the powers of two.
            return Long.highestOneBit(2 * granules - 1);
        }
        // The first system's half is as much larger as its size isn't a multiple of three.
        return 2 * size - size % 3;
    }

    private int atLeast(final long size, final int from) {
        int sizeClass = from;
        while (sizes[sizeClass] < size) {
            sizeClass++;
        }
        return sizeClass;
    }
}
