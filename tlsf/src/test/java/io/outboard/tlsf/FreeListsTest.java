package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.BlockTable;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class FreeListsTest {

    private static final long SMALL_REGION = 1L << 20;
    private static final long MAX_SIZE = (1L << 32) - 1;

    private final BlockTable table = new BlockTable(1024, FreeLists.LISTS);
    private final FreeLists lists = new FreeLists();
    private int nextStart;

    // Sizes to lists

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
        for (int list = 2; list < FreeLists.LISTS; list++) {
            final long leastSize = leastSize(list);
            assertEquals(list, FreeLists.listHolding(leastSize));
            assertEquals(list - 1, FreeLists.listHolding(leastSize - 1));
            assertEquals(list, FreeLists.listFitting(leastSize));
            assertEquals(list, FreeLists.listFitting(leastSize(list - 1) + 1));
        }
    }

    @Test
    void shouldMapSizesMonotonically() {
        int holding = 0;
        int fitting = 0;
        for (long size = 1; size <= SMALL_REGION; size++) {
            assertTrue(FreeLists.listHolding(size) >= holding && FreeLists.listFitting(size) >= fitting);
            holding = FreeLists.listHolding(size);
            fitting = FreeLists.listFitting(size);
        }
    }

    @Test
    void shouldFitTheLargestSizesFromNoList() {
        assertEquals(FreeLists.LISTS - 1, FreeLists.listHolding(MAX_SIZE));
        assertEquals(FreeLists.LISTS, FreeLists.listFitting(MAX_SIZE));
    }

    private static void assertHolding(final long size) {
        final int list = FreeLists.listHolding(size);
        assertTrue(list >= 1 && list < FreeLists.LISTS, () -> size + " in list " + list);
        assertTrue(leastSize(list) <= size && size < leastSize(list + 1), () -> size + " in list " + list);
    }

    private static void assertFitting(final long size) {
        final int list = FreeLists.listFitting(size);
        assertTrue(list >= 1 && list <= FreeLists.LISTS, () -> size + " from list " + list);
        assertTrue(leastSize(list) >= size, () -> size + " from list " + list + ", where not every block fits");
        assertTrue(leastSize(list - 1) < size, () -> size + " from list " + list + ", not from the one before");
    }

    /** As the class Javadoc's table says: another way to the same numbers than the code's. */
    private static long leastSize(final int list) {
        if (list < 32) {
            return list;
        }
        final long powerOfTwo = 1L << (list / 32 + 4);
        return powerOfTwo + powerOfTwo / 32 * (list % 32);
    }

    // Blocks in lists

    @Test
    void shouldFindNothingWhenEmpty() {
        assertEquals(BlockTable.NONE, lists.findFitting(table, 1));
        assertEquals(BlockTable.NONE, lists.search(table, 1, 0, 0));
        assertEquals(0, lists.largest(table));
    }

    @ParameterizedTest
    @MethodSource("sizesAroundPowersOfTwo")
    void shouldFindABlockByEverySizeUpToTheLeastOfItsList(final long size) {
        final int block = insert(size);
        final long leastSize = leastSize(FreeLists.listHolding(size));

        assertEquals(block, lists.findFitting(table, leastSize));
        assertEquals(block, lists.findFitting(table, 1));
        assertEquals(BlockTable.NONE, lists.findFitting(table, leastSize + 1));
    }

    @ParameterizedTest
    @MethodSource("sizesAroundPowersOfTwo")
    void shouldFindABlockOfExactlyTheSizeBySearch(final long size) {
        final int block = insert(size);

        assertEquals(block, lists.search(table, size, 0, 0));
        assertEquals(size, lists.largest(table));
    }

    @Test
    void shouldFindABlockFromTheSmallestListWhereEveryBlockFits() {
        insert(1 << 20);
        insert(99);
        final int fitting = insert(102);
        insert(104);
        insert(3000);

        assertEquals(fitting, lists.findFitting(table, 101));
    }

    @Test
    void shouldFindTheBlockThatWasInsertedLast() {
        insert(7);
        final int last = insert(7);

        assertEquals(last, lists.findFitting(table, 7));
    }

    @Test
    void shouldFindAnotherBlockOfTheListAfterARemoval() {
        final int first = insert(7);
        final int last = insert(7);

        lists.remove(table, last);

        assertEquals(first, lists.findFitting(table, 7));
    }

    @Test
    void shouldFindAHigherListAfterItsListIsEmpty() {
        final int block = insert(7);
        final int sameLevel = insert(9);
        final int higherLevel = insert(900);

        lists.remove(table, block);
        assertEquals(sameLevel, lists.findFitting(table, 7));
        lists.remove(table, sameLevel);
        assertEquals(higherLevel, lists.findFitting(table, 7));
        lists.remove(table, higherLevel);
        assertEquals(BlockTable.NONE, lists.findFitting(table, 7));
    }

    @Test
    void shouldKeepOtherListsOfTheLevelAfterARemoval() {
        final int lower = insert(40);
        final int removed = insert(50);
        final int upper = insert(60);

        lists.remove(table, removed);

        assertEquals(lower, lists.findFitting(table, 33));
        assertEquals(upper, lists.findFitting(table, 41));
    }

    @Test
    void shouldTellTheLargestOfTheHighestList() {
        insert(1000);
        insert(65 << 10);
        insert((65 << 10) + 17);
        insert((65 << 10) + 3);

        assertEquals((65 << 10) + 17, lists.largest(table));
    }

    // Bounded search

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 62, 63})
    void shouldFindABlockBehindTooSmallOnesOfItsList(final int tooSmall) {
        final int fitting = insert(65);
        insertTooSmall(tooSmall);

        assertEquals(BlockTable.NONE, lists.findFitting(table, 65));
        assertEquals(fitting, lists.search(table, 65, 0, 0));
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 65, 1000})
    void shouldGiveUpTheSearchAfter64Steps(final int tooSmall) {
        insert(65);
        insertTooSmall(tooSmall);

        assertEquals(BlockTable.NONE, lists.search(table, 65, 0, 0));
    }

    @Test
    void shouldSearchHigherListsForAnAlignedRange() {
        nextStart = 1;
        insert(40);
        nextStart = 100;
        insert(41);
        nextStart = 255;
        final int fitting = insert(3000);

        assertEquals(fitting, lists.search(table, 40, 0, 255));
    }

    @Test
    void shouldAlignFromTheOriginWhenSearching() {
        nextStart = 64;
        final int block = insert(70);

        assertEquals(block, lists.search(table, 65, 0, 63));
        assertEquals(block, lists.search(table, 65, 59, 63));
        assertEquals(BlockTable.NONE, lists.search(table, 65, 58, 63));
        assertEquals(BlockTable.NONE, lists.search(table, 65, 1, 63));
    }

    private int insert(final long size) {
        final int block = table.create(nextStart, (int) size);
        nextStart += (int) size;
        lists.insert(table, block);
        return block;
    }

    /** List 64 holds blocks of 64 and 65 granules. */
    private void insertTooSmall(final int count) {
        for (int i = 0; i < count; i++) {
            insert(64);
        }
    }
}
