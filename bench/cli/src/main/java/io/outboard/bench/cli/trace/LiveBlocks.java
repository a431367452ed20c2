package io.outboard.bench.cli.trace;

import java.util.Arrays;

/**
 * This class keeps the live blocks of a log while the log is read. Each block gets the free slot that was freed last,
 * or else a new slot, so that there are as many slots as blocks at the peak.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1) on average, at most 96 host bytes a live block.
 */
final class LiveBlocks {

    static final int NONE = -1;

    private final PointerTable table = new PointerTable();
    private final int maximumSlots;
    private long[] bytes = new long[1 << 10];
    private int[] spare = new int[1 << 10];
    private int slots;
    private int spares;
    private long liveBytes;
    private long peakBytes;

    LiveBlocks(final int maximumSlots) {
        this.maximumSlots = maximumSlots;
    }

    /** Returns how many slots have been used so far, which is the most blocks that were live at once. */
    int slots() {
        return slots;
    }

    /** Returns the most bytes that were live at once. */
    long peakBytes() {
        return peakBytes;
    }

    boolean full() {
        return spares == 0 && slots == maximumSlots;
    }

    /** Returns the slot of a live block, or {@link #NONE}. */
    int slotOf(final long pointer) {
        return table.slotOf(pointer);
    }

    long bytesOf(final int slot) {
        return bytes[slot];
    }

    /** Adds a block that isn't live yet, and returns its slot. Nothing can be added while {@link #full()}. */
    int add(final long pointer, final long blockBytes) {
        final int slot = take(blockBytes);
        table.put(pointer, slot);
        return slot;
    }

    /** Returns a slot for a block that is freed at once. There is none while {@link #full()}. */
    int addForAMoment(final long blockBytes) {
        final int slot = take(blockBytes);
        leave(slot);
        return slot;
    }

    private int take(final long blockBytes) {
        final int slot;
        if (spares > 0) {
            slot = spare[--spares];
        } else {
            slot = slots++;
            if (slot == bytes.length) {
                bytes = Arrays.copyOf(bytes, 2 * slot);
                spare = Arrays.copyOf(spare, 2 * slot);
            }
        }
        bytes[slot] = blockBytes;
        liveBytes += blockBytes;
        peakBytes = Math.max(peakBytes, liveBytes);
        return slot;
    }

    void remove(final long pointer, final int slot) {
        table.remove(pointer);
        leave(slot);
    }

    private void leave(final int slot) {
        liveBytes -= bytes[slot];
        spare[spares++] = slot;
    }
}
