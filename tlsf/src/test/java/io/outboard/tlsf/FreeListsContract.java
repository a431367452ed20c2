package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.StrategyOptions;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * These tests say what {@link FreeLists} promises of any mapping. A subclass has the mapping, and where lists start.
 */
abstract class FreeListsContract {

    private static final long SMALL_REGION = 1L << 20;
    private static final long MAX_SIZE = (1L << 32) - 1;

    static final StrategyOptions OPTIONS = StrategyOptions.DEFAULTS.withMaxBlocks(1024);

    final FreeLists lists = create();
    int nextStart;

    abstract FreeLists create();

    /** Returns the number of lists, including list 0. */
    abstract int count();

    /** Returns the least size of a list, calculated in another way than in the code under test. */
    abstract long leastSize(int list);

    @Test
    void shouldHoldEverySizeOfASmallRegionInTheListThatItBelongsTo() {
        for (long size = 1; size <= SMALL_REGION; size++) {
            assertHolding(size);
        }
    }

    @Test
    void shouldFitEverySizeOfASmallRegionFromTheFirstListWhereEveryBlockFits() {
        for (long size = 1; size <= SMALL_REGION; size++) {
            assertFitting(size);
        }
    }

    @ParameterizedTest
    @MethodSource("sizesAroundPowersOfTwo")
    void shouldHoldSizesAroundPowersOfTwoInTheListThatTheyBelongTo(final long size) {
        assertHolding(size);
    }

    @ParameterizedTest
    @MethodSource("sizesAroundPowersOfTwo")
    void shouldFitSizesAroundPowersOfTwoFromTheFirstListWhereEveryBlockFits(final long size) {
        assertFitting(size);
    }

    static LongStream sizesAroundPowersOfTwo() {
        return LongStream.rangeClosed(0, 32)
                .flatMap(log2 -> LongStream.of((1L << log2) - 1, 1L << log2, (1L << log2) + 1))
                .filter(size -> size >= 1 && size <= MAX_SIZE)
                .distinct();
    }

    @Test
    void shouldStartEachListAtTheFirstSizeThatTheOneBeforeDoesNotHold() {
        for (int list = 2; list < count(); list++) {
            final long leastSize = leastSize(list);
            assertEquals(list, lists.listHolding(leastSize));
            assertEquals(list - 1, lists.listHolding(leastSize - 1));
            assertEquals(list, lists.listFitting(leastSize));
            assertEquals(list, lists.listFitting(leastSize(list - 1) + 1));
        }
    }

    @Test
    void shouldMapSizesMonotonically() {
        int holding = 0;
        int fitting = 0;
        for (long size = 1; size <= SMALL_REGION; size++) {
            assertTrue(lists.listHolding(size) >= holding && lists.listFitting(size) >= fitting);
            holding = lists.listHolding(size);
            fitting = lists.listFitting(size);
        }
    }

    @Test
    void shouldFitTheLargestSizesFromNoList() {
        assertEquals(count() - 1, lists.listHolding(MAX_SIZE));
        assertEquals(count(), lists.listFitting(MAX_SIZE));
    }

    private void assertHolding(final long size) {
        final int list = lists.listHolding(size);
        assertTrue(list >= 1 && list < count(), () -> size + " in list " + list);
        assertTrue(leastSize(list) <= size && size < leastSize(list + 1), () -> size + " in list " + list);
    }

    private void assertFitting(final long size) {
        final int list = lists.listFitting(size);
        assertTrue(list >= 1 && list <= count(), () -> size + " from list " + list);
        assertTrue(leastSize(list) >= size, () -> size + " from list " + list + ", where not every block fits");
        assertTrue(leastSize(list - 1) < size, () -> size + " from list " + list + ", not from the one before");
    }

    @Test
    void shouldFindNothingWhenEmpty() {
        assertEquals(BlockTable.NONE, lists.findFitting(1));
        assertEquals(BlockTable.NONE, lists.search(1, 0, 0));
    }

    @ParameterizedTest
    @MethodSource("sizesAroundPowersOfTwo")
    void shouldFindABlockByEverySizeUpToTheLeastOfItsList(final long size) {
        final int block = insert(size);
        final long leastSize = leastSize(lists.listHolding(size));

        assertEquals(block, lists.findFitting(leastSize));
        assertEquals(block, lists.findFitting(1));
        assertEquals(BlockTable.NONE, lists.findFitting(leastSize + 1));
    }

    @ParameterizedTest
    @MethodSource("sizesAroundPowersOfTwo")
    void shouldFindABlockOfExactlyTheSizeBySearch(final long size) {
        final int block = insert(size);

        assertEquals(block, lists.search(size, 0, 0));
    }

    final int insert(final long size) {
        final int block = lists.create(nextStart, (int) size);
        nextStart += (int) size;
        lists.insertFree(block);
        return block;
    }
}
