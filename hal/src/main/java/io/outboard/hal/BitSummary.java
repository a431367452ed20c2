package io.outboard.hal;

import java.util.Arrays;

/**
 * This summary has a bit for each node of a {@link BoundaryBitmap}, and summaries of these bits above them: 64 bits
 * under each bit, up to a level of one word. It is never stale.
 *
 * <p>Confined to one thread. Changing a range of nodes writes a bit for each on level 1 and fewer above; the next or
 * previous node is found in two words of each level at most. No garbage.
 */
final class BitSummary {

    /** The value that stands for no node. */
    static final int NONE = -1;

    /** The levels are enough for 2^23 + 1 nodes: they have 2^17 + 1, 2^11 + 1, 33 and 1 words then. */
    private static final int MAX_LEVELS = 5;

    private static final int WORD_LOG2 = 6;
    private static final long ONES = -1L;

    private final int levels;

    /** The positions where the words of each level begin, and behind the last where they end; level 1 is the first. */
    private final int[] starts = new int[MAX_LEVELS + 1];

    private final long[] words;

    /** Makes a bit for each of {@code nodes} nodes, all of them 0. */
    BitSummary(final int nodes) {
        int level = 0;
        int wordsOfLevel = nodes;
        do {
            wordsOfLevel = ((wordsOfLevel - 1) >>> WORD_LOG2) + 1;
            starts[level + 1] = starts[level] + wordsOfLevel;
            level++;
        } while (wordsOfLevel > 1);
        levels = level;
        words = new long[starts[levels]];
    }

    long hostBytes() {
        return (long) Long.BYTES * words.length + (long) Integer.BYTES * starts.length;
    }

    boolean holds(final int node) {
        return (words[node >>> WORD_LOG2] & (1L << node)) != 0;
    }

    /**
     * Sets the bits of all nodes, and those that fill up the last word of each level: {@link #nextClear} stops before.
     */
    void fill() {
        Arrays.fill(words, ONES);
    }

    /** Sets the bits of nodes. */
    void mark(final int firstNode, final int lastNode) {
        int first = firstNode;
        int last = lastNode;
        for (int level = 0; level < levels && first <= last; level++) {
            final int firstWord = starts[level] + (first >>> WORD_LOG2);
            final int lastWord = starts[level] + (last >>> WORD_LOG2);
            final long firstBefore = words[firstWord];
            final long lastBefore = words[lastWord];
            if (firstWord == lastWord) {
                words[firstWord] |= (ONES << first) & (ONES >>> ~last);
            } else {
                words[firstWord] |= ONES << first;
                Arrays.fill(words, firstWord + 1, lastWord, ONES);
                words[lastWord] |= ONES >>> ~last;
            }
            // A word that wasn't 0 is marked above.
            first = (first >>> WORD_LOG2) + (firstBefore != 0 ? 1 : 0);
            last = (last >>> WORD_LOG2) - (lastBefore != 0 ? 1 : 0);
        }
    }

    /** Clears the bits of nodes. */
    void unmark(final int firstNode, final int lastNode) {
        int first = firstNode;
        int last = lastNode;
        for (int level = 0; level < levels && first <= last; level++) {
            final int firstWord = starts[level] + (first >>> WORD_LOG2);
            final int lastWord = starts[level] + (last >>> WORD_LOG2);
            if (firstWord == lastWord) {
                words[firstWord] &= ~((ONES << first) & (ONES >>> ~last));
            } else {
                words[firstWord] &= ~(ONES << first);
                Arrays.fill(words, firstWord + 1, lastWord, 0);
                words[lastWord] &= ~(ONES >>> ~last);
            }
            // A word that isn't 0 stays marked above.
            first = (first >>> WORD_LOG2) + (words[firstWord] != 0 ? 1 : 0);
            last = (last >>> WORD_LOG2) - (words[lastWord] != 0 ? 1 : 0);
        }
    }

    /**
     * Finds the first node whose bit is 1, upwards from {@code from}, at most one behind the last, or {@link #NONE}.
     */
    int next(final int from) {
        int index = from;
        for (int level = 0; level < levels; level++) {
            final int word = starts[level] + (index >>> WORD_LOG2);
            if (word >= starts[level + 1]) {
                return NONE;
            }
            final long found = words[word] & (ONES << index);
            if (found != 0) {
                index = (index & -Long.SIZE) + Long.numberOfTrailingZeros(found);
                for (int below = level - 1; below >= 0; below--) {
                    index = (index << WORD_LOG2) + Long.numberOfTrailingZeros(words[starts[below] + index]);
                }
                return index;
            }
            index = (index >>> WORD_LOG2) + 1;
        }
        return NONE;
    }

    /** Finds the last node whose bit is 1, downwards from {@code from}, at least -1, or {@link #NONE}. */
    int previous(final int from) {
        int index = from;
        // The top level is one word, in front of which there is nothing.
        for (int level = 0; index >= 0; level++) {
            final long found = words[starts[level] + (index >>> WORD_LOG2)] & (ONES >>> ~index);
            if (found != 0) {
                index = (index & -Long.SIZE) + lastBitOf(found);
                for (int below = level - 1; below >= 0; below--) {
                    index = (index << WORD_LOG2) + lastBitOf(words[starts[below] + index]);
                }
                return index;
            }
            index = (index >>> WORD_LOG2) - 1;
        }
        return NONE;
    }

    /**
     * Finds the first bit of a level, upwards from {@code from}, that is 0: nothing below that bit is 1. Answers
     * {@link #NONE} if there is none.
     */
    int nextClear(final int level, final int from) {
        int word = starts[level] + (from >>> WORD_LOG2);
        long found = ~words[word] & (ONES << from);
        while (found == 0) {
            word++;
            if (word == starts[level + 1]) {
                return NONE;
            }
            found = ~words[word];
        }
        return ((word - starts[level]) << WORD_LOG2) + Long.numberOfTrailingZeros(found);
    }

    static int lastBitOf(final long word) {
        return Long.SIZE - 1 - Long.numberOfLeadingZeros(word);
    }
}
