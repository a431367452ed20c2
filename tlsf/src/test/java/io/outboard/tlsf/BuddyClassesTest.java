package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BuddyClassesTest {

    private static final BuddyClasses BINARY = new BuddyClasses(1, 1);
    private static final BuddyClasses FIBONACCI = new BuddyClasses(1, 2);
    private static final BuddyClasses DOUBLE = new BuddyClasses(2, 2);

    @Test
    void shouldDoubleFromClassToClass() {
        final long[] expected =
                LongStream.rangeClosed(0, 32).map(log2 -> 1L << log2).toArray();

        assertArrayEquals(expected, sizes(BINARY));
    }

    /** The closed form for the Fibonacci numbers 2 to 48 is that of Knuth, vol. 1, section 1.2.8, equation 15. */
    @Test
    void shouldHaveTheFibonacciNumbersAsClasses() {
        final double goldenRatio = (1 + Math.sqrt(5)) / 2;
        final long[] expected = IntStream.rangeClosed(2, 48)
                .mapToLong(n -> Math.round(Math.pow(goldenRatio, n) / Math.sqrt(5)))
                .toArray();

        assertArrayEquals(expected, sizes(FIBONACCI));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2", "2, 2"})
    void shouldSplitEveryClassButTheFirstIntoTwoThatAddUp(final int systems, final int step) {
        final BuddyClasses classes = new BuddyClasses(systems, step);

        for (int sizeClass = 1; sizeClass < classes.count(); sizeClass++) {
            final int left = classes.left(sizeClass);
            final int right = classes.right(sizeClass);
            assertEquals(classes.size(sizeClass), classes.size(left) + classes.size(right));
            assertTrue(right >= 0 && right <= left && left < sizeClass);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2", "2, 2"})
    void shouldHoldEverySmallSizeInTheSmallestClassThatSuffices(final int systems, final int step) {
        final BuddyClasses classes = new BuddyClasses(systems, step);

        for (long size = 1; size <= 1 << 20; size++) {
            assertHolding(classes, size);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2", "2, 2"})
    void shouldHoldSizesAroundEveryClassAndPowerOfTwo(final int systems, final int step) {
        final BuddyClasses classes = new BuddyClasses(systems, step);
        final LongStream bounds = LongStream.concat(
                Arrays.stream(sizes(classes)), LongStream.rangeClosed(0, 32).map(log2 -> 1L << log2));

        bounds.flatMap(bound -> LongStream.rangeClosed(bound - 2, bound + 2))
                .filter(size -> size > 0 && size < 1L << 32)
                .forEach(size -> assertHolding(classes, size));
    }

    /** A request that no region can serve has a block size, too; a request of that block size must have the same. */
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2", "2, 2"})
    void shouldHoldEveryClassInItself(final int systems, final int step) {
        final BuddyClasses classes = new BuddyClasses(systems, step);

        for (int sizeClass = 0; sizeClass < classes.count(); sizeClass++) {
            assertEquals(sizeClass, classes.holding(classes.size(sizeClass)));
        }
    }

    @Test
    void shouldDivideARegionIntoTheLargestClassesThatFit() {
        assertArrayEquals(new long[] {1}, rootSizes(BINARY, 1));
        assertArrayEquals(new long[] {1}, rootSizes(FIBONACCI, 1));
        assertArrayEquals(new long[] {2}, rootSizes(BINARY, 2));
        assertArrayEquals(new long[] {2}, rootSizes(FIBONACCI, 2));
        assertArrayEquals(new long[] {2, 1}, rootSizes(BINARY, 3));
        assertArrayEquals(new long[] {3}, rootSizes(FIBONACCI, 3));
        assertArrayEquals(new long[] {64, 32, 4}, rootSizes(BINARY, 100));
        assertArrayEquals(new long[] {89, 8, 3}, rootSizes(FIBONACCI, 100));
    }

    @Test
    void shouldDivideTheLargestRegion() {
        final long[] powersOfTwo =
                LongStream.rangeClosed(0, 31).map(i -> 1L << (31 - i)).toArray();

        assertArrayEquals(powersOfTwo, rootSizes(BINARY, (1L << 32) - 1));
        final long[] fibonacci = rootSizes(FIBONACCI, (1L << 32) - 1);
        assertEquals((1L << 32) - 1, Arrays.stream(fibonacci).sum());
        assertEquals(2_971_215_073L, fibonacci[0]);
    }

    /** By Zeckendorf's theorem, no two of the classes are neighbours. With powers of two, no class comes twice. */
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2"})
    void shouldDivideEverySmallRegionIntoDifferentClasses(final int systems, final int step) {
        final BuddyClasses classes = new BuddyClasses(systems, step);

        for (long granules = 1; granules <= 10_000; granules++) {
            final int[] roots = classes.roots(granules);
            assertEquals(granules, Arrays.stream(roots).mapToLong(classes::size).sum());
            for (int i = 1; i < roots.length; i++) {
                assertTrue(roots[i] <= roots[i - 1] - step, "a region of " + granules);
            }
        }
    }

    @Test
    void shouldAlternateBetweenTwoSystems() {
        final long[] expected = LongStream.concat(
                        LongStream.of(1),
                        LongStream.rangeClosed(1, 32).flatMap(log2 -> LongStream.of(1L << log2, 3L << (log2 - 1))))
                .limit(64)
                .toArray();

        assertArrayEquals(expected, sizes(DOUBLE));
    }

    @Test
    void shouldGiveEachOfTwoSystemsHalfOfARegion() {
        assertArrayEquals(new long[] {8, 4, 2, 1}, rootSizes(DOUBLE, 15));
        assertArrayEquals(new long[] {8, 6, 2}, rootSizes(DOUBLE, 16));
        assertArrayEquals(new long[] {512, 384, 96, 24, 6, 2}, rootSizes(DOUBLE, 1024));
        for (long granules = 16; granules <= 10_000; granules++) {
            final long[] roots = rootSizes(DOUBLE, granules);
            assertEquals(granules, Arrays.stream(roots).sum());
            assertEquals(
                    granules / 6 * 3,
                    Arrays.stream(roots).filter(size -> size % 3 == 0).sum());
            assertEquals(roots.length, Arrays.stream(roots).distinct().count());
        }
    }

    @Test
    void shouldSplitABlockOffTheClassesOfItsSystemAlone() {
        final int six = DOUBLE.holding(6);
        final int eight = DOUBLE.holding(8);
        for (int sizeClass = 0; sizeClass < DOUBLE.count(); sizeClass++) {
            final long size = DOUBLE.size(sizeClass);
            assertEquals(size >= 6 && size % 3 == 0, (DOUBLE.sources(six) >>> sizeClass & 1) != 0, size + " to 6");
            assertEquals(size >= 8 && size % 3 != 0, (DOUBLE.sources(eight) >>> sizeClass & 1) != 0, size + " to 8");
            assertEquals(1, DOUBLE.sources(0) >>> sizeClass & 1, size + " to 1");
        }
        for (int sizeClass = 0; sizeClass < FIBONACCI.count(); sizeClass++) {
            assertEquals(sizeClass >= 5 ? 1 : 0, FIBONACCI.sources(5) >>> sizeClass & 1);
        }
    }

    /** It is the least that serves the size, as all larger ones do. */
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2", "2, 2"})
    void shouldAskForTheLeastRegionFromWhichOnAllHaveABlockOfTheSize(final int systems, final int step) {
        final BuddyClasses classes = new BuddyClasses(systems, step);
        final int largest = 1000;
        final long[] largestBlocks = LongStream.rangeClosed(0, 3 * largest)
                .map(granules -> granules == 0 ? 0 : rootSizes(classes, granules)[0])
                .toArray();

        for (int size = 1; size <= largest; size++) {
            int region = 3 * largest;
            while (largestBlocks[region - 1] >= size) {
                region--;
            }
            assertEquals(region * 256L, classes.regionBytesFor(size * 256L, 256), size + " granules");
        }
    }

    private static void assertHolding(final BuddyClasses classes, final long size) {
        final int holding = classes.holding(size);
        assertTrue(classes.size(holding) >= size, () -> size + " in class " + holding);
        assertTrue(holding == 0 || classes.size(holding - 1) < size, () -> size + " in class " + holding);
    }

    private static long[] sizes(final BuddyClasses classes) {
        return IntStream.range(0, classes.count()).mapToLong(classes::size).toArray();
    }

    private static long[] rootSizes(final BuddyClasses classes, final long granules) {
        return Arrays.stream(classes.roots(granules)).mapToLong(classes::size).toArray();
    }
}
