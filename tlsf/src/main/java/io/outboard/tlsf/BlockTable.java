package io.outboard.tlsf;

import java.util.SplittableRandom;
import java.util.function.IntFunction;

/**
 * This table has the blocks of one region, in host memory: a record for each, those in use found by address through a
 * hash table.
 *
 * <p>After Bell, Kumar and Gill (2024), section III-C: a hash table keyed by device address replaces the boundary tags
 * of a classic allocator. Where we deviate: only {@link #find} looks up, and only blocks in use, the ones that a caller
 * can name, are in the hash table at all.
 *
 * <p>Blocks with the same hash are chained through their records, as in the paper: putting in needs no search. The
 * slots in use double with the blocks in use, so a program with few blocks stays in few cache lines, but no operation
 * ever stops to grow a table: a slot that comes into use is marked, and takes its blocks over from the slot that had
 * them so far when it is asked for the first time (the splits of linear hashing, Litwin 1980, in the order of use).
 *
 * <p>A block in use that is <em>held</em> isn't in the hash table: a handle names it, which says where its record is.
 * Record and start must both be right, and the record be that of a held block. So a handle outlives its block by as
 * much as an address does: until a block that is held has the same start again, and the same record besides.
 *
 * <pre>
 *   handle    [ 0 | number of the record: 26 bits | start: 32 bits ]
 * </pre>
 *
 * <p>A slot that is {@link #NEW} still has its blocks where they were when half as many were in use. Slots grow with
 * the records. How long {@link #makeRoomFor} took then, in milliseconds, to double full tables of so many blocks (JDK
 * 25, G1, two shared cores, 2026-11-22, medians of 40 to 400 tables, and of five JVMs for the first time in each). That
 * was before the array's length was a power of two; what is copied has become an eighth less for each block, and is the
 * same otherwise:
 *
 * <pre>
 *   blocks                               1024   16384   65536   131072   262144   524288
 *   after warm-up                       0.005    0.11     0.6      1.4      6.4       12
 *   first time, heap touched before     0.020    0.18     0.7      1.2      6.3        8
 *   first time, heap not touched yet    0.09      1.0      18       31       47       90
 * </pre>
 *
 * <p>The last line is what the operating system takes to find pages; {@code -XX:+AlwaysPreTouch} avoids it. A
 * collection or another process on the core comes on top: up to 0.4 s were seen, on cores that had four times as much
 * to do as they could.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1) expected for {@link #find}, {@link #enter} and {@link #remove};
 * host memory as {@link BlockRecords} says.
 */
class BlockTable extends BlockRecords {

    /**
     * The slots in use for each block in use, as long as there are slots. 1, 2 and 4 are equally fast on the profiles
     * (2026-11-20).
     */
    private static final int PER_BLOCK = 2;

    /**
     * This number is 2^64 divided by the golden ratio (Knuth, vol. 3, section 6.4), but for its lower half, which each
     * JVM draws anew. So nobody can work out beforehand which blocks share a slot; and since the number is compiled in,
     * drawing it costs nothing.
     */
    private static final long SPREAD = 0x9E3779B900000001L | Integer.toUnsignedLong(new SplittableRandom().nextInt());

    /** The value in place of the next in a chain if the block is held. No other record has it, in use or not. */
    private static final int HELD = -1;

    private int entered;

    private int held;

    /**
     * The slots in use, a power of two, less one. 64 at first are 1 ns slower on the profile {@code paper}, 2048
     * aren't faster (2026-11-20).
     */
    private int slotMask = LEAST_SLOTS - 1;

    /**
     * Makes an empty table that holds {@code firstBlocks} or more before it grows, with words for a subclass. {@code
     * maxBlocks} are the most, free and in use together, from 2 to 2^26.
     */
    BlockTable(final int firstBlocks, final int maxBlocks, final int lists, final int words) {
        this(firstBlocks, maxBlocks, lists, words, int[]::new);
    }

    /** Takes arrays from tests in which the JVM has no memory left. */
    BlockTable(
            final int firstBlocks,
            final int maxBlocks,
            final int lists,
            final int words,
            final IntFunction<int[]> memory) {
        super(firstBlocks, maxBlocks, lists, words, memory);
    }

    /** Finds the block in use that starts at an offset, or {@link #NONE}. */
    final int find(final int start) {
        final int slot = slotOf(start);
        int block = get(slot);
        if (block == NEW) {
            split(slot);
            block = get(slot);
        }
        while (block != NONE && start(block) != start) {
            block = get(block + CHAIN);
        }
        return block;
    }

    /** Puts a block in use into the hash table, which it isn't in. */
    final void enter(final int block) {
        final int slot = slotOf(start(block));
        final int first = get(slot);
        if (first == NEW) {
            split(slot);
            enter(block);
            return;
        }
        put(block + CHAIN, first);
        put(slot, block);
        entered++;
        if (entered * PER_BLOCK > slotMask) {
            useMoreSlots();
        }
    }

    private void useMoreSlots() {
        if (slotMask < slots() - 1) {
            slotMask = 2 * slotMask + 1;
        }
    }

    /** Finds a block as {@link #find} does, and takes it out of the hash table; {@link #NONE} if nothing changed. */
    final int remove(final int start) {
        final int slot = slotOf(start);
        final int block = get(slot);
        // One comparison for an empty slot and for one that isn't split.
        if (block <= NONE || start(block) != start) {
            return removeFarther(start, slot);
        }
        put(slot, get(block + CHAIN));
        entered--;
        return block;
    }

    /** Removes a block that isn't the first of its chain as that is now; the fence, if there is none, ends it. */
    private int removeFarther(final int start, final int slot) {
        if (get(slot) == NEW) {
            split(slot);
            return remove(start);
        }
        int link = get(slot);
        int block = get(link + CHAIN);
        while (block != NONE && start(block) != start) {
            link = block;
            block = get(block + CHAIN);
        }
        if (block != NONE) {
            put(link + CHAIN, get(block + CHAIN));
            entered--;
        }
        return block;
    }

    /** Tells the slot of an offset, as a position. The slot may be one that isn't split yet. */
    private int slotOf(final int start) {
        return slot(hash(start) & slotMask);
    }

    /** Splits a slot from the one that has its blocks, after all those on the way that aren't split either. */
    private void split(final int slot) {
        while (get(slot) == NEW) {
            int next = slot;
            while (get(parent(next)) == NEW) {
                next = parent(next);
            }
            split(next, parent(next));
        }
    }

    /** Tells the slot that has a slot's blocks until that is split: the one without the highest bit of its number. */
    private int parent(final int slot) {
        return slot - Integer.highestOneBit(slot - slot(0));
    }

    private void split(final int slot, final int from) {
        final int index = slot - slot(0);
        final int mask = 2 * (slot - from) - 1;
        int block = get(from);
        put(from, NONE);
        put(slot, NONE);
        while (block != NONE) {
            final int following = get(block + CHAIN);
            final int to = (hash(start(block)) & mask) == index ? slot : from;
            put(block + CHAIN, get(to));
            put(to, block);
            block = following;
        }
    }

    /** Counts the blocks in the hash table. */
    final int entered() {
        return entered;
    }

    // Blocks by handle

    /** Holds a block in use that isn't in the hash table, and answers its handle. */
    final long hold(final int block) {
        put(block + CHAIN, HELD);
        held++;
        return (long) number(block) << 32 | Integer.toUnsignedLong(start(block));
    }

    /** Finds the held block that a handle names, or {@link #NONE}; any long will do. */
    final int heldAs(final long handle) {
        // The fence is never held, so a number that no record has needs no branch of its own.
        final int block = numbered(handle >>> 32);
        return isHeld(block) && start(block) == (int) handle ? block : NONE;
    }

    final boolean isHeld(final int block) {
        return get(block + CHAIN) == HELD;
    }

    /** Lets a held block go. */
    final void letGo(final int block) {
        put(block + CHAIN, NONE);
        held--;
    }

    /** Counts the blocks that are held. */
    final int held() {
        return held;
    }

    /**
     * Spreads offsets over all bits. A product's low bits depend on few bits of its factors, and slots are told apart
     * by the low bits, so the high ones are folded in: blocks of one size, whose offsets are equally spaced, would
     * otherwise gather in few slots.
     */
    static int hash(final int start) {
        final int high = (int) ((Integer.toUnsignedLong(start) * SPREAD) >>> 32);
        return high ^ (high >>> 10) ^ (high >>> 20);
    }
}
