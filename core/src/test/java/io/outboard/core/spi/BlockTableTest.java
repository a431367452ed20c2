package io.outboard.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockTableTest {

    private final BlockTable table = new BlockTable(16, 3);

    // Records

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 16, 17, 200})
    void shouldHaveRoomForAsManyBlocksAsItWasMadeFor(final int maxBlocks) {
        final BlockTable sized = new BlockTable(maxBlocks, 1);
        final Set<Integer> blocks = new HashSet<>();

        for (int i = 0; i < maxBlocks; i++) {
            for (int wanted = 0; wanted <= maxBlocks + 1; wanted++) {
                assertEquals(i + wanted <= maxBlocks, sized.hasRoomFor(wanted));
            }
            blocks.add(sized.create(i, 1));
        }

        assertTrue(sized.hasRoomFor(0));
        assertFalse(sized.hasRoomFor(1));
        assertFalse(sized.hasRoomFor(2));
        assertEquals(maxBlocks, blocks.size());
        assertFalse(blocks.contains(BlockTable.NONE));
        assertEquals(maxBlocks, sized.maxBlocks());
    }

    @Test
    void shouldHaveRoomAgainAfterADiscard() {
        int last = BlockTable.NONE;
        while (table.hasRoomFor(1)) {
            last = table.create(0, 1);
        }

        table.discard(last);

        assertTrue(table.hasRoomFor(1));
        assertFalse(table.hasRoomFor(2));
        assertEquals(last, table.create(7, 8));
    }

    @Test
    void shouldCreateABlockThatIsInUseAndCannotBeFound() {
        final int block = table.create(7, 8);

        assertEquals(7, table.start(block));
        assertEquals(8, table.size(block));
        assertFalse(table.isFree(block));
        assertEquals(BlockTable.NONE, table.find(7));
        assertEquals(0, table.entered());
    }

    @Test
    void shouldCreateABlockInUseFromTheRecordOfOneThatWasFree() {
        final int discarded = table.create(1, 1);
        table.push(discarded, 2);
        table.unlink(discarded);
        table.discard(discarded);

        final int block = table.create(7, 8);

        assertEquals(discarded, block);
        assertFalse(table.isFree(block));
    }

    @Test
    void shouldMoveABlocksBorders() {
        final int block = table.create(7, 8);

        table.setRange(block, -1, -2);

        assertEquals(-1, table.start(block));
        assertEquals(-2, table.size(block));
    }

    // Neighbours

    @Test
    void shouldCountTheFenceAsInUseAndAsItsOwnNeighbour() {
        assertFalse(table.isFree(BlockTable.NONE));
        assertEquals(BlockTable.NONE, table.before(BlockTable.NONE));
        assertEquals(BlockTable.NONE, table.after(BlockTable.NONE));
    }

    @Test
    void shouldInsertBlocksInAnyOrder() {
        final int second = table.create(10, 10);
        final int first = table.create(0, 10);
        final int third = table.create(20, 10);

        table.insertAfter(second, BlockTable.NONE);
        table.insertAfter(first, BlockTable.NONE);
        table.insertAfter(third, second);

        assertNeighbours(first, second, third);
    }

    @Test
    void shouldJoinOverABlockThatIsLeftOut() {
        final int first = table.create(0, 10);
        final int second = table.create(10, 10);
        final int third = table.create(20, 10);
        table.insertAfter(first, BlockTable.NONE);
        table.insertAfter(second, first);
        table.insertAfter(third, second);

        table.join(table.before(second), table.after(second));

        assertNeighbours(first, third);
    }

    private void assertNeighbours(final int... blocks) {
        int before = BlockTable.NONE;
        for (final int block : blocks) {
            assertEquals(block, table.after(before));
            assertEquals(before, table.before(block));
            before = block;
        }
        assertEquals(BlockTable.NONE, table.after(before));
        assertEquals(before, table.before(BlockTable.NONE));
    }

    // Free lists

    @Test
    void shouldStartWithEmptyLists() {
        for (int list = 0; list < 3; list++) {
            assertList(list);
        }
    }

    @Test
    void shouldPushInFront() {
        final int one = table.create(0, 1);
        final int other = table.create(1, 1);

        table.push(one, 1);
        table.push(other, 1);

        assertTrue(table.isFree(one));
        assertEquals(1, table.list(one));
        assertList(0);
        assertList(1, other, one);
        assertList(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldUnlinkABlockFromAnywhereInAList(final int index) {
        final int[] blocks = {table.create(0, 1), table.create(1, 1), table.create(2, 1)};
        for (final int block : blocks) {
            table.push(block, 2);
        }

        assertEquals(0, table.unlink(blocks[index]));

        assertFalse(table.isFree(blocks[index]));
        assertList(2, blocks[index == 2 ? 1 : 2], blocks[index == 0 ? 1 : 0]);
    }

    @Test
    void shouldTellThatAListIsEmptyAfterItsLastBlock() {
        final int one = table.create(0, 1);
        final int other = table.create(1, 1);
        table.push(one, 0);
        table.push(other, 0);

        assertEquals(0, table.unlink(one));
        assertEquals(1, table.unlink(other));

        assertList(0);
    }

    private void assertList(final int list, final int... blocks) {
        int position = table.head(list);
        for (final int block : blocks) {
            position = table.next(position);
            assertEquals(block, position);
        }
        assertEquals(table.head(list), table.next(position));
    }

    // Hash table

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 63, 64, 65, Integer.MAX_VALUE, Integer.MIN_VALUE, -2, -1})
    void shouldFindWhatWasEntered(final int start) {
        final int block = enter(start);

        assertEquals(block, table.find(start));
        assertEquals(BlockTable.NONE, table.find(start + 1));
        assertEquals(BlockTable.NONE, table.find(start - 1));
        assertEquals(1, table.entered());
    }

    @Test
    void shouldRemoveWhatWasEntered() {
        final int block = enter(7);

        assertEquals(block, table.remove(7));

        assertEquals(BlockTable.NONE, table.find(7));
        assertEquals(BlockTable.NONE, table.remove(7));
        assertEquals(0, table.entered());
    }

    @Test
    void shouldChangeNothingOnRemovalOfWhatWasNotEntered() {
        final int block = enter(7);

        assertEquals(BlockTable.NONE, table.remove(8));

        assertEquals(block, table.find(7));
        assertEquals(1, table.entered());
    }

    /** With far more blocks than slots at first, chains are longer than one. */
    @Test
    void shouldRemoveFromAnywhereInAChain() {
        final BlockTable large = new BlockTable(4096, 0);
        for (int start = 0; start < 4096; start++) {
            large.enter(large.create(start, 1));
        }

        for (int start = 1; start < 4096; start += 2) {
            assertNotEquals(BlockTable.NONE, large.remove(start));
        }

        for (int start = 0; start < 4096; start++) {
            assertEquals(start % 2 == 0, large.find(start) != BlockTable.NONE);
        }
        assertEquals(2048, large.entered());
    }

    private int enter(final int start) {
        final int block = table.create(start, 1);
        table.enter(block);
        return block;
    }

    // The whole

    /** The class Javadoc's promise: 40 to 48 bytes a block. */
    @ParameterizedTest
    @ValueSource(ints = {1 << 12, (1 << 12) + 1, 5000, 1 << 18})
    void shouldTakeTheHostMemoryThatItPromises(final int maxBlocks) {
        final long hostBytes = new BlockTable(maxBlocks, 0).hostBytes();

        assertTrue(hostBytes >= 40L * maxBlocks && hostBytes <= 48L * maxBlocks + 64, () -> hostBytes + " bytes");
    }
}
