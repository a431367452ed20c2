package io.outboard.hal;

import static io.outboard.hal.BoundaryBitmap.NODE_BITS;
import static io.outboard.hal.BoundaryBitmap.NODE_LOG2;
import static io.outboard.hal.BoundaryBitmap.NODE_WORDS;
import static io.outboard.hal.BoundaryBitmap.NONE;
import static io.outboard.hal.BoundaryBitmap.ONES;
import static io.outboard.hal.BoundaryBitmap.WORD_LOG2;
import static io.outboard.hal.BoundaryBitmap.firstBit;
import static io.outboard.hal.BoundaryBitmap.firstBitOfWord;

/**
 * This class finds runs of ones in a {@link BoundaryBitmap}: short runs word by word, where two ones in a row are at
 * all, long runs by the summaries alone.
 *
 * <p>Confined to one thread. {@link #find} says what it costs. No garbage.
 */
final class RunSearch {

    private final BoundaryBitmap bitmap;
    private final BitSummary ones;
    private final BitSummary zeros;
    private final BitSummary pairs;

    RunSearch(final BoundaryBitmap bitmap) {
        this.bitmap = bitmap;
        ones = bitmap.ones;
        zeros = bitmap.zeros;
        pairs = bitmap.pairs;
    }

    /**
     * Finds the first run of ones that is long enough; {@code from} should be where a run begins, else what is in
     * front of it is ignored. It looks at a run or two if one of these is long enough. Else the search goes by length:
     *
     * <ul>
     *   <li>Up to 1022, it reads the words of every node that holds a zero and two ones in a row, once, and several
     *       runs in a word at once.
     *   <li>From 1023, a run holds a whole node: a run of {@code 2 s - 1} bits holds an aligned stretch of {@code s}.
     *       It reads one word for 64 nodes to find nodes without a zero. Of runs of 65,535 and more, it reads one word
     *       for 4,096 nodes, and so on.
     * </ul>
     *
     * @param from where a run may start at the earliest, at most {@code length}
     * @param limit where a run may start no more
     * @param runLength ones that the run needs, from 2 to {@code length + 1}, which no bitmap has
     * @return the run's first bit, or {@link BoundaryBitmap#NONE}
     */
    long find(final long from, final long limit, final long runLength) {
        final long start = bitmap.nextOne(from);
        if (start >= limit) {
            return NONE;
        }
        final long end = bitmap.nextZero(start);
        if (end - start >= runLength) {
            return start;
        }
        final long found = runLength < 2 * NODE_BITS - 1
                ? findShortRun(end, limit, (int) runLength)
                : findLongRun(end, limit, runLength);
        return found < limit ? found : NONE;
    }

    /** Does what {@link #find} does, from a zero, but the run may lie behind the limit. */
    private long findShortRun(final long from, final long limit, final int runLength) {
        int node = (int) (from >>> NODE_LOG2);
        int word = (int) (from >>> WORD_LOG2);
        long mask = ONES << from;
        // The run's ones end where the word begins, and are always fewer than are needed.
        int run = 0;
        while (firstBit(node) - run < limit) {
            // Where a run goes on, one more bit may be all that it needs.
            if (!ones.holds(node) || (run == 0 && !pairs.holds(node))) {
                node = pairs.next(node + 1);
                if (node == BitSummary.NONE) {
                    return NONE;
                }
                word = node * NODE_WORDS;
                mask = ONES;
                run = 0;
            }
            if (!zeros.holds(node)) {
                run += NODE_BITS;
                if (run >= runLength) {
                    return firstBit(node + 1) - run;
                }
            } else {
                for (final int end = (node + 1) * NODE_WORDS; word < end; word++) {
                    final long ofWord = bitmap.word(word) & mask;
                    mask = ONES;
                    final int leading = Long.numberOfTrailingZeros(~ofWord);
                    if (run + leading >= runLength) {
                        return firstBitOfWord(word) - run;
                    }
                    final long starts = runsWithin(ofWord, runLength);
                    if (starts != 0) {
                        return firstBitOfWord(word) + Long.numberOfTrailingZeros(starts);
                    }
                    run = ofWord == ONES ? run + Long.SIZE : Long.numberOfLeadingZeros(~ofWord);
                }
            }
            node++;
            word = node * NODE_WORDS;
        }
        return NONE;
    }

    /**
     * Computes the bits of a word from which on the word holds {@code runLength} ones; each step doubles what is known
     * of the bits above.
     */
    private static long runsWithin(final long word, final int runLength) {
        if (runLength > Long.SIZE) {
            return 0;
        }
        long starts = word;
        int known = 1;
        while (2 * known < runLength && starts != 0) {
            starts &= starts >>> known;
            known *= 2;
        }
        return starts & (starts >>> (runLength - known));
    }

    /** Does what {@link #find} does, from a zero, for a run that holds a whole node. */
    private long findLongRun(final long from, final long limit, final long runLength) {
        int level = 0;
        int shift = NODE_LOG2;
        // On a level above the top one, a bit would stand for more than there is.
        while (runLength >= (2L << (shift + WORD_LOG2)) - 1) {
            level++;
            shift += WORD_LOG2;
        }
        long end = from;
        while (true) {
            final int stretch = zeros.nextClear(level, (int) (end >>> shift));
            if (stretch == BitSummary.NONE) {
                return NONE;
            }
            final long inside = (long) stretch << shift;
            final long start = bitmap.previousZero(inside) + 1;
            if (start >= limit) {
                return NONE;
            }
            end = bitmap.nextZero(inside);
            if (end - start >= runLength) {
                return start;
            }
        }
    }
}
