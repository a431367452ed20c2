package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.SeedFromSystemProperties;
import java.util.BitSet;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * The bitmap behaves, with its words at once and in pages, as a {@code BitSet} does. This repeats a seed: {@code
 * -Doutboard.seed=SEED}.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class BoundaryBitmapProperties {

    /** The most bits of a bitmap with few nodes. */
    private static final int FEW_NODES = 3000;

    @Property(tries = 1000)
    void shouldBehaveAsABitSetWithinAFewNodes(
            @ForAll final long seed, @ForAll @IntRange(min = 1, max = FEW_NODES) final int length) {
        compare(new Random(seed), length, 100);
    }

    @Property(tries = 200)
    void shouldBehaveAsABitSetOverTwoLevels(
            @ForAll final long seed, @ForAll @IntRange(min = 3000, max = 100_000) final int length) {
        compare(new Random(seed), length, 100);
    }

    /** The third level has more than one word from 2^27 bits up; below, it is the top. */
    @Property(tries = 40)
    void shouldBehaveAsABitSetOverThreeLevels(
            @ForAll final long seed, @ForAll @IntRange(min = 1 << 21, max = 1 << 24) final int length) {
        compare(new Random(seed), length, 200);
    }

    private static void compare(final Random random, final int length, final int steps) {
        final BitSet expected = new BitSet();
        final int pageWords = BoundaryBitmap.NODE_WORDS << random.nextInt(4);
        final BoundaryBitmap bitmap =
                random.nextBoolean() ? new BoundaryBitmap(length) : new PagedBitmap(length, pageWords);
        for (int step = 0; step < steps; step++) {
            final int from = near(random, length);
            final int to = (int) Math.min(length, from + magnitude(random, length));
            if (random.nextInt(3) > 0) {
                expected.set(from, to);
                bitmap.setRange(from, to);
            } else {
                expected.clear(from, to);
                bitmap.clearRange(from, to);
            }
            for (final int index :
                    new int[] {from, to, Math.max(0, from - 1), random.nextInt(length), near(random, length)}) {
                assertSameAt(expected, bitmap, index);
            }
            final int start = random.nextBoolean() ? 0 : near(random, length);
            final int limit = random.nextBoolean() ? length : near(random, length);
            final int runLength = (int) (1 + magnitude(random, length));
            assertSameRun(expected, bitmap, start, limit, Math.min(runLength, length + 1));
            if (length <= FEW_NODES) {
                assertSummariesAreExact(expected, bitmap);
            }
        }
        for (int index = 0; index < length; index += 1 + length / 5000) {
            assertSameAt(expected, bitmap, index);
        }
    }

    /** Returns an index below the length, usually next to a border of words, of nodes, or of words above these. */
    private static int near(final Random random, final int length) {
        final int index = random.nextInt(length);
        final int border = index & -(1 << new int[] {0, 6, 9, 15, 21}[random.nextInt(5)]);
        return Math.floorMod(border + random.nextInt(3) - 1, length);
    }

    /** Returns a number of any magnitude with equal chance, now and then a power of two, or next to one. */
    private static long magnitude(final Random random, final int limit) {
        final int log2 = random.nextInt(Integer.SIZE - Integer.numberOfLeadingZeros(limit));
        return (1L << log2) + (random.nextBoolean() ? random.nextInt(2) : random.nextInt(1 << log2));
    }

    static void assertSameAt(final BitSet expected, final BoundaryBitmap bitmap, final int index) {
        assertEquals(expected.get(index), bitmap.get(index), "get " + index);
        final int nextOne = expected.nextSetBit(index);
        assertEquals(nextOne < 0 ? bitmap.length() : nextOne, bitmap.nextOne(index), "nextOne " + index);
        assertEquals(expected.nextClearBit(index), bitmap.nextZero(index), "nextZero " + index);
        assertEquals(expected.previousClearBit(index), bitmap.previousZero(index), "previousZero " + index);
    }

    /** A summary with too many bits would give the same results, but after searches in vain, so it must be exact. */
    private static void assertSummariesAreExact(final BitSet expected, final BoundaryBitmap bitmap) {
        for (int node = 0; node <= bitmap.length() >>> BoundaryBitmap.NODE_LOG2; node++) {
            final int first = node * BoundaryBitmap.NODE_BITS;
            final int end = first + BoundaryBitmap.NODE_BITS;
            final int firstOne = expected.nextSetBit(first);
            int pair = firstOne;
            while (pair >= 0 && !expected.get(pair + 1)) {
                pair = expected.nextSetBit(pair + 1);
            }
            assertEquals(firstOne >= 0 && firstOne < end, bitmap.ones.holds(node), "ones " + node);
            assertEquals(expected.nextClearBit(first) < end, bitmap.zeros.holds(node), "zeros " + node);
            assertEquals(pair >= 0 && pair < end, bitmap.pairs.holds(node), "pairs " + node);
        }
    }

    static void assertSameRun(
            final BitSet expected, final BoundaryBitmap bitmap, final int from, final int limit, final int runLength) {
        assertEquals(
                firstRun(expected, from, limit, runLength),
                bitmap.findRun(from, limit, runLength),
                () -> "run of " + runLength + " from " + from + " below " + limit);
    }

    private static long firstRun(final BitSet bits, final int from, final int limit, final int runLength) {
        int start = bits.nextSetBit(from);
        while (start >= 0 && start < limit) {
            final int end = bits.nextClearBit(start);
            if (end - start >= runLength) {
                return start;
            }
            start = bits.nextSetBit(end);
        }
        return BoundaryBitmap.NONE;
    }
}
