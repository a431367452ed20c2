package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PowerOfTwoListsTest extends FreeListsContract {

    @Override
    FreeLists create() {
        return new PowerOfTwoLists(OPTIONS);
    }

    @Override
    int count() {
        return 33;
    }

    @Override
    long leastSize(final int list) {
        return list == 0 ? 0 : 1L << (list - 1);
    }

    @Test
    void shouldFindAHigherListAfterItsListIsEmpty() {
        final int small = insert(16);
        final int large = insert(1 << 20);
        final int other = insert(17);

        assertEquals(other, lists.findFitting(16));
        lists.removeFree(other);
        assertEquals(small, lists.findFitting(16));
        lists.removeFree(small);
        assertEquals(large, lists.findFitting(16));
        lists.removeFree(large);
        assertEquals(BlockTable.NONE, lists.findFitting(1));
    }

    @Test
    void shouldFindABlockOfItsOwnListBySearchOnly() {
        insert(16);
        final int fitting = insert(31);

        assertEquals(BlockTable.NONE, lists.findFitting(31));
        assertEquals(fitting, lists.search(31, 0, 0));
        assertEquals(BlockTable.NONE, lists.search(32, 0, 0));
    }
}
