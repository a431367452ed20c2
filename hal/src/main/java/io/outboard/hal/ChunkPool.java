package io.outboard.hal;

import java.util.Arrays;

/**
 * This pool has the chunks that {@link HybridArrayList}s are made of, all taken from the JVM at once until {@link
 * #growFor}. A chunk is a page by default, its keys in one run and its values in another, so that a scan over either is
 * contiguous; chunk headers lie together in an array of their own, so that a walk over chunks stays in few cache lines:
 *
 * <pre>
 *   entries   | key 0 .. key 511 | value 0 .. value 511 |  next chunk  ...
 *
 *   headers   +0 first      the first key; 0 in a list's first chunk, which ends every search
 *             +1 count      entries in the chunk
 *             +2 previous   chunk of the list, or NONE
 *             +3 next       chunk of the list, or of the unused ones, or NONE
 *             +4 largest    no value in the chunk is larger; +5..+7 unused
 * </pre>
 *
 * <p>A <em>chunk</em> is named by the position of its header; its entries start at the position {@link #base}.
 *
 * <p>Why the pool can't run out: with C entries to a chunk, any two neighbouring chunks of a list hold more than 3/4 C
 * entries (see {@link HybridArrayList}). A list of n entries and c chunks has c/2 separate pairs of neighbours, rounded
 * down, so c is at most 2 * floor(n / (3/4 C + 1)) + 1. All lists together have at most 2 * floor(N / (3/4 C + 1))
 * chunks for their N entries, one more for each list, and one more while a chunk is being split. So for many entries
 * that's room for 8/3 N of them: 21.5 bytes each, headers included.
 *
 * <p>It grows by copying: chunks keep their names, and entries their positions; new chunks are behind them.
 *
 * <p>Confined to one thread.
 */
final class ChunkPool {

    /** The value that stands for no chunk, and for no entry. */
    static final int NONE = -1;

    /** The number of entries of 8 bytes that fill a page. */
    static final int PAGE = 512;

    static final int FIRST = 0;
    static final int COUNT = 1;
    static final int PREVIOUS = 2;
    static final int NEXT = 3;
    static final int LARGEST = 4;

    private static final int HEADER_INTS_LOG2 = 3;
    private static final int HEADER_INTS = 1 << HEADER_INTS_LOG2;
    private static final int SMALLEST_CAPACITY = 4;

    final int capacity;
    int[] entries;
    int[] headers;
    private final int lists;
    private final int baseShift;

    /** The first of the chain of unused chunks, through {@link #NEXT}. */
    private int unused;

    /**
     * Makes a pool of unused chunks.
     *
     * @param maxEntries most entries that all lists hold together
     * @param lists most lists made of these chunks
     * @param capacity entries to a chunk, a power of two from 4
     */
    ChunkPool(final int maxEntries, final int lists, final int capacity) {
        assert Integer.bitCount(capacity) == 1 && capacity >= SMALLEST_CAPACITY;
        this.capacity = capacity;
        this.lists = lists;
        baseShift = Integer.numberOfTrailingZeros(capacity) + 1 - HEADER_INTS_LOG2;
        final int chunks = chunksFor(maxEntries);
        entries = new int[chunks * 2 * capacity];
        headers = new int[chunks * HEADER_INTS];
        unused = NONE;
        giveBackFrom(0);
    }

    private int chunksFor(final int maxEntries) {
        return 2 * (maxEntries / (maxMerged() + 1)) + lists + 1;
    }

    private void giveBackFrom(final int first) {
        for (int chunk = headers.length - HEADER_INTS; chunk >= first; chunk -= HEADER_INTS) {
            giveBack(chunk);
        }
    }

    /**
     * Makes the pool large enough for more entries; lists look at arrays of the past until {@link
     * HybridArrayList#followPool}. O(chunks), and the time to copy them. If the JVM has no memory, nothing changes.
     */
    void growFor(final int maxEntries) {
        final int chunks = chunksFor(maxEntries);
        if (chunks * HEADER_INTS == headers.length) {
            return;
        }
        final int[] grownEntries = Arrays.copyOf(entries, chunks * 2 * capacity);
        final int[] grownHeaders = Arrays.copyOf(headers, chunks * HEADER_INTS);
        final int firstNew = headers.length;
        entries = grownEntries;
        headers = grownHeaders;
        giveBackFrom(firstNew);
    }

    /**
     * Tells the most entries of two neighbours that are merged: at 3/4, a quarter more must come before the chunk
     * splits again.
     */
    int maxMerged() {
        return capacity / 4 * 3;
    }

    /** Takes an empty chunk that is in no list. */
    int take() {
        final int chunk = unused;
        assert chunk != NONE : "more entries than the pool was made for";
        unused = headers[chunk + NEXT];
        headers[chunk + FIRST] = 0;
        headers[chunk + COUNT] = 0;
        headers[chunk + PREVIOUS] = NONE;
        headers[chunk + NEXT] = NONE;
        headers[chunk + LARGEST] = 0;
        return chunk;
    }

    void giveBack(final int chunk) {
        headers[chunk + NEXT] = unused;
        unused = chunk;
    }

    /** Tells where a chunk's keys start in {@link #entries}; its values start {@link #capacity} later. */
    int base(final int chunk) {
        return chunk << baseShift;
    }

    /** Tells the chunk that a position among its keys belongs to. */
    int chunkOf(final int position) {
        return (position >>> baseShift) & -HEADER_INTS;
    }

    /** Counts the chunks in no list. O(chunks): for tests. */
    int unusedChunks() {
        int count = 0;
        for (int chunk = unused; chunk != NONE; chunk = headers[chunk + NEXT]) {
            count++;
        }
        return count;
    }

    long hostBytes() {
        return (long) Integer.BYTES * (entries.length + headers.length);
    }
}
