package io.outboard.bench.measure.check;

/**
 * A list holds slots of a model in no order, and gives access to each by index, so one can be drawn at random. Confined
 * to one thread. Each call is O(1) and makes no garbage.
 */
final class SlotList {

    private final int[] slots = new int[IntervalModel.MOST_SLOTS];
    private final int[] positions;
    private int size;

    /** {@code positions} has the position of each slot; several lists share it, and a slot is in one list at a time. */
    SlotList(final int[] positions) {
        this.positions = positions;
    }

    int size() {
        return size;
    }

    int get(final int position) {
        return slots[position];
    }

    boolean contains(final int slot) {
        return positions[slot] < size && slots[positions[slot]] == slot;
    }

    void add(final int slot) {
        positions[slot] = size;
        slots[size++] = slot;
    }

    void remove(final int slot) {
        final int last = slots[--size];
        slots[positions[slot]] = last;
        positions[last] = positions[slot];
    }
}
