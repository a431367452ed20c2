package io.outboard.hal;

import java.util.Arrays;

/**
 * This bitmap has up to 2^32 bits with summaries above them, in which long stretches of ones or of zeros cost little
 * to change and little to skip: the hierarchical bitmap of Springer (DynaSOAR, 2019), section 3, for one thread.
 *
 * <pre>
 *   level 3                     one word          bit i: word i of level 2 isn't 0
 *   level 2                64 words  ...          bit i: word i of level 1 isn't 0
 *   level 1           4096 words     ...          bit i: node i holds a one      | thrice: these are {@code ones}; in
 *   bits     nodes of 8 words, 512 bits, a cache line each                       | {@code zeros}, "holds a zero"; in
 *                                                                                | {@code pairs}, "11 begins in it"
 * </pre>
 *
 * <p>Where we deviate from DynaSOAR, which has one summary, of bits that are set, and 64 bits under each of its bits:
 *
 * <ul>
 *   <li>There are three summaries. The first two complete each other: a node without a zero is all ones. So a search
 *       for a zero skips ones as quickly as a search for a one skips zeros, and a run of many nodes is found without a
 *       look at its bits. The third, of two ones in a row, which may end in the next node, skips ones that stand alone:
 *       where blocks in use lie side by side, there is nothing else.
 *   <li>Where a node holds ones only, or zeros only, the summaries alone say so, and its words are stale. These words
 *       are written when a part of the node changes, not before, so a range that covers whole nodes costs a bit in each
 *       summary for 512 of its own. Summaries are never stale.
 *   <li>512 bits under each bit of level 1 keep the summaries within 0.6 % of the bits.
 * </ul>
 *
 * <p>Behind the last bit stands a zero that never changes, and what fills up the last node and the last words are zeros
 * too: a search for a zero ends there, and no run of ones reaches beyond.
 *
 * <p>Confined to one thread. Changing a range writes at most two nodes and the summaries over the others; the next or
 * previous one or zero is found in a few words of each level. {@link RunSearch} says what a run costs. No garbage.
 */
class BoundaryBitmap {

    /** The value that stands for no bit. */
    static final long NONE = -1;

    /** The value from which ranges that are set get every bit of a word. */
    static final long ONES = -1L;

    /** The value from which ranges that are cleared get every bit of a word. */
    private static final long ZEROS = 0L;

    static final int WORD_LOG2 = 6;
    static final int NODE_LOG2 = 9;
    static final int NODE_BITS = 1 << NODE_LOG2;
    static final int NODE_WORDS = NODE_BITS / Long.SIZE;

    private final long length;

    /** The words of all nodes, or of none if a subclass has them. */
    private final long[] bits;

    final BitSummary ones;
    final BitSummary zeros;
    final BitSummary pairs;
    private final RunSearch runs;

    /**
     * Makes bits that are all 0, and all their words at once.
     *
     * @param length how many, from 1 to 2^32
     */
    BoundaryBitmap(final long length) {
        this(length, wordsFor(length));
    }

    /** Makes bits that are all 0, with words for so many of them. */
    BoundaryBitmap(final long length, final int words) {
        this.length = length;
        final int nodes = (int) (length >>> NODE_LOG2) + 1;
        bits = new long[words];
        ones = new BitSummary(nodes);
        zeros = new BitSummary(nodes);
        pairs = new BitSummary(nodes);
        zeros.fill();
        runs = new RunSearch(this);
    }

    long length() {
        return length;
    }

    long hostBytes() {
        return (long) Long.BYTES * bits.length + 3 * ones.hostBytes();
    }

    // Where words are, but for a subclass

    /** Gets a word of a node that holds both values; the words of others may be missing. */
    long word(final int word) {
        return bits[word];
    }

    /** Gets the array that a word is in, at {@link #indexOf}, with all words of its node. */
    long[] arrayOf(final int word) {
        return bits;
    }

    int indexOf(final int word) {
        return word;
    }

    /** Prepares for a change of a range that begins or ends at a bit. Nothing has changed if this throws an error. */
    void prepare(final long end) {}

    // Changes

    /** Makes every bit from {@code from} up to, not including, {@code to} a one. */
    void setRange(final long from, final long to) {
        if (from < to) {
            change(ONES, from, to, ones, zeros);
        }
    }

    /** Makes every bit from {@code from} up to, not including, {@code to} a zero. */
    void clearRange(final long from, final long to) {
        if (from < to) {
            change(ZEROS, from, to, zeros, ones);
        }
    }

    /**
     * Makes all bits of a range equal.
     *
     * @param value {@link #ONES} or {@link #ZEROS}
     * @param same the summary of nodes that hold this value
     * @param other that of nodes that hold the other one
     */
    private void change(
            final long value, final long from, final long to, final BitSummary same, final BitSummary other) {
        final int first = (int) (from >>> NODE_LOG2);
        final int last = (int) ((to - 1) >>> NODE_LOG2);
        prepare(from);
        prepare(to);
        // Nodes in between hold no other bit any more.
        int firstWithout = first;
        int lastWithout = last;
        if (first == last) {
            firstWithout += changeInNode(value, first, from, to, same, other);
        } else {
            firstWithout += changeInNode(value, first, from, firstBit(first + 1), same, other);
            lastWithout -= changeInNode(value, last, firstBit(last), to, same, other);
        }
        same.mark(first, last);
        if (firstWithout <= lastWithout) {
            other.unmark(firstWithout, lastWithout);
        }
        changePairs(value == ONES, from == 0 ? 0 : (int) ((from - 1) >>> NODE_LOG2), last);
    }

    /**
     * Changes the summary of pairs, for nodes whose bits, or whose next node's first bit, have become ones or zeros.
     */
    private void changePairs(final boolean set, final int first, final int last) {
        final int firstChanged = first + (pairsChange(set, first) ? 0 : 1);
        final int lastChanged = last - (last == first || pairsChange(set, last) ? 0 : 1);
        if (firstChanged <= lastChanged) {
            if (set) {
                pairs.mark(firstChanged, lastChanged);
            } else {
                pairs.unmark(firstChanged, lastChanged);
            }
        }
    }

    /** Tells whether the summary of pairs is wrong about a node: ones only add pairs, and zeros only remove them. */
    private boolean pairsChange(final boolean set, final int node) {
        return pairs.holds(node) != set && holdsPair(node) == set;
    }

    /** Tells whether two ones in a row begin in a node, by its bits; the second may be the next node's first. */
    private boolean holdsPair(final int node) {
        if (!ones.holds(node) || !zeros.holds(node)) {
            return ones.holds(node);
        }
        final int last = node * NODE_WORDS + NODE_WORDS - 1;
        for (int word = last - NODE_WORDS + 1; word < last; word++) {
            if ((word(word) & ((word(word) >>> 1) | (word(word + 1) << (Long.SIZE - 1)))) != 0) {
                return true;
            }
        }
        // The last node ends with a zero, so a node whose last bit is a one has another behind it.
        return (word(last) & (word(last) >>> 1)) != 0 || (word(last) < 0 && get(firstBit(node + 1)));
    }

    /** Changes a range within one node, but not the summaries. Answers 1 if the node holds other bits then, else 0. */
    private int changeInNode(
            final long value,
            final int node,
            final long from,
            final long to,
            final BitSummary same,
            final BitSummary other) {
        if (to - from == NODE_BITS || !other.holds(node)) {
            return 0;
        }
        final long[] words = arrayOf(node * NODE_WORDS);
        final int nodeStart = indexOf(node * NODE_WORDS);
        if (!same.holds(node)) {
            Arrays.fill(words, nodeStart, nodeStart + NODE_WORDS, ~value);
        }
        final int first = indexOf((int) (from >>> WORD_LOG2));
        final int last = indexOf((int) ((to - 1) >>> WORD_LOG2));
        final long firstMask = ONES << from;
        final long lastMask = ONES >>> -to;
        if (first == last) {
            changeInWord(value, words, first, firstMask & lastMask);
        } else {
            changeInWord(value, words, first, firstMask);
            for (int word = first + 1; word < last; word++) {
                words[word] = value;
            }
            changeInWord(value, words, last, lastMask);
        }
        if (words[first] != value || words[last] != value) {
            return 1;
        }
        for (int word = nodeStart; word < nodeStart + NODE_WORDS; word++) {
            if (words[word] != value) {
                return 1;
            }
        }
        return 0;
    }

    private static void changeInWord(final long value, final long[] words, final int word, final long mask) {
        words[word] = (words[word] & ~mask) | (value & mask);
    }

    // Single bits

    /** Tells whether a bit is a one, {@code 0 <= index <= length}; the last bit is the zero behind the end. */
    boolean get(final long index) {
        final int node = (int) (index >>> NODE_LOG2);
        if (!zeros.holds(node)) {
            return true;
        }
        return ones.holds(node) && (word((int) (index >>> WORD_LOG2)) & (1L << index)) != 0;
    }

    /** Finds the first one from {@code from}, at most {@code length}, upwards; {@code length} if there is none. */
    long nextOne(final long from) {
        return next(ONES, from, ones, zeros);
    }

    /** Finds the first zero from {@code from}, at most {@code length}, upwards; {@code length} if there is none. */
    long nextZero(final long from) {
        return next(ZEROS, from, zeros, ones);
    }

    private long next(final long value, final long from, final BitSummary same, final BitSummary other) {
        final int node = (int) (from >>> NODE_LOG2);
        if (same.holds(node)) {
            if (!other.holds(node)) {
                return from;
            }
            final int word = (int) (from >>> WORD_LOG2);
            final long found = (word(word) ^ ~value) & (ONES << from);
            if (found != 0) {
                return firstBitOfWord(word) + Long.numberOfTrailingZeros(found);
            }
            final int words = wordsThatHold(value, node) & (-2 << word % NODE_WORDS);
            if (words != 0) {
                return firstInWord(value, node * NODE_WORDS + Integer.numberOfTrailingZeros(words));
            }
        }
        final int following = same.next(node + 1);
        if (following == BitSummary.NONE) {
            return length;
        }
        return other.holds(following) ? firstInNode(value, following) : firstBit(following);
    }

    /** Finds the first bit of a value in a node that holds both values. */
    private long firstInNode(final long value, final int node) {
        return firstInWord(value, node * NODE_WORDS + Integer.numberOfTrailingZeros(wordsThatHold(value, node)));
    }

    private long firstInWord(final long value, final int word) {
        return firstBitOfWord(word) + Long.numberOfTrailingZeros(word(word) ^ ~value);
    }

    /** Bit i is 1 if word i of a node holds a bit of a value: which is the first can't be foreseen, so no branch. */
    private int wordsThatHold(final long value, final int node) {
        int words = 0;
        for (int word = NODE_WORDS - 1; word >= 0; word--) {
            final long found = word(node * NODE_WORDS + word) ^ ~value;
            words = 2 * words + (int) ((found | -found) >>> (Long.SIZE - 1));
        }
        return words;
    }

    /** Finds the last zero from {@code from}, at most {@code length}, downwards, or {@link #NONE}. */
    long previousZero(final long from) {
        final int node = (int) (from >>> NODE_LOG2);
        if (zeros.holds(node)) {
            if (!ones.holds(node)) {
                return from;
            }
            int word = (int) (from >>> WORD_LOG2);
            final int first = node * NODE_WORDS;
            long found = ~word(word) & (ONES >>> ~from);
            while (found == 0 && word > first) {
                found = ~word(--word);
            }
            if (found != 0) {
                return firstBitOfWord(word) + BitSummary.lastBitOf(found);
            }
        }
        final int preceding = zeros.previous(node - 1);
        if (preceding == BitSummary.NONE) {
            return NONE;
        }
        int word = preceding * NODE_WORDS + NODE_WORDS - 1;
        if (!ones.holds(preceding)) {
            return firstBit(preceding + 1) - 1;
        }
        while (word(word) == ONES) {
            word--;
        }
        return firstBitOfWord(word) + BitSummary.lastBitOf(~word(word));
    }

    /** Does {@link RunSearch#find}. */
    long findRun(final long from, final long limit, final long runLength) {
        return runs.find(from, limit, runLength);
    }

    // Where things are

    static int wordsFor(final long length) {
        return ((int) (length >>> NODE_LOG2) + 1) * NODE_WORDS;
    }

    static long firstBit(final int node) {
        return (long) node << NODE_LOG2;
    }

    static long firstBitOfWord(final int word) {
        return (long) word << WORD_LOG2;
    }
}
