package io.outboard.bench.measure.check;

/**
 * Handles that named a block and don't any more, as far as is known: the last ones, and apart from these the last of
 * which a part was used again since, that is, of which a newer handle has the same upper or lower half. What the halves
 * are for isn't assumed. Confined to one thread. O(1).
 */
final class OldHandles {

    /** No handle is negative. */
    static final long NONE = -1;

    private static final int REMEMBERED = 64;

    /** So many of the last are compared with a new handle. */
    private static final int COMPARED = 16;

    private final long[] handles = new long[REMEMBERED];
    private final long[] addresses = new long[REMEMBERED];
    private int count;

    private final long[] usedAgain = new long[REMEMBERED];
    private final long[] usedAgainAddresses = new long[REMEMBERED];
    private int usedAgainCount;

    /** Keeps a handle whose block was at this address. */
    void add(final long handle, final long address) {
        handles[count % REMEMBERED] = handle;
        addresses[count++ % REMEMBERED] = address;
    }

    /** Tells of a handle that names a block now. */
    void isUsed(final long handle) {
        for (int back = Math.max(0, count - COMPARED); back < count; back++) {
            final long old = handles[back % REMEMBERED];
            final long difference = old ^ handle;
            if (difference != 0 && (difference >>> Integer.SIZE == 0 || (int) difference == 0)) {
                usedAgain[usedAgainCount % REMEMBERED] = old;
                usedAgainAddresses[usedAgainCount++ % REMEMBERED] = addresses[back % REMEMBERED];
            }
        }
    }

    /** One of the last by a number from 0 on, or {@link #NONE} if there is none. */
    long any(final int number) {
        return count == 0 ? NONE : handles[number % Math.min(count, REMEMBERED)];
    }

    /** The same, of those of which a part was used again. */
    long anyUsedAgain(final int number) {
        return usedAgainCount == 0 ? NONE : usedAgain[number % Math.min(usedAgainCount, REMEMBERED)];
    }

    /** Where the block was that {@link #any} or {@link #anyUsedAgain} has a handle of, or {@link #NONE}. */
    long addressOf(final long handle) {
        for (int i = 0; i < REMEMBERED; i++) {
            if (i < count && handles[i] == handle) {
                return addresses[i];
            }
            if (i < usedAgainCount && usedAgain[i] == handle) {
                return usedAgainAddresses[i];
            }
        }
        return NONE;
    }
}
