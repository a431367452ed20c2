package io.outboard.tlsf;

import java.util.function.IntFunction;

/**
 * The blocks of one region, in host memory: a record for each block, found by address through a hash table.
 *
 * <p>After Bell, Kumar and Gill (2024), section III-C: a hash table keyed by device address replaces the boundary tags
 * of a classic allocator. Where we deviate: their records name each other by address, so that every step along a list is
 * another look-up; ours name each other by position, so only {@link #find} looks up, and only blocks in use, the ones
 * that a caller can name, are in the hash table at all.
 *
 * <p>Offsets count granules from the start of the region, in ints that are unsigned, so a region has up to 2^32 - 1
 * granules: just under 1 TiB with granules of 256 bytes. Everything lies in one {@code int[]}. A <em>block</em> below is
 * the position of its record there; a record takes half a cache line, since an operation touches most of it:
 *
 * <pre>
 *   +0 start      granules from the start of the region      +4 previous   in its free list
 *   +1 size       granules                                   +5 next       in its free list, 0 while in use
 *   +2 before     the neighbour at lower addresses           +6 list       that it is in, or was in last
 *   +3 after      the neighbour at higher addresses          +7 chain      next with the same hash, while in use
 *
 *   [ fence | list heads, 2 ints each | record | record | ... | hash slots, 1 int each ]
 * </pre>
 *
 * <p>The <em>fence</em>, at position 0, is before the first block and after the last one and counts as in use, so
 * neighbours need no test for the region's ends. A list head lies where its {@code previous} and {@code next} would be
 * those of a record, and lists are circular through their heads; a hash slot lies where its {@code chain} would be. So
 * putting in and taking out need no test for the first or the last either: what costs time here is branches that the
 * processor can't foresee.
 *
 * <p>Blocks with the same hash are chained through their records, as in the paper: putting in needs no search. The slots
 * in use double with the blocks in use, so a program with few blocks stays in few cache lines, but no operation ever
 * stops to grow a table: a slot that comes into use is marked, and takes its blocks over from the slot that had them so
 * far when it is asked for the first time (the splits of linear hashing, Litwin 1980, in the order of use).
 *
 * <p>All memory is taken by the constructor, or, if it is told to start with less, by {@link #makeRoomFor}, which doubles
 * the records. Then all is copied to a larger array and nothing is written anew: records and heads keep their positions,
 * slots move behind the new records as they are, since nothing points at them, and unused records are chained by the
 * distance from the next in order, so that an array that the JVM has zeroed is a chain already, which goes on where the
 * old one ended. How long {@link #makeRoomFor} takes then, in milliseconds, to double full tables of so many blocks (JDK 25,
 * G1, two shared cores, 2026-11-22; medians of 40 to 400 tables, and of five JVMs for the first time in each):
 *
 * <pre>
 *   blocks                               1024   16384   65536   131072   262144   524288
 *   after warm-up                       0.005    0.11     0.6      1.4      6.4       12
 *   first time, heap touched before     0.020    0.18     0.7      1.2      6.3        8
 *   first time, heap not touched yet    0.09      1.0      18       31       47       90
 * </pre>
 *
 * <p>The last line is what the operating system takes to find pages; {@code -XX:+AlwaysPreTouch} avoids it. A collection or
 * another process on the core comes on top: up to 0.4 s were seen, on cores that had four times as much to do as they could.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1) expected for {@link #find}, {@link #enter} and {@link #remove},
 * O(1) for all others, but O(blocks) for {@link #makeRoomFor} when the table grows; 40 to 48 bytes of host memory for each
 * block of the capacity, and half as many again while it grows. This class trusts its callers: they check what users
 * give them.
 */
final class BlockTable {

    /** No block; also the position of the fence. */
    static final int NONE = 0;

    private static final int START = 0;
    private static final int SIZE = 1;
    private static final int BEFORE = 2;
    private static final int AFTER = 3;
    private static final int PREVIOUS = 4;
    private static final int NEXT = 5;
    private static final int LIST = 6;
    private static final int CHAIN = 7;
    private static final int RECORD_INTS = 8;
    private static final int HEAD_INTS = 2;

    /**
     * An array's elements start 16 bytes after the array: ending the fence 16 bytes later puts records on half cache
     * lines, where the collector aligns large arrays, as G1 does. Elsewhere some records lie across a line.
     */
    private static final int FENCE_INTS = RECORD_INTS + RECORD_INTS / 2;

    private static final int FIRST_HEAD = FENCE_INTS - PREVIOUS;

    private final int maxBlocks;
    private final int firstRecord;

    /** Makes arrays of zeros: the JVM, but in tests of what happens when it has no memory left. */
    private final IntFunction<int[]> memory;

    private int[] records;

    /** Records that there are, free, in use and unused. */
    private int capacity;

    /** Where the hash slots start, and the records end. */
    private int slots;

    /** Hash slots that there are, a power of two. */
    private int slotCount;

    /**
     * First of a chain of unused records, which ends at {@link #slots}: {@link #START} of each says how far from the record
     * after it the next of the chain is.
     */
    private int unused;

    private int entered;

    /** Slots in use, a power of two, less one. */
    private int slotMask = HashSlots.FIRST_IN_USE - 1;

    /** An empty table that takes all of its memory at once: most blocks, free and in use together, from 2 to 2^26; free lists. */
    BlockTable(final int maxBlocks, final int lists) {
        this(maxBlocks, maxBlocks, lists);
    }

    /** An empty table that holds {@code firstBlocks} before it grows, from 1 to {@code maxBlocks}. */
    BlockTable(final int firstBlocks, final int maxBlocks, final int lists) {
        this(firstBlocks, maxBlocks, lists, int[]::new);
    }

    /** For tests in which the JVM has no memory left. */
    BlockTable(final int firstBlocks, final int maxBlocks, final int lists, final IntFunction<int[]> memory) {
        this.maxBlocks = maxBlocks;
        this.memory = memory;
        firstRecord = FENCE_INTS + (lists * HEAD_INTS + RECORD_INTS - 1) / RECORD_INTS * RECORD_INTS;
        capacity = firstBlocks;
        slotCount = HashSlots.countFor(firstBlocks);
        slots = firstRecord + capacity * RECORD_INTS;
        unused = firstRecord;
        records = memory.apply(slots + slotCount);
        HashSlots.markNotSplit(records, slots + HashSlots.FIRST_IN_USE, records.length);
        for (int list = 0; list < lists; list++) {
            final int head = head(list);
            records[head + PREVIOUS] = head;
            records[head + NEXT] = head;
        }
    }

    // Records

    /**
     * Sees to it that so many records are unused; if they aren't, the table grows, so far as it may. O({@code wanted}) if it
     * needn't: no count is kept, which most callers would pay for in vain. False if nothing changed.
     *
     * @throws OutOfMemoryError if the JVM has no memory for a larger table; nothing changes
     */
    boolean makeRoomFor(final int wanted) {
        int block = unused;
        for (int left = wanted; left > 1 && block != slots; left--) {
            block = afterUnused(block);
        }
        return block != slots || wanted == 0 || growFor(wanted);
    }

    /** Whether the next block needs {@link #makeRoomFor}: cheaper than that where there is room, as there nearly always is. */
    boolean isFull() {
        return unused == slots;
    }

    private int afterUnused(final int block) {
        return block + RECORD_INTS + records[block + START];
    }

    private boolean growFor(final int wanted) {
        int least = capacity + wanted;
        for (int block = unused; block != slots; block = afterUnused(block)) {
            least--;
        }
        if (least > maxBlocks) {
            return false;
        }
        final int newCapacity = Math.min(maxBlocks, Math.max(least, 2 * capacity));
        final int newSlots = firstRecord + newCapacity * RECORD_INTS;
        final int newSlotCount = HashSlots.countFor(newCapacity);
        final int[] grown = memory.apply(newSlots + newSlotCount);
        System.arraycopy(records, 0, grown, 0, slots);
        System.arraycopy(records, slots, grown, newSlots, slotCount);
        HashSlots.markNotSplit(grown, newSlots + slotCount, grown.length);
        records = grown;
        capacity = newCapacity;
        slots = newSlots;
        slotCount = newSlotCount;
        return true;
    }

    /** Makes a block: in use, not in the hash table, without neighbours. Undefined unless {@link #makeRoomFor} said so. */
    int create(final int start, final int size) {
        final int block = unused;
        unused = afterUnused(block);
        records[block + START] = start;
        records[block + SIZE] = size;
        records[block + NEXT] = NONE;
        return block;
    }

    /** Ends a block that is neither in a list nor in the hash table. The caller has joined its neighbours. */
    void discard(final int block) {
        records[block + START] = unused - block - RECORD_INTS;
        unused = block;
    }

    /** Where a block starts: granules from the start of the region, unsigned. */
    int start(final int block) {
        return records[block + START];
    }

    /** How long a block is: granules, unsigned. */
    int size(final int block) {
        return records[block + SIZE];
    }

    /** Moves a block's borders. The caller keeps neighbours, lists and hash table right. */
    void setRange(final int block, final int start, final int size) {
        records[block + START] = start;
        records[block + SIZE] = size;
    }

    // Neighbours

    /** The neighbour that ends where a block starts, {@link #NONE} for the first; of {@code NONE}, the last block. */
    int before(final int block) {
        return records[block + BEFORE];
    }

    /** The neighbour that starts where a block ends, {@link #NONE} for the last; of {@code NONE}, the first block. */
    int after(final int block) {
        return records[block + AFTER];
    }

    /** Makes two blocks neighbours; with {@link #NONE}, the other one is the first or the last. */
    void join(final int before, final int after) {
        records[before + AFTER] = after;
        records[after + BEFORE] = before;
    }

    /** Puts a new block between a block, or {@link #NONE}, and the one after it. */
    void insertAfter(final int block, final int before) {
        final int after = records[before + AFTER];
        join(block, after);
        join(before, block);
    }

    // Free lists

    /** The head of a list: a position that stands for a block before the first and after the last. */
    int head(final int list) {
        return FIRST_HEAD + list * HEAD_INTS;
    }

    /** Whether a block is in a free list. {@link #NONE} counts as in use. */
    boolean isFree(final int block) {
        return records[block + NEXT] != NONE;
    }

    /** The next in a free list: a block, or the list's head after the last. */
    int next(final int block) {
        return records[block + NEXT];
    }

    /** The list that a free block is in. */
    int list(final int block) {
        return records[block + LIST];
    }

    /** What a free block is behind in its list: a block, or the list's head. */
    int previous(final int block) {
        return records[block + PREVIOUS];
    }

    /** Puts a block that is in no list first in one; it is free from then on. */
    void push(final int block, final int list) {
        link(block, list, head(list));
    }

    /** Puts a block that is in no list into one, behind a block in it or its head; it is free from then on. */
    void link(final int block, final int list, final int previous) {
        final int next = records[previous + NEXT];
        records[block + LIST] = list;
        records[block + PREVIOUS] = previous;
        records[block + NEXT] = next;
        records[previous + NEXT] = block;
        records[next + PREVIOUS] = block;
    }

    /**
     * Takes a block out of its list; it is in use from then on. Answers 1 if the list is empty now, else 0: a number, so that
     * the caller need not branch.
     */
    int unlink(final int block) {
        final int previous = records[block + PREVIOUS];
        final int next = records[block + NEXT];
        records[previous + NEXT] = next;
        records[next + PREVIOUS] = previous;
        records[block + NEXT] = NONE;
        // Both are the list's head if it is empty now. Positions are positive, so only 0 - 1 has the sign bit.
        return ((previous ^ next) - 1) >>> 31;
    }

    // Hash table

    /** Finds the block in use that starts at an offset, or {@link #NONE}. */
    int find(final int start) {
        int block = records[slotOf(start) + CHAIN];
        while (block != NONE && records[block + START] != start) {
            block = records[block + CHAIN];
        }
        return block;
    }

    /** Puts a block in use into the hash table, which it isn't in. */
    void enter(final int block) {
        final int slot = slotOf(records[block + START]);
        records[block + CHAIN] = records[slot + CHAIN];
        records[slot + CHAIN] = block;
        entered++;
        if (entered * HashSlots.PER_BLOCK > slotMask && slotMask < slotCount - 1) {
            slotMask = 2 * slotMask + 1;
        }
    }

    /** Finds a block as {@link #find} does, and takes it out of the hash table; {@link #NONE} if nothing changed. */
    int remove(final int start) {
        final int slot = slotOf(start);
        final int block = records[slot + CHAIN];
        if (block == NONE || records[block + START] != start) {
            return removeFarther(start, block);
        }
        records[slot + CHAIN] = records[block + CHAIN];
        entered--;
        return block;
    }

    /** Goes on where the first of a chain isn't the one; the fence, if there is none, ends it. */
    private int removeFarther(final int start, final int first) {
        int link = first;
        int block = records[link + CHAIN];
        while (block != NONE && records[block + START] != start) {
            link = block;
            block = records[block + CHAIN];
        }
        if (block != NONE) {
            records[link + CHAIN] = records[block + CHAIN];
            entered--;
        }
        return block;
    }

    /** The slot of an offset, split from the one before it if need be. */
    private int slotOf(final int start) {
        final int slot = slots - CHAIN + (HashSlots.hash(start) & slotMask);
        if (records[slot + CHAIN] == HashSlots.NOT_SPLIT) {
            split(slot);
        }
        return slot;
    }

    /** Moves to a slot what belongs there from the slot that has it: the one without the highest bit of its number. */
    private void split(final int slot) {
        final int index = slot + CHAIN - slots;
        final int highestBit = Integer.highestOneBit(index);
        int link = slot - highestBit;
        if (records[link + CHAIN] == HashSlots.NOT_SPLIT) {
            split(link);
        }
        records[slot + CHAIN] = NONE;
        int block = records[link + CHAIN];
        while (block != NONE) {
            final int following = records[block + CHAIN];
            if ((HashSlots.hash(records[block + START]) & (2 * highestBit - 1)) == index) {
                records[link + CHAIN] = following;
                records[block + CHAIN] = records[slot + CHAIN];
                records[slot + CHAIN] = block;
            } else {
                link = block;
            }
            block = following;
        }
    }

    // The whole

    /** Blocks in the hash table. */
    int entered() {
        return entered;
    }

    /** Most blocks that the table holds, when it has grown as far as it may. */
    int maxBlocks() {
        return maxBlocks;
    }

    /** Host memory of the table, in bytes. */
    long hostBytes() {
        return 16 + (long) Integer.BYTES * records.length;
    }
}
