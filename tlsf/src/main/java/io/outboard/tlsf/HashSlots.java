package io.outboard.tlsf;

/** The hash slots of a {@link BlockTable}: how many, which of them a block belongs to, and how new ones are marked. */
final class HashSlots {

    /** Slots in use at first, a power of two. 64 is 1 ns slower on the profile {@code paper}, 2048 isn't faster (2026-11-20). */
    static final int FIRST_IN_USE = 512;

    /** Slots for each block in use, at least. 1, 2 and 4 are equally fast on the profiles (malloc-large, 2026-11-20). */
    static final int PER_BLOCK = 2;

    /** In a slot: its blocks are still where they were when half as many slots were in use. */
    static final int NOT_SPLIT = -1;

    /** For {@link #markNotSplit}: what the interpreter marks in a microsecond; what stays in the first-level cache. */
    private static final int MARKED_BY_LOOP = 64;

    private static final int MARKED_BY_COPY = 4096;

    /** 2^64 divided by the golden ratio (Knuth, vol. 3, section 6.4). */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private HashSlots() {}

    /** Slots for so many blocks, a power of two. */
    static int countFor(final int blocks) {
        final int powerOfTwo = blocks == 1 ? 1 : Integer.highestOneBit(blocks - 1) << 1;
        return Math.max(FIRST_IN_USE, powerOfTwo * PER_BLOCK);
    }

    /** By copying what is marked: that is as fast as memory before the JVM has compiled anything, and a loop isn't. */
    static void markNotSplit(final int[] slots, final int from, final int to) {
        int marked = Math.min(to - from, MARKED_BY_LOOP);
        for (int i = 0; i < marked; i++) {
            slots[from + i] = NOT_SPLIT;
        }
        while (from + marked < to) {
            final int copied = Math.min(Math.min(marked, MARKED_BY_COPY), to - from - marked);
            System.arraycopy(slots, from, slots, from + marked, copied);
            marked += copied;
        }
    }

    /**
     * Spreads offsets over all bits. A product's low bits depend on few bits of its factors, and slots are told apart by
     * the low bits, so the high ones are folded in: blocks of one size, whose offsets are equally spaced, would otherwise
     * gather in few slots.
     */
    static int hash(final int start) {
        final int high = (int) ((Integer.toUnsignedLong(start) * SPREAD) >>> 32);
        return high ^ (high >>> 10) ^ (high >>> 20);
    }
}
