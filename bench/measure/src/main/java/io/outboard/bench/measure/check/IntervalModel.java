package io.outboard.bench.measure.check;

import java.util.Arrays;

/**
 * The model records which intervals of a region are taken, and no more: the model knows neither who uses an interval
 * nor for what. All numbers are granules from the region's start.
 *
 * <p>Intervals are named by slots. Their starts are kept sorted, in leaves of up to 64, as in a B+ tree of two levels:
 *
 * <pre>
 *   order      | leaf 4 | leaf 0 | leaf 7 | ...          sorted by the first entry of each, which firsts repeats
 *   leaf       | entry | entry | ... |                   an entry is (start + 1) in 40 bits and the slot in 24
 *   bounds     of each leaf: no gap behind one of its intervals is larger; lowered when a search finds that out
 * </pre>
 *
 * <p>Slot 0 stands for the granule in front of the region: so every interval has another interval before it, and the
 * first gap is behind an interval, too.
 *
 * <p>Confined to one thread. Adding or removing an interval takes a binary search, O(log n); {@link #fits} looks at the
 * leaves whose bound is large enough. Garbage is made only when arrays grow.
 */
final class IntervalModel {

    static final int NONE = -1;

    /** All slots are less than this number. */
    static final int MOST_SLOTS = 1 << 16;

    private static final int SLOT_BITS = 24;
    private static final long SLOT_MASK = (1L << SLOT_BITS) - 1;
    private static final int LEAF = 64;

    private final long granules;
    private final long[] starts = new long[MOST_SLOTS];
    private final long[] sizes = new long[MOST_SLOTS];
    private final int[] freeSlots = new int[MOST_SLOTS];
    private int freeSlotCount;

    private long[] entries = new long[4 * LEAF];
    private int[] counts = new int[4];
    private long[] bounds = new long[4];
    private int[] freeLeaves = new int[4];
    private int freeLeafCount;
    private int madeLeaves;

    private int[] order = new int[4];
    private long[] firsts = new long[4];
    private int leaves;

    private long freeGranules;
    private int blocks;
    private int gaps;

    /** The place that {@link #locate} found: a leaf of the order, and an entry of the leaf. */
    private int leafAt;

    private int indexAt;

    /**
     * Makes a model in which nothing is taken. {@code granules} is the number of granules in the region, up to 2^32 -
     * 1.
     */
    IntervalModel(final long granules) {
        this.granules = granules;
        clear();
    }

    private void clear() {
        for (int slot = MOST_SLOTS - 1; slot > 0; slot--) {
            freeSlots[freeSlotCount++] = slot;
        }
        starts[0] = -1;
        sizes[0] = 1;
        final int leaf = newLeaf();
        entries[leaf * LEAF] = entry(0);
        counts[leaf] = 1;
        bounds[leaf] = granules;
        order[0] = leaf;
        firsts[0] = entry(0);
        leaves = 1;
        freeGranules = granules;
        gaps = 1;
    }

    /**
     * Takes an interval.
     *
     * @return its slot, or {@link #NONE} if part of the interval is taken or outside the region, and nothing changed
     */
    int add(final long start, final long size) {
        if (start < 0 || size <= 0 || size > granules || freeSlotCount == 0) {
            return NONE;
        }
        locate(((start + 1) << SLOT_BITS) | SLOT_MASK);
        final long gapStart = endOf(slotAt(leafAt, indexAt));
        final long gapEnd = startBehind(leafAt, indexAt);
        if (start < gapStart || start + size > gapEnd) {
            return NONE;
        }
        final int slot = freeSlots[--freeSlotCount];
        starts[slot] = start;
        sizes[slot] = size;
        gaps += (start > gapStart ? 1 : 0) + (start + size < gapEnd ? 1 : 0) - 1;
        freeGranules -= size;
        blocks++;
        insert(entry(slot), gapEnd - start - size);
        return slot;
    }

    void remove(final int slot) {
        locate(entry(slot));
        final int leaf = order[leafAt];
        final long gapEnd = startBehind(leafAt, indexAt);
        final boolean isFirst = indexAt == 0;
        final int leafBefore = isFirst ? order[leafAt - 1] : leaf;
        final int before =
                (int) (entries[leafBefore * LEAF + (isFirst ? counts[leafBefore] : indexAt) - 1] & SLOT_MASK);
        final long gapStart = endOf(before);
        gaps -= (gapStart < starts[slot] ? 1 : 0) + (gapEnd > endOf(slot) ? 1 : 0) - 1;
        freeGranules += sizes[slot];
        blocks--;
        bounds[leafBefore] = Math.max(bounds[leafBefore], gapEnd - gapStart);
        freeSlots[freeSlotCount++] = slot;
        delete(leaf);
    }

    /**
     * Changes the size of an interval. Returns false, with nothing changed, if the new size would overlap another
     * interval or leave the region.
     */
    boolean resize(final int slot, final long newSize) {
        locate(entry(slot));
        final long end = endOf(slot);
        final long newEnd = starts[slot] + newSize;
        final long gapEnd = startBehind(leafAt, indexAt);
        if (newSize <= 0 || newEnd > gapEnd) {
            return false;
        }
        gaps += (newEnd < gapEnd ? 1 : 0) - (end < gapEnd ? 1 : 0);
        freeGranules -= newSize - sizes[slot];
        sizes[slot] = newSize;
        final int leaf = order[leafAt];
        bounds[leaf] = Math.max(bounds[leaf], gapEnd - newEnd);
        return true;
    }

    long start(final int slot) {
        return starts[slot];
    }

    long size(final int slot) {
        return sizes[slot];
    }

    /** Returns the free granules between an interval and the next one. */
    long roomBehind(final int slot) {
        locate(entry(slot));
        return startBehind(leafAt, indexAt) - endOf(slot);
    }

    /** Returns the slot of the last interval that starts at {@code start} or before, or 0 if there is none. */
    int lastFrom(final long start) {
        locate(((start + 1) << SLOT_BITS) | SLOT_MASK);
        return slotAt(leafAt, indexAt);
    }

    /** Returns the slot of the interval that starts at {@code start}, or {@link #NONE}. */
    int startingAt(final long start) {
        if (start < 0 || start >= granules) {
            return NONE;
        }
        final int slot = lastFrom(start);
        return starts[slot] == start ? slot : NONE;
    }

    long granules() {
        return granules;
    }

    long freeGranules() {
        return freeGranules;
    }

    int blocks() {
        return blocks;
    }

    /** Returns the number of stretches of free granules. */
    int gaps() {
        return gaps;
    }

    /** Returns whether there are slots for that many more intervals. */
    boolean hasSlots(final int more) {
        return freeSlotCount >= more;
    }

    /**
     * Returns whether an interval would fit at a start that is aligned: counted from {@code firstGranule} before the
     * region, the start has none of the mask's bits.
     */
    boolean fits(final long size, final long alignmentMask, final long firstGranule) {
        for (int at = 0; at < leaves; at++) {
            if (bounds[order[at]] >= size && fitsInLeaf(at, size, alignmentMask, firstGranule)) {
                return true;
            }
        }
        return false;
    }

    private boolean fitsInLeaf(final int at, final long size, final long alignmentMask, final long firstGranule) {
        final int leaf = order[at];
        long largest = 0;
        for (int index = 0; index < counts[leaf]; index++) {
            final long start = endOf(slotAt(at, index));
            final long end = startBehind(at, index);
            final long padding = -(firstGranule + start) & alignmentMask;
            if (padding <= end - start && size <= end - start - padding) {
                return true;
            }
            largest = Math.max(largest, end - start);
        }
        bounds[leaf] = largest;
        return false;
    }

    /** Returns the size of the longest stretch of free granules. */
    long largestGap() {
        long largest = 0;
        for (int at = 0; at < leaves; at++) {
            final int leaf = order[at];
            if (bounds[leaf] > largest) {
                long ofLeaf = 0;
                for (int index = 0; index < counts[leaf]; index++) {
                    ofLeaf = Math.max(ofLeaf, startBehind(at, index) - endOf(slotAt(at, index)));
                }
                bounds[leaf] = ofLeaf;
                largest = Math.max(largest, ofLeaf);
            }
        }
        return largest;
    }

    /** Puts the slots of all intervals into an array, sorted by start, and returns their number. */
    int slotsInOrder(final int[] slots) {
        int count = 0;
        for (int at = 0; at < leaves; at++) {
            for (int index = 0; index < counts[order[at]]; index++) {
                final int slot = slotAt(at, index);
                if (slot != 0) {
                    slots[count++] = slot;
                }
            }
        }
        return count;
    }

    private long entry(final int slot) {
        return ((starts[slot] + 1) << SLOT_BITS) | slot;
    }

    private long endOf(final int slot) {
        return starts[slot] + sizes[slot];
    }

    private int slotAt(final int at, final int index) {
        return (int) (entries[order[at] * LEAF + index] & SLOT_MASK);
    }

    private long startBehind(final int at, final int index) {
        final int leaf = order[at];
        if (index + 1 < counts[leaf]) {
            return (entries[leaf * LEAF + index + 1] >>> SLOT_BITS) - 1;
        }
        return at + 1 < leaves ? (firsts[at + 1] >>> SLOT_BITS) - 1 : granules;
    }

    /** Finds the last entry that isn't larger than {@code entry}; slot 0's entry guarantees that there is one. */
    private void locate(final long entry) {
        int low = 0;
        int count = leaves;
        // The search halves a length, so each step's comparison only selects a number: no branch can be mispredicted.
        while (count > 1) {
            final int half = count >>> 1;
            low = firsts[low + half] <= entry ? low + half : low;
            count -= half;
        }
        final int base = order[low] * LEAF;
        int index = base;
        count = counts[order[low]];
        while (count > 1) {
            final int half = count >>> 1;
            index = entries[index + half] <= entry ? index + half : index;
            count -= half;
        }
        leafAt = low;
        indexAt = index - base;
    }

    /** Inserts an entry behind the one that was located. */
    private void insert(final long entry, final long gapBehind) {
        int at = leafAt;
        int index = indexAt + 1;
        if (counts[order[at]] == LEAF) {
            split(at);
            if (index > LEAF / 2) {
                at++;
                index -= LEAF / 2;
            }
        }
        final int leaf = order[at];
        final int from = leaf * LEAF + index;
        System.arraycopy(entries, from, entries, from + 1, counts[leaf] - index);
        entries[from] = entry;
        counts[leaf]++;
        bounds[leaf] = Math.max(bounds[leaf], gapBehind);
    }

    private void split(final int at) {
        final int right = newLeaf();
        final int left = order[at];
        System.arraycopy(entries, left * LEAF + LEAF / 2, entries, right * LEAF, LEAF / 2);
        counts[left] = LEAF / 2;
        counts[right] = LEAF / 2;
        bounds[right] = bounds[left];
        if (leaves == order.length) {
            order = Arrays.copyOf(order, 2 * leaves);
            firsts = Arrays.copyOf(firsts, 2 * leaves);
        }
        System.arraycopy(order, at + 1, order, at + 2, leaves - at - 1);
        System.arraycopy(firsts, at + 1, firsts, at + 2, leaves - at - 1);
        order[at + 1] = right;
        firsts[at + 1] = entries[right * LEAF];
        leaves++;
    }

    /** Removes the entry that was located. */
    private void delete(final int leaf) {
        final int from = leaf * LEAF + indexAt;
        System.arraycopy(entries, from + 1, entries, from, counts[leaf] - indexAt - 1);
        counts[leaf]--;
        if (counts[leaf] == 0) {
            dropLeaf(leafAt);
            return;
        }
        firsts[leafAt] = entries[leaf * LEAF];
        if (leafAt + 1 < leaves && counts[leaf] + counts[order[leafAt + 1]] <= LEAF / 2) {
            final int right = order[leafAt + 1];
            System.arraycopy(entries, right * LEAF, entries, leaf * LEAF + counts[leaf], counts[right]);
            counts[leaf] += counts[right];
            bounds[leaf] = Math.max(bounds[leaf], bounds[right]);
            dropLeaf(leafAt + 1);
        }
    }

    private void dropLeaf(final int at) {
        freeLeaves[freeLeafCount++] = order[at];
        System.arraycopy(order, at + 1, order, at, leaves - at - 1);
        System.arraycopy(firsts, at + 1, firsts, at, leaves - at - 1);
        leaves--;
    }

    private int newLeaf() {
        if (freeLeafCount != 0) {
            return freeLeaves[--freeLeafCount];
        }
        if (madeLeaves == counts.length) {
            entries = Arrays.copyOf(entries, 2 * entries.length);
            counts = Arrays.copyOf(counts, 2 * madeLeaves);
            bounds = Arrays.copyOf(bounds, 2 * madeLeaves);
            freeLeaves = Arrays.copyOf(freeLeaves, 2 * madeLeaves);
        }
        return madeLeaves++;
    }
}
