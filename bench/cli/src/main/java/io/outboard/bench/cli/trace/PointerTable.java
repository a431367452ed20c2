package io.outboard.bench.cli.trace;

/**
 * This class maps the live pointers of a log to their slots. The hash table uses linear probing and is at most half
 * full; a removal moves later entries back instead of leaving a mark (Knuth, volume 3, section 6.4, algorithm R). Null
 * can't be a key.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1) on average, at most 48 host bytes a live pointer, and 72 while
 * it grows.
 */
final class PointerTable {

    private static final int INITIAL_LOG2 = 10;
    private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

    private long[] pointers = new long[1 << INITIAL_LOG2];
    private int[] slots = new int[1 << INITIAL_LOG2];
    private int mask = pointers.length - 1;
    private int shift = 64 - INITIAL_LOG2;
    private int size;

    /** Returns the slot of a live pointer, or -1. */
    int slotOf(final long pointer) {
        final int index = indexOf(pointer);
        return pointers[index] == 0 ? -1 : slots[index];
    }

    /** Adds a pointer that isn't in the table yet. */
    void put(final long pointer, final int slot) {
        if (2 * size >= pointers.length) {
            grow();
        }
        final int index = indexOf(pointer);
        pointers[index] = pointer;
        slots[index] = slot;
        size++;
    }

    /** Removes a pointer that is in the table. */
    void remove(final long pointer) {
        int hole = indexOf(pointer);
        size--;
        for (int i = (hole + 1) & mask; pointers[i] != 0; i = (i + 1) & mask) {
            // An entry may move back into the hole unless its home lies between hole and entry.
            if (((i - home(pointers[i])) & mask) >= ((i - hole) & mask)) {
                pointers[hole] = pointers[i];
                slots[hole] = slots[i];
                hole = i;
            }
        }
        pointers[hole] = 0;
    }

    private int indexOf(final long pointer) {
        int index = home(pointer);
        while (pointers[index] != 0 && pointers[index] != pointer) {
            index = (index + 1) & mask;
        }
        return index;
    }

    private int home(final long pointer) {
        return (int) ((pointer * GOLDEN_RATIO) >>> shift);
    }

    private void grow() {
        final long[] oldPointers = pointers;
        final int[] oldSlots = slots;
        pointers = new long[2 * oldPointers.length];
        slots = new int[pointers.length];
        mask = pointers.length - 1;
        shift--;
        for (int i = 0; i < oldPointers.length; i++) {
            if (oldPointers[i] != 0) {
                final int index = indexOf(oldPointers[i]);
                pointers[index] = oldPointers[i];
                slots[index] = oldSlots[i];
            }
        }
    }
}
