package io.outboard.tlsf;

import java.util.function.IntFunction;

/**
 * This class has the records of a region's blocks, in host memory: each is in order of address with its neighbours,
 * and in a free list or in use.
 *
 * <p>Bell, Kumar and Gill (2024), section III-C, keep what a classic allocator keeps in boundary tags. Where we
 * deviate: their records name each other by address, so that every step along a list is a look-up; ours do so by
 * position.
 *
 * <p>Offsets count granules from the start of the region, in ints that are unsigned, so a region has up to 2^32 - 1
 * granules: just under 1 TiB with granules of 256 bytes. Everything lies in one {@code int[]}. A <em>block</em> below
 * is the position of its record there; a record takes half a cache line, since an operation touches most of it:
 *
 * <pre>
 *   +0 start      granules from the start of the region      +4 previous   in its free list, or its last one
 *   +1 size       granules                                   +5 next       in its free list, 0 while in use
 *   +2 before     the neighbour at lower addresses           +6 list       that it is in, or was in last
 *   +3 after      the neighbour at higher addresses          +7 chain      next with the same hash, while in use
 *
 *   [ fence | list heads, 2 ints each | words of a subclass | record | record | ... | hash slots, 1 int each ]
 * </pre>
 *
 * <p>The <em>fence</em>, at position 0, is before the first block and after the last one and counts as in use, so
 * neighbours need no test for the region's ends. A list head lies where its {@code previous} and {@code next} would be
 * those of a record, and lists are circular through their heads, so putting in and taking out need no test for the
 * first or the last either: what costs time here is branches that the processor can't foresee. The last eighth of the
 * array are slots for the subclass's hash table.
 *
 * <p>The array's length is a power of two, and each position is masked with that less one. That changes no position,
 * but C2 sees that none is outside and compiles no check of it: half of an operation's code was such checks, which made
 * it too large to be inlined where it is called (more than 2,500 bytes; 2026-11-24).
 *
 * <p>All memory is taken by the constructor, or, if it is told to start with less, by {@link #makeRoomFor}, which
 * doubles the array. Then all is copied to a larger one and nothing is written anew: records and heads keep their
 * positions, and unused records are chained by the distance from the next in order, so that an array that the JVM has
 * zeroed is a chain already, which goes on where the old one ended.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1), but O(blocks) for {@link #makeRoomFor} when the array grows; 37
 * bytes of host memory for each block that the array has room for, slots included, and half as many again while it
 * grows. There may be room for twice as many as was asked for, and always is for 446 less what heads and words take, in
 * 16 KiB. This class trusts its callers: they check what users give them.
 */
abstract class BlockRecords {

    /** The value that stands for no block; it is also the position of the fence. */
    static final int NONE = 0;

    /** The int of a record by which {@link BlockTable} chains blocks. It uses no other. */
    static final int CHAIN = 7;

    /**
     * The least number of slots, a power of two. The slots up to this number hold 0 at first, and the others {@link
     * #NEW}.
     */
    static final int LEAST_SLOTS = 512;

    /** The side of {@link #link} on which a block comes after the other one; after a list's head, it is the first. */
    static final int BEHIND = 0;

    /** The side of {@link #link} on which a block comes before the other one; before a list's head, it is the last. */
    static final int IN_FRONT = -1;

    /** The value of a slot into which nothing was ever put. */
    static final int NEW = -1;

    private static final int START = 0;
    private static final int SIZE = 1;
    private static final int BEFORE = 2;
    private static final int AFTER = 3;
    private static final int PREVIOUS = 4;
    private static final int NEXT = 5;
    private static final int LIST = 6;
    private static final int RECORD_INTS = 8;
    private static final int HEAD_INTS = 2;

    /**
     * An array's elements start 16 bytes after the array: ending the fence 16 bytes later puts records on half cache
     * lines, where the collector aligns large arrays, as G1 does. Elsewhere some records lie across a line.
     */
    private static final int FENCE_INTS = RECORD_INTS + RECORD_INTS / 2;

    /** The number of ints for each of which there is one slot. */
    private static final int SLOTS_PART = 8;

    private static final int LEAST_LENGTH = SLOTS_PART * LEAST_SLOTS;

    /**
     * The number of slots that {@link #markNew} marks one by one, which takes the interpreter a microsecond, and below,
     * the number that it copies at once, which stay in the first-level cache.
     */
    private static final int MARKED_BY_LOOP = 64;

    private static final int MARKED_BY_COPY = 4096;

    private static final int FIRST_HEAD = FENCE_INTS - PREVIOUS;

    private final int maxBlocks;
    private final int firstRecord;

    /** The maker of arrays of zeros. It is the JVM, except in tests of what happens when the JVM has no memory left. */
    private final IntFunction<int[]> memory;

    private int[] records;

    /** The position where the slots start. */
    private int firstSlot;

    /** The position where the records end: behind the last that the array has room for, or that there may be. */
    private int end;

    /**
     * The first of a chain of unused records, which ends at {@link #end}: {@link #START} of each says how far from the
     * record after it the next of the chain is.
     */
    private int unused;

    /**
     * Makes records of no blocks.
     *
     * @param firstBlocks the least number of blocks for which there is room before the array grows, from 1 to {@code
     *     maxBlocks}
     * @param maxBlocks most blocks, free and in use together, from 2 to 2^26
     * @param lists free lists
     * @param words ints for a subclass, from {@link #firstWord} on
     */
    BlockRecords(
            final int firstBlocks,
            final int maxBlocks,
            final int lists,
            final int words,
            final IntFunction<int[]> memory) {
        this.maxBlocks = maxBlocks;
        this.memory = memory;
        firstRecord = FENCE_INTS + (lists * HEAD_INTS + words + RECORD_INTS - 1) / RECORD_INTS * RECORD_INTS;
        records = memory.apply(lengthFor(firstBlocks));
        firstSlot = firstSlotIn(records);
        end = endIn(records);
        markNew(records, LEAST_SLOTS);
        unused = firstRecord;
        for (int list = 0; list < lists; list++) {
            put(head(list) + PREVIOUS, head(list));
            put(head(list) + NEXT, head(list));
        }
    }

    /**
     * Tells the position behind the heads of {@code lists} lists: a subclass that asked for words has them from there
     * on, all 0 at first.
     */
    static int firstWord(final int lists) {
        return FENCE_INTS + lists * HEAD_INTS;
    }

    /** Computes the length of an array that holds {@code blocks} blocks: a power of two. */
    private int lengthFor(final int blocks) {
        final int least = firstRecord + blocks * RECORD_INTS;
        final int powerOfTwo = Math.max(LEAST_LENGTH, Integer.highestOneBit(least) << 1);
        return least <= powerOfTwo - powerOfTwo / SLOTS_PART ? powerOfTwo : 2 * powerOfTwo;
    }

    private static int firstSlotIn(final int[] array) {
        return array.length - array.length / SLOTS_PART;
    }

    private int endIn(final int[] array) {
        return firstRecord + Math.min(maxBlocks, (firstSlotIn(array) - firstRecord) / RECORD_INTS) * RECORD_INTS;
    }

    private int blocksTo(final int position) {
        return (position - firstRecord) / RECORD_INTS;
    }

    /** Gets the value at a position. */
    final int get(final int position) {
        final int[] array = records;
        return array[position & (array.length - 1)];
    }

    /** Puts a value at a position. */
    final void put(final int position, final int value) {
        final int[] array = records;
        array[position & (array.length - 1)] = value;
    }

    // Records

    /**
     * Makes sure that {@code wanted} records are unused; if they aren't, the table grows, as far as it may. O({@code
     * wanted}) if it needn't: no count is kept, which most callers would pay for in vain. Returns false if there is no
     * room; then nothing changed.
     *
     * @throws OutOfMemoryError if the JVM has no memory for a larger table; nothing changes
     */
    final boolean makeRoomFor(final int wanted) {
        int block = unused;
        for (int left = wanted; left > 1 && block != end; left--) {
            block = afterUnused(block);
        }
        return block != end || wanted == 0 || growFor(wanted);
    }

    /**
     * Tells whether the next block needs {@link #makeRoomFor}: this is cheaper where there is room, as there nearly
     * always is.
     */
    final boolean isFull() {
        return unused == end;
    }

    private int afterUnused(final int block) {
        return block + RECORD_INTS + get(block + START);
    }

    private boolean growFor(final int wanted) {
        int least = blocksTo(end) + wanted;
        for (int block = unused; block != end; block = afterUnused(block)) {
            least--;
        }
        if (least > maxBlocks) {
            return false;
        }
        final int[] grown = memory.apply(lengthFor(least));
        System.arraycopy(records, 0, grown, 0, end);
        System.arraycopy(records, firstSlot, grown, firstSlotIn(grown), slots());
        markNew(grown, slots());
        records = grown;
        firstSlot = firstSlotIn(grown);
        end = endIn(grown);
        return true;
    }

    /**
     * Marks slots by copying what is marked: that is as fast as memory before the JVM has compiled anything, and a
     * loop isn't.
     */
    private static void markNew(final int[] array, final int slotsBefore) {
        final int from = firstSlotIn(array) + slotsBefore;
        int marked = Math.min(array.length - from, MARKED_BY_LOOP);
        for (int i = 0; i < marked; i++) {
            array[from + i] = NEW;
        }
        while (from + marked < array.length) {
            final int copied = Math.min(Math.min(marked, MARKED_BY_COPY), array.length - from - marked);
            System.arraycopy(array, from, array, from + marked, copied);
            marked += copied;
        }
    }

    /**
     * Makes a block: in use, as unused records are, not in the hash table, without neighbours. Undefined unless {@link
     * #makeRoomFor} said so.
     */
    final int create(final int start, final int size) {
        final int block = unused;
        unused = afterUnused(block);
        put(block + START, start);
        put(block + SIZE, size);
        return block;
    }

    /** Ends a block that is neither in a list nor in the hash table. The caller has joined its neighbours. */
    final void discard(final int block) {
        put(block + START, unused - block - RECORD_INTS);
        unused = block;
    }

    /**
     * Tells a block's number among the records, from 0 up: the same as long as the block lives, also when the table
     * grows.
     */
    final int number(final int block) {
        return (block - firstRecord) / RECORD_INTS;
    }

    /**
     * Tells the record of a number from 0 to 2^32 - 1, whatever the record is used for; {@link #NONE} if there are
     * fewer.
     */
    final int numbered(final long number) {
        final long block = firstRecord + RECORD_INTS * number;
        return block < end ? (int) block : NONE;
    }

    /** Tells where a block starts: granules from the start of the region, unsigned. */
    final int start(final int block) {
        return get(block + START);
    }

    /** Tells how long a block is: granules, unsigned. */
    final int size(final int block) {
        return get(block + SIZE);
    }

    /** Moves a block's borders. The caller keeps neighbours, lists and hash table right. */
    final void setRange(final int block, final int start, final int size) {
        put(block + START, start);
        put(block + SIZE, size);
    }

    // Neighbours

    /**
     * Tells the neighbour that ends where a block starts, {@link #NONE} for the first; of {@code NONE}, the last
     * block.
     */
    final int before(final int block) {
        return get(block + BEFORE);
    }

    /**
     * Tells the neighbour that starts where a block ends, {@link #NONE} for the last; of {@code NONE}, the first
     * block.
     */
    final int after(final int block) {
        return get(block + AFTER);
    }

    /** Makes two blocks neighbours; with {@link #NONE}, the other one is the first or the last. */
    final void join(final int before, final int after) {
        put(before + AFTER, after);
        put(after + BEFORE, before);
    }

    /** Puts a new block between a block, or {@link #NONE}, and the one after it. */
    final void insertAfter(final int block, final int before) {
        final int after = get(before + AFTER);
        join(block, after);
        join(before, block);
    }

    // Free lists

    /** Tells the head of a list: a position that stands for a block before the first and after the last. */
    final int head(final int list) {
        return FIRST_HEAD + list * HEAD_INTS;
    }

    /** Tells whether a block is in a free list. {@link #NONE} counts as in use. */
    final boolean isFree(final int block) {
        return get(block + NEXT) != NONE;
    }

    /** Tells the next in a free list: a block, or the list's head after the last. */
    final int next(final int block) {
        return get(block + NEXT);
    }

    /** Tells the list that a free block is in, or that a block in use was in last. */
    final int list(final int block) {
        return get(block + LIST);
    }

    /**
     * Tells what a free block is behind in its list, or a block in use was last: a block, or the list's head. Of a
     * head, the last of its list.
     */
    final int previous(final int block) {
        return get(block + PREVIOUS);
    }

    /** Makes {@link #list} and {@link #previous} of a block in use those of another one. */
    final void copyPlace(final int from, final int to) {
        put(to + LIST, list(from));
        put(to + PREVIOUS, previous(from));
    }

    /** Puts a block that is in no list first in one; it is free from then on. */
    final void push(final int block, final int list) {
        link(block, list, head(list), BEHIND);
    }

    /**
     * Puts a block that is in no list into one, beside a block in it or its head; it is free from then on. Which side
     * can't be foreseen, so it is computed with: {@link #PREVIOUS} and {@link #NEXT} lie side by side.
     *
     * @param side {@link #BEHIND} or {@link #IN_FRONT}
     */
    final void link(final int block, final int list, final int other, final int side) {
        final int far = get(other + NEXT + side);
        put(block + LIST, list);
        put(block + PREVIOUS - side, other);
        put(block + NEXT + side, far);
        put(other + NEXT + side, block);
        put(far + PREVIOUS - side, block);
    }

    /**
     * Takes a block out of its list; it is in use from then on. Answers 1 if the list is empty now, else 0: a number,
     * so that the caller need not branch.
     */
    final int unlink(final int block) {
        final int previous = get(block + PREVIOUS);
        final int next = get(block + NEXT);
        put(previous + NEXT, next);
        put(next + PREVIOUS, previous);
        put(block + NEXT, NONE);
        // Both are the list's head if it is empty now. Positions are positive, so only 0 - 1 has the sign bit.
        return ((previous ^ next) - 1) >>> 31;
    }

    // The whole

    /** Counts the slots, a power of two. */
    final int slots() {
        return records.length / SLOTS_PART;
    }

    /** Tells the position of a slot. */
    final int slot(final int index) {
        return firstSlot + index;
    }

    /** Tells the most blocks that there may be, when the array has grown as far as it may. */
    final int maxBlocks() {
        return maxBlocks;
    }

    /** Tells the host memory, in bytes. */
    final long hostBytes() {
        return 16 + (long) Integer.BYTES * records.length;
    }
}
