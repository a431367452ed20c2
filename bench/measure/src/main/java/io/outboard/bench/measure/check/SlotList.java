package io.outboard.bench.measure.check;

/** Slots of a model in no order, one of which can be drawn at once. Confined to one thread. O(1) each, no garbage. */
final class SlotList {

    private final int[] slots = new int[IntervalModel.MOST_SLOTS];
    private final int[] positions;
    private int size;

    /** {@code positions}: of each slot, shared by lists of which a slot is in one at a time. */
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
