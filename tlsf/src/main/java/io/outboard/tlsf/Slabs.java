package io.outboard.tlsf;

import io.outboard.core.BlockVisitor;
import io.outboard.core.Region;

/**
 * This class has the slabs of a {@link PooledStrategy}: each has 64 slots of one size, and is found by address without
 * a search.
 *
 * <p>A <em>window</em> is a stretch of addresses, 64 pages long, that starts at a multiple of its length. A
 * <em>slab</em> starts where a window does and is at most as long, so the number of the window names the slab, and
 * arrays indexed by it hold all that is known of one. A <em>class</em> is the size of a slot in granules:
 *
 * <pre>
 *   addresses   |slot 0|slot 1| .. |slot 63|  other blocks   |  other blocks  |slot 0|slot 1| ..
 *               ^ window w                                   ^ window w + 1   ^ window w + 2
 *
 *   by window, two words each  slots         bit n of the first is set if slot n is free, of the second if retired
 *   by window                  slotGranules  class, or 0 if no slab is there
 *   by window, then by class   previous      in the list of slabs of a class that have a free slot,
 *                              next          circular through the class
 * </pre>
 *
 * <p>Of the slabs of a class, at most one is empty, and that one is the last of its list: slots come from it only when
 * no other slab has any.
 *
 * <p>Very large regions have longer windows, so that there are never more than 2^18: a quarter of a million slabs is
 * more than block tables usually hold. Confined to one thread; trusts its callers. Every operation is O(1); 28 bytes of
 * host memory for each window.
 */
final class Slabs {

    /** The size of the largest slot, in bytes. */
    static final int PAGE_BYTES = 4096;

    /** The slots in a slab: as many as one word has bits. */
    static final int SLOTS = Long.SIZE;

    /** The value that stands for no slab, or no slot. */
    static final int NONE = -1;

    private static final int SLOTS_LOG2 = 6;
    private static final int MIN_WINDOW_BYTES = PAGE_BYTES << SLOTS_LOG2;
    private static final int MAX_WINDOWS = 1 << 18;
    private static final long ALL_FREE = -1;

    /** The last bit in the name of a retired slot, which consists of the slab, the slot's number and this. */
    private static final long IS_SLOT = 1;

    private static final int SLOT_SHIFT = 1;
    private static final int SLAB_SHIFT = SLOT_SHIFT + SLOTS_LOG2;

    /** The words of a slab in {@link #slots}, and which is which. */
    private static final int WORDS = 2;

    private static final int FREE = 0;
    private static final int RETIRED = 1;

    /**
     * The bits of a reciprocal. Offsets are less than 2^18 and slots at most 2^12 bytes: with fewer bits, {@link
     * #slotOf} wouldn't be exact.
     */
    private static final int RECIPROCAL_LOG2 = 30;

    private final long firstWindowAddress;
    private final long windowBytes;
    private final int windowLog2;
    private final int granuleLog2;
    private final int classes;

    /** The reciprocal of a slot's size, by class. */
    private final int[] reciprocals;

    /** Both words of a slab lie in one cache line: whether a slot is in use takes both. */
    private final long[] slots;

    private final int[] slotGranules;
    private final int[] previous;
    private final int[] next;

    private int count;
    private int emptyCount;
    private int usedSlots;
    private long usedBytes;

    Slabs(final Region region, final long granuleBytes) {
        granuleLog2 = Long.numberOfTrailingZeros(granuleBytes);
        classes = PAGE_BYTES >>> granuleLog2;
        long bytes = MIN_WINDOW_BYTES;
        while (windows(region, bytes) > MAX_WINDOWS) {
            bytes *= 2;
        }
        windowBytes = bytes;
        windowLog2 = Long.numberOfTrailingZeros(bytes);
        firstWindowAddress = region.address() & -bytes;
        final int windows = classes == 0 ? 0 : (int) windows(region, bytes);
        slots = new long[windows * WORDS];
        slotGranules = new int[windows];
        previous = new int[windows + classes + 1];
        next = new int[windows + classes + 1];
        reciprocals = new int[classes + 1];
        for (int slotClass = 1; slotClass <= classes; slotClass++) {
            final int head = windows + slotClass;
            previous[head] = head;
            next[head] = head;
            reciprocals[slotClass] = reciprocal(slotClass << granuleLog2);
        }
    }

    private static long windows(final Region region, final long windowBytes) {
        return (region.endAddress() - 1) / windowBytes - region.address() / windowBytes + 1;
    }

    // Geometry

    /** Tells the largest size that a slot has, in bytes; 0 if the granule is larger than a page. */
    long slotLimitBytes() {
        return (long) classes << granuleLog2;
    }

    /** Tells what slabs must be aligned to. */
    long windowBytes() {
        return windowBytes;
    }

    /** Finds the slab that an address lies in, or {@link #NONE}; any address will do. */
    int holding(final long address) {
        final long offset = address - firstWindowAddress;
        final long window = offset >>> windowLog2;
        if (window >= slotGranules.length) {
            return NONE;
        }
        // A missing slab has no bytes, so one comparison covers it and what follows a slab in its window.
        final long slabBytes = (long) slotGranules[(int) window] << (SLOTS_LOG2 + granuleLog2);
        return (offset & (windowBytes - 1)) < slabBytes ? (int) window : NONE;
    }

    long address(final int slab) {
        return firstWindowAddress + ((long) slab << windowLog2);
    }

    long slotAddress(final int slab, final int slot) {
        return address(slab) + (long) slot * slotBytes(slab);
    }

    int slotBytes(final int slab) {
        return slotGranules[slab] << granuleLog2;
    }

    /** Finds the slot in use that starts at an address in a slab, or {@link #NONE}. */
    int usedSlotAt(final int slab, final long address) {
        final int offset = (int) (address - address(slab));
        final int slot = slotOf(offset, reciprocals[slotGranules[slab]]);
        final long notInUse = slots[slab * WORDS + FREE] | slots[slab * WORDS + RETIRED];
        return slot * slotBytes(slab) == offset && ((notInUse >>> slot) & 1) == 0 ? slot : NONE;
    }

    /**
     * Computes the number of the slot that holds an offset in bytes: exact for all in a slab. A division takes several
     * times as long.
     */
    static int slotOf(final int offset, final int reciprocal) {
        return (int) (((long) offset * reciprocal) >>> RECIPROCAL_LOG2);
    }

    /** Computes the reciprocal for {@link #slotOf}: 2^30 divided by a slot's size, rounded up. */
    static int reciprocal(final int slotBytes) {
        return ((1 << RECIPROCAL_LOG2) - 1) / slotBytes + 1;
    }

    // Slots

    /** Finds a slab that has a free slot of a class, or {@link #NONE}. */
    int withFreeSlot(final int slotClass) {
        final int first = next[slotGranules.length + slotClass];
        return first < slotGranules.length ? first : NONE;
    }

    /** Takes the first free slot of a slab that has one. */
    long take(final int slab) {
        final long free = freeSlots(slab);
        final long rest = free & (free - 1);
        final int slotBytes = slotBytes(slab);
        slots[slab * WORDS + FREE] = rest;
        if (rest == 0) {
            unlink(slab);
        }
        if (free == ALL_FREE) {
            emptyCount--;
        }
        usedSlots++;
        usedBytes += slotBytes;
        return slotAddress(slab, Long.numberOfTrailingZeros(free));
    }

    /** Ends the use of a slot. Returns true if that makes the slab an empty one too many: the caller takes it away. */
    boolean release(final int slab, final int slot) {
        final long before = freeSlots(slab);
        final long free = before | (1L << slot);
        slots[slab * WORDS + FREE] = free;
        usedSlots--;
        usedBytes -= slotBytes(slab);
        final int head = slotGranules.length + slotGranules[slab];
        if (before == 0) {
            link(slab, head, next[head]);
        }
        return free == ALL_FREE && !keepEmpty(slab, head);
    }

    /** Retires a slot in use: it is neither that nor free until {@link #readmit} or {@link #releaseRetired}. */
    void retire(final int slab, final int slot) {
        slots[slab * WORDS + RETIRED] |= 1L << slot;
    }

    /** Puts a retired slot in use again. */
    void readmit(final int slab, final int slot) {
        assert isRetired(slab, slot) : "slab=" + slab + ", slot=" + slot + " must be retired";
        slots[slab * WORDS + RETIRED] &= ~(1L << slot);
    }

    /** Ends the use of a retired slot, as {@link #release} does. */
    boolean releaseRetired(final int slab, final int slot) {
        readmit(slab, slot);
        return release(slab, slot);
    }

    boolean isRetired(final int slab, final int slot) {
        return ((slots[slab * WORDS + RETIRED] >>> slot) & 1) != 0;
    }

    private long freeSlots(final int slab) {
        return slots[slab * WORDS + FREE];
    }

    private boolean keepEmpty(final int slab, final int head) {
        final int last = previous[head];
        emptyCount++;
        if (last != slab && isEmpty(last)) {
            return false;
        }
        unlink(slab);
        link(slab, previous[head], head);
        return true;
    }

    // Names of retired slots: odd, so that the names of what else is retired can be even

    static long nameOf(final int slab, final int slot) {
        return ((long) slab << SLAB_SHIFT) + ((long) slot << SLOT_SHIFT) + IS_SLOT;
    }

    static boolean namesSlot(final long retired) {
        return (retired & IS_SLOT) != 0;
    }

    static int slabNamed(final long retired) {
        return (int) (retired >>> SLAB_SHIFT);
    }

    static int slotNamed(final long retired) {
        return (int) (retired >>> SLOT_SHIFT) & (SLOTS - 1);
    }

    // Slabs

    /** Puts a slab, all of it free, where the class has no slab with a free slot. */
    int add(final long address, final int slotClass) {
        final int slab = (int) ((address - firstWindowAddress) >>> windowLog2);
        final int head = slotGranules.length + slotClass;
        slotGranules[slab] = slotClass;
        slots[slab * WORDS + FREE] = ALL_FREE;
        link(slab, head, head);
        count++;
        emptyCount++;
        return slab;
    }

    /** Takes an empty slab away. */
    void remove(final int slab) {
        unlink(slab);
        slotGranules[slab] = 0;
        count--;
        emptyCount--;
    }

    boolean isEmpty(final int slab) {
        return freeSlots(slab) == ALL_FREE;
    }

    /** Finds the empty slab of a class, or {@link #NONE}. */
    int emptyOf(final int slotClass) {
        final int head = slotGranules.length + slotClass;
        final int last = previous[head];
        return last != head && isEmpty(last) ? last : NONE;
    }

    private void link(final int slab, final int before, final int after) {
        previous[slab] = before;
        next[slab] = after;
        next[before] = slab;
        previous[after] = slab;
    }

    private void unlink(final int slab) {
        next[previous[slab]] = next[slab];
        previous[next[slab]] = previous[slab];
    }

    // The whole

    int count() {
        return count;
    }

    int emptyCount() {
        return emptyCount;
    }

    /** Counts the slots that aren't free: retired ones, too. */
    int usedSlots() {
        return usedSlots;
    }

    /** Counts the bytes of the slots that aren't free. */
    long usedBytes() {
        return usedBytes;
    }

    long hostBytes() {
        return 5 * 16L
                + (long) Long.BYTES * slots.length
                + (long) Integer.BYTES * (slotGranules.length + previous.length + next.length + reciprocals.length);
    }

    /**
     * Shows the slots of a slab that are in use or retired and, between them, runs of free ones.
     *
     * @param sizeBytes all that was taken for the slab, which may be more than it needs; the rest counts as free
     */
    void show(final int slab, final long sizeBytes, final BlockVisitor visitor) {
        final long address = address(slab);
        final int slotBytes = slotBytes(slab);
        long end = address;
        for (long used = ~freeSlots(slab); used != 0; used &= used - 1) {
            final long start = slotAddress(slab, Long.numberOfTrailingZeros(used));
            showFree(end, start - end, visitor);
            visitor.visit(start, slotBytes, false);
            end = start + slotBytes;
        }
        showFree(end, address + sizeBytes - end, visitor);
    }

    private static void showFree(final long address, final long sizeBytes, final BlockVisitor visitor) {
        if (sizeBytes != 0) {
            visitor.visit(address, sizeBytes, true);
        }
    }
}
