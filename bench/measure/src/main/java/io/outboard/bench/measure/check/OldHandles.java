package io.outboard.bench.measure.check;

/**
 * The class remembers handles that named a block and no longer do, as far as is known: the last such handles, and apart
 * from these the last handles of which a half was used again. A half was used again if a newer handle has the same
 * upper or the same lower 32 bits; the class assumes nothing about what the halves mean. Confined to one thread. O(1).
 */
final class OldHandles {

    /** The value that stands for no handle: no handle is negative. */
    static final long NONE = -1;

    private static final int REMEMBERED = 64;

    /** The number of old handles, from the last one back, that are compared with a new handle. */
    private static final int COMPARED = 16;

    private final long[] handles = new long[REMEMBERED];
    private final long[] addresses = new long[REMEMBERED];
    private int count;

    private final long[] usedAgain = new long[REMEMBERED];
    private final long[] usedAgainAddresses = new long[REMEMBERED];
    private int usedAgainCount;

    /** Remembers a handle whose block was at this address. */
    void add(final long handle, final long address) {
        handles[count % REMEMBERED] = handle;
        addresses[count++ % REMEMBERED] = address;
    }

    /** Compares a handle that names a block from now on with the last old handles. */
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

    /** Returns one of the last handles, chosen by a number from 0 on, or {@link #NONE} if there is none. */
    long any(final int number) {
        return count == 0 ? NONE : handles[number % Math.min(count, REMEMBERED)];
    }

    /** Returns one of the last handles of which a half was used again, chosen as {@link #any} does. */
    long anyUsedAgain(final int number) {
        return usedAgainCount == 0 ? NONE : usedAgain[number % Math.min(usedAgainCount, REMEMBERED)];
    }

    /**
     * Returns the address of the block that a handle from {@link #any} or {@link #anyUsedAgain} named, or
     * {@link #NONE}.
     */
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
