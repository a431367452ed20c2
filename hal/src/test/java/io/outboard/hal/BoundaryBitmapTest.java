package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BoundaryBitmapTest {

    private static final int PATTERN_BITS = 10;
    private static final long ALL = 1L << 32;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 63, 64, 65, 511, 512, 513, 32767, 32768, 32769, 2097151, 2097152, 2097153})
    void shouldStartWithZerosOnly(final long length) {
        final BoundaryBitmap bitmap = new BoundaryBitmap(length);

        assertEquals(length, bitmap.length());
        assertEquals(length, bitmap.nextOne(0));
        assertEquals(0, bitmap.nextZero(0));
        assertEquals(length, bitmap.previousZero(length));
        assertEquals(BoundaryBitmap.NONE, bitmap.findRun(0, length, 2));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 63, 64, 65, 511, 512, 513, 32767, 32768, 32769, 2097151, 2097152, 2097153})
    void shouldEndTheLastRunAtItsLength(final long length) {
        final BoundaryBitmap bitmap = new BoundaryBitmap(length);
        bitmap.setRange(0, length);

        assertTrue(bitmap.get(length - 1));
        assertFalse(bitmap.get(length));
        assertEquals(length, bitmap.nextZero(0));
        assertEquals(length, bitmap.nextOne(length));
        assertEquals(BoundaryBitmap.NONE, bitmap.previousZero(length - 1));
        assertEquals(0, bitmap.findRun(0, length, length));
        assertEquals(BoundaryBitmap.NONE, bitmap.findRun(0, length, length + 1));
    }

    /**
     * Each pattern of ten bits lies among zeros and among ones, across the borders of words, nodes and summary words.
     */
    @ParameterizedTest
    @CsvSource({"0, 10", "0, 2000", "59, 100", "507, 600", "1990, 2000", "32763, 33000", "2097147, 2097200"})
    void shouldBehaveAsABitSetForEveryPattern(final int offset, final int length) {
        for (final boolean amongOnes : new boolean[] {false, true}) {
            final BitSet expected = new BitSet();
            final BoundaryBitmap bitmap = new BoundaryBitmap(length);
            if (amongOnes) {
                expected.set(0, length);
                bitmap.setRange(0, length);
            }
            for (int pattern = 0; pattern < 1 << PATTERN_BITS; pattern++) {
                write(pattern, offset, expected, bitmap);
                assertSame(expected, bitmap, Math.max(0, offset - 2), Math.min(length, offset + PATTERN_BITS + 2));
            }
        }
    }

    private static void write(final int pattern, final int offset, final BitSet expected, final BoundaryBitmap bitmap) {
        for (int bit = 0; bit < PATTERN_BITS; bit++) {
            final int index = offset + bit;
            if ((pattern & (1 << bit)) != 0) {
                expected.set(index);
                bitmap.setRange(index, index + 1);
            } else {
                expected.clear(index);
                bitmap.clearRange(index, index + 1);
            }
        }
    }

    private static void assertSame(
            final BitSet expected, final BoundaryBitmap bitmap, final int first, final int last) {
        for (int from = first; from <= last; from++) {
            BoundaryBitmapProperties.assertSameAt(expected, bitmap, from);
            for (int runLength = 2; runLength <= PATTERN_BITS + 2; runLength++) {
                BoundaryBitmapProperties.assertSameRun(expected, bitmap, from, last, runLength);
            }
        }
    }

    @Test
    void shouldChangeNothingForAnEmptyRange() {
        final BoundaryBitmap bitmap = new BoundaryBitmap(1000);
        bitmap.setRange(100, 200);

        bitmap.setRange(512, 512);
        bitmap.clearRange(150, 150);

        assertEquals(100, bitmap.nextOne(0));
        assertEquals(200, bitmap.nextZero(100));
        assertEquals(1000, bitmap.nextOne(200));
    }

    @Test
    void shouldFindNoZeroWhereAnEmptyRangeWasClearedAmongOnes() {
        final BoundaryBitmap bitmap = new BoundaryBitmap(2000);
        bitmap.setRange(0, 2000);

        bitmap.clearRange(600, 600);

        assertEquals(2000, bitmap.nextZero(0));
        assertEquals(0, bitmap.findRun(0, 2000, 2000));
    }

    /** The run lies behind a one that stands alone: what {@code findRun} looks at first is too short. */
    @ParameterizedTest
    @ValueSource(ints = {62, 63, 64, 127, 447, 448, 510, 511, 512, 575})
    void shouldFindTwoOnesInARowAcrossWordsAndNodes(final int start) {
        final BoundaryBitmap bitmap = new BoundaryBitmap(2000);
        bitmap.setRange(0, 1);
        bitmap.setRange(start, start + 2);

        assertEquals(start, bitmap.findRun(0, 2000, 2));
        assertEquals(BoundaryBitmap.NONE, bitmap.findRun(0, 2000, 3));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldFindARunOfWholeNodesBeforeOneOfZeros(final int nodes) {
        final int end = 512 * (1 + nodes);
        for (final int start : new int[] {512, 511, 500}) {
            final BoundaryBitmap bitmap = new BoundaryBitmap(4096);
            bitmap.setRange(0, 2);
            bitmap.setRange(start, end);

            assertEquals(start, bitmap.findRun(0, 4096, end - start));
            assertEquals(BoundaryBitmap.NONE, bitmap.findRun(0, 4096, end - start + 1));
        }
    }

    /** Runs of one bit less than needed are everywhere; the one that fits is the last. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 32, 33, 63, 64, 65, 127, 128, 512, 513, 1022, 1023, 1024, 1025, 65534, 65535, 65536})
    void shouldFindTheOneRunThatIsLongEnough(final int runLength) {
        final int runs = 70;
        final BoundaryBitmap bitmap = new BoundaryBitmap(runs * (runLength + 2L));
        for (long run = 0; run < runs; run++) {
            bitmap.setRange(run * (runLength + 2L), run * (runLength + 2L) + runLength - 1);
        }
        final long last = (runs - 1) * (runLength + 2L);
        bitmap.setRange(last, last + runLength);

        assertEquals(last, bitmap.findRun(0, bitmap.length(), runLength));
        assertEquals(last, bitmap.findRun(last, last + 1, runLength));
        assertEquals(BoundaryBitmap.NONE, bitmap.findRun(0, last, runLength));
        assertEquals(BoundaryBitmap.NONE, bitmap.findRun(last + 1, bitmap.length(), runLength));
    }

    /** The bitmap is as long as a region's boundaries can be: all five levels, and offsets beyond 31 bits. */
    @Test
    void shouldHoldAsManyBitsAs32BitsCount() {
        final BoundaryBitmap bitmap = new PagedBitmap(ALL, PagedBitmap.PAGE_WORDS);
        bitmap.setRange(0, ALL);
        bitmap.clearRange(ALL - 1000, ALL - 999);
        bitmap.clearRange(7, 8);

        assertEquals(ALL - 1000, bitmap.nextZero(8));
        assertEquals(7, bitmap.previousZero(ALL - 1001));
        assertEquals(ALL, bitmap.nextZero(ALL - 999));
        assertEquals(8, bitmap.findRun(0, ALL, ALL - 1008));
        assertEquals(BoundaryBitmap.NONE, bitmap.findRun(0, ALL, ALL - 1007));
        bitmap.clearRange(0, ALL - 2);
        assertEquals(ALL - 2, bitmap.nextOne(0));
        assertEquals(ALL - 3, bitmap.previousZero(ALL - 1));
        assertTrue(bitmap.hostBytes() < 4 << 20, () -> bitmap.hostBytes() + " bytes");
    }

    /** The JVM has no memory for the page of either end of a range: nothing has changed then. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldChangeNothingWithoutMemoryForAPage(final int pages) {
        final PagedBitmap bitmap = new PagedBitmap(10_000, BoundaryBitmap.NODE_WORDS) {
            private int left = 3 + pages;

            @Override
            void prepare(final long end) {
                if (left-- == 0) {
                    throw new OutOfMemoryError("simulated");
                }
                super.prepare(end);
            }
        };
        bitmap.setRange(1000, 1002);
        bitmap.prepare(0);

        assertThrows(OutOfMemoryError.class, () -> bitmap.setRange(100, 9000));

        assertEquals(1000, bitmap.nextOne(0));
        assertEquals(1002, bitmap.nextZero(1000));
        assertEquals(10_000, bitmap.nextOne(1002));
        assertEquals(1000, bitmap.findRun(0, 10_000, 2));
    }

    /** A run of three lies behind nodes of ones that stand alone, with one bit in a node that has no pair. */
    @ParameterizedTest
    @ValueSource(ints = {509, 510, 511, 512, 32765, 32766, 32767, 32768})
    void shouldFindARunAcrossNodesBehindOnesThatStandAlone(final int start) {
        final BoundaryBitmap bitmap = new BoundaryBitmap(100_000);
        for (int index = start & 1; index < 100_000; index += 2) {
            bitmap.setRange(index, index + 1);
        }
        assertEquals(BoundaryBitmap.NONE, bitmap.findRun(0, 100_000, 2));
        bitmap.setRange(start + 1, start + 2);

        assertEquals(start, bitmap.findRun(0, 100_000, 3));
        assertEquals(BoundaryBitmap.NONE, bitmap.findRun(0, 100_000, 4));
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 22, 1L << 27})
    void shouldTakeLessThanOnePerCentOverItsBits(final long length) {
        assertTrue(8 * new BoundaryBitmap(length).hostBytes() < length + length / 100);
    }
}
