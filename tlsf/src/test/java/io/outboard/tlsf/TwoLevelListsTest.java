package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TwoLevelListsTest extends FreeListsContract {

    @Override
    FreeLists create() {
        final FreeLists made = new TwoLevelLists(OPTIONS);
        made.noteUsed(1L << 32);
        return made;
    }

    @Override
    int count() {
        return 10 * 32 + 18 * 64;
    }

    @Override
    long leastSize(final int list) {
        if (list < 32) {
            return list;
        }
        // 320 is the first list of 2^14.
        final int parts = list < 320 ? 32 : 64;
        final long powerOfTwo = 1L << (list < 320 ? list / 32 + 4 : list / 64 + 9);
        return powerOfTwo + powerOfTwo / parts * (list % parts);
    }

    @Test
    void shouldFindABlockFromTheSmallestListWhereEveryBlockFits() {
        insert(1 << 20);
        insert(99);
        final int fitting = insert(102);
        insert(104);
        insert(3000);

        assertEquals(fitting, lists.findFitting(101));
    }

    @Test
    void shouldFindTheBlockThatWasInsertedLast() {
        insert(7);
        final int last = insert(7);

        assertEquals(last, lists.findFitting(7));
    }

    @ParameterizedTest
    @CsvSource({
        "1000, 0, true",
        "1000, 499, true",
        "1000, 500, false",
        "1001, 499, true",
        "1001, 500, false",
        "1000, -1, false",
        "4294967295, 2147483646, true",
        "4294967295, 2147483647, false",
        "4294967295, -2147483648, false",
        "0, 0, false"
    })
    void shouldPutOnlyBlocksOfTheLowerHalfOfWhatIsUsedInFront(final long used, final int start, final boolean first) {
        final int other = insert(7);
        final int block = lists.create(start, 7);

        lists.noteUsed(used);
        lists.insertFree(block);

        assertEquals(first ? block : other, lists.findFitting(7));
        assertEquals(first ? other : block, lists.previous(lists.head(7)));
    }

    @Test
    void shouldKeepThePlaceInTheBlocksOwnListInWhicheverHalf() {
        final int last = insert(65);
        final int grown = insert(64);
        final int first = insert(64);
        for (final long used : new long[] {0, 1L << 32}) {
            final int previous = lists.previous(grown);
            lists.removeFree(grown);
            lists.noteUsed(used);

            lists.insertFree(grown, 64, previous);

            assertEquals(first, lists.findFitting(64));
            assertEquals(grown, lists.next(first));
            assertEquals(last, lists.next(grown));
        }
    }

    @Test
    void shouldFindAnotherBlockOfTheListAfterARemoval() {
        final int first = insert(7);
        final int last = insert(7);

        lists.removeFree(last);

        assertEquals(first, lists.findFitting(7));
    }

    @Test
    void shouldFindAHigherListAfterItsListIsEmpty() {
        final int block = insert(7);
        final int sameLevel = insert(9);
        final int higherLevel = insert(900);

        lists.removeFree(block);
        assertEquals(sameLevel, lists.findFitting(7));
        lists.removeFree(sameLevel);
        assertEquals(higherLevel, lists.findFitting(7));
        lists.removeFree(higherLevel);
        assertEquals(BlockTable.NONE, lists.findFitting(7));
    }

    @Test
    void shouldKeepOtherListsOfTheLevelAfterARemoval() {
        final int lower = insert(40);
        final int removed = insert(50);
        final int upper = insert(60);

        lists.removeFree(removed);

        assertEquals(lower, lists.findFitting(33));
        assertEquals(upper, lists.findFitting(41));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 62, 63})
    void shouldFindABlockBehindTooSmallOnesOfItsList(final int tooSmall) {
        final int fitting = insert(65);
        insertTooSmall(tooSmall);

        assertEquals(BlockTable.NONE, lists.findFitting(65));
        assertEquals(fitting, lists.search(65, 0, 0));
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 65, 1000})
    void shouldGiveUpTheSearchAfter64Steps(final int tooSmall) {
        insert(65);
        insertTooSmall(tooSmall);

        assertEquals(BlockTable.NONE, lists.search(65, 0, 0));
    }

    @Test
    void shouldSearchHigherListsForAnAlignedRange() {
        nextStart = 1;
        insert(40);
        nextStart = 100;
        insert(41);
        nextStart = 255;
        final int fitting = insert(3000);

        assertEquals(fitting, lists.search(40, 0, 255));
    }

    @Test
    void shouldAlignFromTheOriginWhenSearching() {
        nextStart = 64;
        final int block = insert(70);

        assertEquals(block, lists.search(65, 0, 63));
        assertEquals(block, lists.search(65, 59, 63));
        assertEquals(BlockTable.NONE, lists.search(65, 58, 63));
        assertEquals(BlockTable.NONE, lists.search(65, 1, 63));
    }

    /** List 64 holds blocks of 64 and 65 granules. */
    final void insertTooSmall(final int count) {
        for (int i = 0; i < count; i++) {
            insert(64);
        }
    }
}
