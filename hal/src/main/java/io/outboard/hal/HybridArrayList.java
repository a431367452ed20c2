package io.outboard.hal;

import static io.outboard.hal.ChunkPool.COUNT;
import static io.outboard.hal.ChunkPool.FIRST;
import static io.outboard.hal.ChunkPool.LARGEST;
import static io.outboard.hal.ChunkPool.NEXT;
import static io.outboard.hal.ChunkPool.PREVIOUS;

/**
 * This sorted list has entries, each a key and a value, both unsigned: arrays of entries, the <em>chunks</em>, in a
 * linked list. Bell, Kumar and Gill (2024), section III-A, appendix and algorithm 6, after Sara, Klaib and Hasan
 * (2020).
 *
 * <p>A <em>cursor</em>, the paper's iterator, names an entry by where its key is in {@link ChunkPool#entries}: a chunk
 * and an index packed into an int. Any insertion or removal makes the cursors of a list void.
 *
 * <pre>
 *    31                   10   9   8            0
 *   |  chunk, by number     |  0  |  index       |      with chunks of 512 entries
 * </pre>
 *
 * <ol>
 *   <li><b>search</b> goes over the chunks from the last one back until a chunk's first key isn't greater than the one
 *       wanted, then halves that chunk.
 *   <li><b>insert</b> shifts the entries after the new one. A full chunk is split first: half of it goes to a new
 *       chunk.
 *   <li><b>remove</b> shifts the entries after the one removed. An empty chunk leaves the list.
 * </ol>
 *
 * <p>Beyond the paper (see {@code docs/errata.md}), two neighbouring chunks that together have at most 3/4 of a chunk's
 * entries are merged, after a removal or a split, which bounds host memory (see {@link ChunkPool}) and the chunks to
 * walk over. The first chunk stays when the list is empty. Each chunk has an upper bound of its values, so that looking
 * for a large value skips chunks; the bound is tightened when a chunk is scanned in vain.
 *
 * <p>Confined to one thread. For n entries in chunks of m: search O(n/m + log m), insert and remove O(m), next and
 * previous O(1), no garbage. The pool of chunks has room for as many entries as there will be, or is grown before. It
 * trusts its callers.
 */
final class HybridArrayList {

    /** The value that stands for no entry. */
    static final int NONE = ChunkPool.NONE;

    private final ChunkPool pool;
    private int[] entries;
    private int[] headers;

    /** The distance from a key to its value. */
    private final int capacity;

    /** The first chunk: splits and merges keep the one at lower keys, so this one stays. */
    private final int head;

    private int tail;
    private int size;

    /** Makes an empty list. */
    HybridArrayList(final ChunkPool pool) {
        this.pool = pool;
        entries = pool.entries;
        headers = pool.headers;
        capacity = pool.capacity;
        head = pool.take();
        tail = head;
    }

    /** Looks at the arrays that the pool has now; it is called when the pool has grown. Cursors stay good. */
    void followPool() {
        entries = pool.entries;
        headers = pool.headers;
    }

    int size() {
        return size;
    }

    int key(final int cursor) {
        return entries[cursor];
    }

    int value(final int cursor) {
        return entries[cursor + capacity];
    }

    // Iteration

    /** Finds the entry with the least key, or none. */
    int first() {
        return size == 0 ? NONE : pool.base(head);
    }

    /** Finds the entry with the greatest key, or none. */
    int last() {
        return size == 0 ? NONE : end(tail) - 1;
    }

    /** Finds the entry after another, or none; after none, the first. Equation 1 of the paper. */
    int next(final int cursor) {
        if (cursor == NONE) {
            return first();
        }
        final int chunk = pool.chunkOf(cursor);
        if (cursor + 1 < end(chunk)) {
            return cursor + 1;
        }
        final int next = headers[chunk + NEXT];
        return next == NONE ? NONE : pool.base(next);
    }

    /** Finds the entry before another, or none; before none, the last. Equation 2 of the paper. */
    int previous(final int cursor) {
        if (cursor == NONE) {
            return last();
        }
        final int chunk = pool.chunkOf(cursor);
        if (cursor > pool.base(chunk)) {
            return cursor - 1;
        }
        final int previous = headers[chunk + PREVIOUS];
        return previous == NONE ? NONE : end(previous) - 1;
    }

    // By key

    /** Finds the entry with the greatest key that isn't greater than {@code key}, or none. */
    int search(final int key) {
        if (size == 0) {
            return NONE;
        }
        int chunk = tail;
        while (Integer.compareUnsigned(headers[chunk + FIRST], key) > 0) {
            chunk = headers[chunk + PREVIOUS];
        }
        final int base = pool.base(chunk);
        int position = base;
        int left = headers[chunk + COUNT];
        // Where a search goes can't be foreseen. The JVM makes conditional moves of these choices, not branches: on the
        // profile "large", an operation is 10 % faster than with arithmetic on signs (replay on JDK 25, 2026-11-20).
        while (left > 1) {
            final int half = left >>> 1;
            position = Integer.compareUnsigned(entries[position + half - 1], key) <= 0 ? position + half : position;
            left -= half;
        }
        position = Integer.compareUnsigned(entries[position], key) <= 0 ? position + 1 : position;
        return position == base ? NONE : position - 1;
    }

    // Changes

    /**
     * Adds an entry.
     *
     * @param cursor the entry before the new one, or none if the new one will be the first
     * @param key greater than the keys up to the cursor, less than those after it
     */
    void insertAfter(final int cursor, final int key, final int value) {
        final int chunk = cursor == NONE ? head : pool.chunkOf(cursor);
        final int position = cursor == NONE ? pool.base(head) : cursor + 1;
        size++;
        if (headers[chunk + COUNT] == capacity) {
            insertIntoFull(chunk, position, key, value);
        } else {
            insertAt(chunk, position, key, value);
        }
    }

    /** Removes an entry. */
    void remove(final int cursor) {
        final int chunk = pool.chunkOf(cursor);
        final int count = headers[chunk + COUNT] - 1;
        final int after = end(chunk) - cursor - 1;
        System.arraycopy(entries, cursor + 1, entries, cursor, after);
        System.arraycopy(entries, cursor + 1 + capacity, entries, cursor + capacity, after);
        headers[chunk + COUNT] = count;
        noteFirst(chunk, cursor);
        size--;
        if (count <= pool.maxMerged() && !mergeIfSparse(headers[chunk + PREVIOUS], chunk)) {
            mergeIfSparse(chunk, headers[chunk + NEXT]);
        }
    }

    /** Changes an entry in place; its key stays between its neighbours' keys. */
    void set(final int cursor, final int key, final int value) {
        final int chunk = pool.chunkOf(cursor);
        entries[cursor] = key;
        entries[cursor + capacity] = value;
        noteFirst(chunk, cursor);
        noteValue(chunk, value);
    }

    /** Notes that the first key may have changed, if that is where the cursor is. */
    private void noteFirst(final int chunk, final int cursor) {
        if (cursor == pool.base(chunk) && chunk != head) {
            headers[chunk + FIRST] = entries[cursor];
        }
    }

    private void noteValue(final int chunk, final int value) {
        if (Integer.compareUnsigned(headers[chunk + LARGEST], value) < 0) {
            headers[chunk + LARGEST] = value;
        }
    }

    /** Only in the first chunk can an entry become the chunk's first: elsewhere it comes after the one at a cursor. */
    private void insertAt(final int chunk, final int position, final int key, final int value) {
        final int after = end(chunk) - position;
        System.arraycopy(entries, position, entries, position + 1, after);
        System.arraycopy(entries, position + capacity, entries, position + 1 + capacity, after);
        entries[position] = key;
        entries[position + capacity] = value;
        headers[chunk + COUNT]++;
        noteValue(chunk, value);
    }

    private void insertIntoFull(final int chunk, final int position, final int key, final int value) {
        final int upper = split(chunk);
        if (position > end(chunk)) {
            insertAt(upper, position - end(chunk) + pool.base(upper), key, value);
        } else {
            insertAt(chunk, position, key, value);
        }
        mergeIfSparse(headers[chunk + PREVIOUS], chunk);
        mergeIfSparse(upper, headers[upper + NEXT]);
    }

    /** Moves the upper half of a full chunk to a new one, which follows it. */
    private int split(final int chunk) {
        final int upper = pool.take();
        final int half = capacity / 2;
        headers[chunk + COUNT] = half;
        moveEntries(end(chunk), upper, half);
        headers[upper + FIRST] = entries[pool.base(upper)];
        headers[upper + LARGEST] = headers[chunk + LARGEST];
        link(upper, headers[chunk + NEXT]);
        link(chunk, upper);
        return upper;
    }

    /**
     * Merges two chunks, unless either is none, or together they have more than merged chunks may; tells whether it
     * did.
     */
    private boolean mergeIfSparse(final int lower, final int upper) {
        if (lower == NONE || upper == NONE) {
            return false;
        }
        final int lowerCount = headers[lower + COUNT];
        final int upperCount = headers[upper + COUNT];
        if (lowerCount + upperCount > pool.maxMerged() && lowerCount != 0 && upperCount != 0) {
            return false;
        }
        moveEntries(pool.base(upper), lower, upperCount);
        noteValue(lower, headers[upper + LARGEST]);
        link(lower, headers[upper + NEXT]);
        pool.giveBack(upper);
        return true;
    }

    /** Appends entries of one chunk to another. */
    private void moveEntries(final int position, final int chunk, final int count) {
        final int end = end(chunk);
        System.arraycopy(entries, position, entries, end, count);
        System.arraycopy(entries, position + capacity, entries, end + capacity, count);
        headers[chunk + COUNT] += count;
    }

    private void link(final int chunk, final int next) {
        headers[chunk + NEXT] = next;
        if (next == NONE) {
            tail = chunk;
        } else {
            headers[next + PREVIOUS] = chunk;
        }
    }

    /** Tells where the keys of a chunk end. */
    private int end(final int chunk) {
        return pool.base(chunk) + headers[chunk + COUNT];
    }

    // By value

    /**
     * Finds the first entry from the cursor on whose value is {@code value} or more, or none. From none on, there is
     * none.
     */
    int firstAtLeast(final int cursor, final int value) {
        if (cursor == NONE) {
            return NONE;
        }
        int chunk = pool.chunkOf(cursor);
        int from = cursor + capacity;
        while (true) {
            if (Integer.compareUnsigned(headers[chunk + LARGEST], value) >= 0) {
                final int to = end(chunk) + capacity;
                for (int i = from; i < to; i++) {
                    if (Integer.compareUnsigned(entries[i], value) >= 0) {
                        return i - capacity;
                    }
                }
                tighten(chunk);
            }
            chunk = headers[chunk + NEXT];
            if (chunk == NONE) {
                return NONE;
            }
            from = pool.base(chunk) + capacity;
        }
    }

    /**
     * Finds the entry with the least value that is {@code value} or more, the first of these, or none.
     *
     * <p>The excess over {@code value}, as a number without a sign, is least for the best entry, and wraps around to
     * the greatest numbers for entries below it. Flipping the sign bit gives signed numbers the same order, and adding
     * that bit flips it. So there is one subtraction and one minimum for each entry, which the JVM does on vectors.
     * Best fit is 1.4 times as fast by that as with a plain loop (profiles "large" and "mid", replay on JDK 25,
     * 2026-11-20).
     *
     * @param value greater than 0
     */
    int leastAtLeast(final int value) {
        final int subtrahend = value ^ Integer.MIN_VALUE;
        final int tooMuch = -subtrahend;
        int least = tooMuch;
        int found = NONE;
        for (int chunk = head; chunk != NONE && least != Integer.MIN_VALUE; chunk = headers[chunk + NEXT]) {
            if (Integer.compareUnsigned(headers[chunk + LARGEST], value) >= 0) {
                final int excess = leastExcess(chunk, subtrahend);
                if (excess < least) {
                    least = excess;
                    found = chunk;
                } else if (excess >= tooMuch) {
                    tighten(chunk);
                }
            }
        }
        return found == NONE ? NONE : find(found, least + subtrahend);
    }

    private int leastExcess(final int chunk, final int subtrahend) {
        final int[] values = entries;
        final int to = end(chunk) + capacity;
        int least = Integer.MAX_VALUE;
        for (int i = pool.base(chunk) + capacity; i < to; i++) {
            least = Math.min(least, values[i] - subtrahend);
        }
        return least;
    }

    /** Finds the first entry of a chunk that has a value; there is one. */
    private int find(final int chunk, final int value) {
        int i = pool.base(chunk) + capacity;
        while (entries[i] != value) {
            i++;
        }
        return i - capacity;
    }

    /** Makes the bound of a chunk's values exact. */
    private void tighten(final int chunk) {
        final int[] values = entries;
        final int to = end(chunk) + capacity;
        int largest = Integer.MIN_VALUE;
        for (int i = pool.base(chunk) + capacity; i < to; i++) {
            largest = Math.max(largest, values[i] ^ Integer.MIN_VALUE);
        }
        headers[chunk + LARGEST] = largest ^ Integer.MIN_VALUE;
    }
}
