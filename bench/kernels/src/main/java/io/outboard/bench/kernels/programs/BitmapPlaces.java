package io.outboard.bench.kernels.programs;

import java.util.Arrays;

/**
 * The places are how {@code BitmapAlloc} divides a heap ({@code bitmap_alloc.cuh}): an array of places, then the levels
 * of a bitmap of free ones. Immutable.
 *
 * @param units of 16 bytes, of a place
 * @param count of places
 */
record BitmapPlaces(int units, int count) {

    static final int LEVELS = 3;

    private static final int UNIT_BYTES = 16;
    private static final int ALIGNMENT = 256;
    /** Words above level 0 stand so far apart ({@code bitmap.cuh}). */
    private static final int APART = 16;

    /**
     * Divides a heap.
     *
     * @param placeBytes the least bytes of a place, {@code 0 < placeBytes}
     * @throws IllegalArgumentException if there is no room for a place
     */
    static BitmapPlaces in(final long heapBytes, final int placeBytes) {
        final int units = (placeBytes + UNIT_BYTES - 1) / UNIT_BYTES;
        long least = 0;
        long most = Math.min(Integer.MAX_VALUE, heapBytes / ((long) units * UNIT_BYTES));
        while (least < most) {
            final long middle = (least + most + 1) / 2;
            if (new BitmapPlaces(units, (int) middle).bytes() <= heapBytes) {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        if (least == 0) {
            throw new IllegalArgumentException(
                    "heapBytes=" + heapBytes + " must have room for a place of " + units * UNIT_BYTES + " bytes");
        }
        return new BitmapPlaces(units, (int) least);
    }

    /** Returns the bytes of a place. */
    int placeBytes() {
        return units * UNIT_BYTES;
    }

    /** Returns where a level of the bitmap begins; that after the last is where it ends. */
    long offsetOf(final int level) {
        long offset = aligned((long) count * placeBytes());
        for (int i = 0; i < level; i++) {
            offset += aligned((long) wordsOf(i) * stride(i) * Long.BYTES);
        }
        return offset;
    }

    /** Returns the bytes of all. */
    long bytes() {
        return offsetOf(LEVELS);
    }

    private static long aligned(final long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private static int stride(final int level) {
        return level == 0 ? 1 : APART;
    }

    private int bitsOf(final int level) {
        return level == 0 ? count : wordsOf(level - 1);
    }

    /** Returns how many words a level has. */
    int wordsOf(final int level) {
        return (int) ((bitsOf(level) + (long) Long.SIZE - 1) / Long.SIZE);
    }

    /** Returns what a level is when all places are free. */
    long[] allFree(final int level) {
        final long[] words = new long[wordsOf(level) * stride(level)];
        final int bits = bitsOf(level);
        for (int i = 0; i < wordsOf(level); i++) {
            final int left = bits - i * Long.SIZE;
            words[i * stride(level)] = left >= Long.SIZE ? -1 : (1L << left) - 1;
        }
        return words;
    }

    /** Returns how many places are in use, by level 0. */
    long used(final long... words) {
        return count - Arrays.stream(words).map(Long::bitCount).sum();
    }
}
