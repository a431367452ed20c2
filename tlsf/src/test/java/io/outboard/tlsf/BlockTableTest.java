package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.StrategyOptions;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockTableTest {

    private final BlockTable table = new BlockTable(16, 16, 3, 0);

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 16, 17, 200})
    void shouldHaveRoomForAsManyBlocksAsItWasMadeFor(final int maxBlocks) {
        final BlockTable sized = new BlockTable(maxBlocks, maxBlocks, 1, 0);
        final Set<Integer> blocks = new HashSet<>();

        for (int i = 0; i < maxBlocks; i++) {
            for (int wanted = 0; wanted <= maxBlocks + 1; wanted++) {
                assertEquals(i + wanted <= maxBlocks, sized.makeRoomFor(wanted));
            }
            assertFalse(sized.isFull());
            blocks.add(sized.create(i, 1));
        }

        assertTrue(sized.isFull());
        assertTrue(sized.makeRoomFor(0));
        assertFalse(sized.makeRoomFor(1));
        assertFalse(sized.makeRoomFor(2));
        assertEquals(maxBlocks, blocks.size());
        assertFalse(blocks.contains(BlockTable.NONE));
        assertEquals(maxBlocks, sized.maxBlocks());
    }

    @Test
    void shouldHaveRoomAgainAfterADiscard() {
        int last = BlockTable.NONE;
        while (table.makeRoomFor(1)) {
            last = table.create(0, 1);
        }

        table.discard(last);

        assertTrue(table.makeRoomFor(1));
        assertFalse(table.makeRoomFor(2));
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

    @Test
    void shouldLinkOnBothSidesOfABlockAndOfTheHead() {
        final int[] blocks = new int[5];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = table.create(i, 1);
        }

        table.link(blocks[0], 1, table.head(1), BlockRecords.IN_FRONT);
        table.link(blocks[1], 1, table.head(1), BlockRecords.IN_FRONT);
        table.link(blocks[2], 1, table.head(1), BlockRecords.BEHIND);
        table.link(blocks[3], 1, blocks[0], BlockRecords.BEHIND);
        table.link(blocks[4], 1, blocks[0], BlockRecords.IN_FRONT);

        assertList(0);
        assertList(1, blocks[2], blocks[4], blocks[0], blocks[3], blocks[1]);
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
            assertEquals(position, table.previous(block));
            position = table.next(position);
            assertEquals(block, position);
        }
        assertEquals(table.head(list), table.next(position));
        assertEquals(position, table.previous(table.head(list)));
    }

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
        assertEquals(BlockTable.NONE, table.remove(0));

        assertEquals(block, table.find(7));
        assertEquals(1, table.entered());
    }

    /** Some chains have more than one block, since there are far more blocks than slots at first. */
    @Test
    void shouldRemoveFromAnywhereInAChain() {
        final BlockTable large = new BlockTable(4096, 4096, 0, 0);
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

    // A table has room for 446 blocks at first, which makes 512 slots.

    @ParameterizedTest
    @ValueSource(ints = {1, 440, 446, 447, 448, 894, 895, 896, 2999})
    void shouldGrowUntilItHoldsAsManyBlocksAsItMay(final int firstBlocks) {
        final BlockTable growing = new BlockTable(firstBlocks, 3000, 1, 0);
        final Set<Integer> blocks = new HashSet<>();

        while (growing.makeRoomFor(1)) {
            blocks.add(growing.create(blocks.size(), 1));
        }

        assertEquals(3000, blocks.size());
        assertFalse(blocks.contains(BlockTable.NONE));
        assertEquals(3000, growing.maxBlocks());
        assertEquals(new BlockTable(3000, 3000, 1, 0).hostBytes(), growing.hostBytes());
    }

    @Test
    void shouldTakeMemoryForTheFirstBlocksOnlyAtFirst() {
        final BlockTable growing = new BlockTable(64, 1 << 20, 0, 0);

        assertTrue(growing.hostBytes() <= 16 + 16384, () -> growing.hostBytes() + " bytes");
    }

    @Test
    void shouldGrowByAsMuchAsIsWanted() {
        final BlockTable growing = new BlockTable(1, 3000, 1, 0);
        final Set<Integer> blocks = new HashSet<>();

        assertFalse(growing.makeRoomFor(3001));
        assertTrue(growing.makeRoomFor(3000));

        for (int i = 0; i < 3000; i++) {
            blocks.add(growing.create(i, 1));
        }
        assertEquals(3000, blocks.size());
        assertFalse(growing.makeRoomFor(1));
    }

    @Test
    void shouldNotGrowForWhatItCanNotHold() {
        final BlockTable growing = new BlockTable(2, 800, 0, 0);
        final long hostBytes = growing.hostBytes();
        growing.create(0, 1);

        assertFalse(growing.makeRoomFor(800));

        assertEquals(hostBytes, growing.hostBytes());
        assertTrue(growing.makeRoomFor(799));
    }

    /** Discarded records are used before those that were never used, however often the table has grown in between. */
    @Test
    void shouldUseDiscardedRecordsAgainAfterItHasGrown() {
        final BlockTable growing = new BlockTable(4, 2000, 0, 0);
        final int[] blocks = new int[4];
        for (int i = 0; i < 4; i++) {
            blocks[i] = growing.create(i, 1);
        }
        growing.discard(blocks[1]);
        growing.discard(blocks[3]);

        assertTrue(growing.makeRoomFor(1998));

        final Set<Integer> created = new HashSet<>();
        assertEquals(blocks[3], growing.create(0, 1));
        assertEquals(blocks[1], growing.create(0, 1));
        while (growing.makeRoomFor(1)) {
            created.add(growing.create(0, 1));
        }
        assertEquals(1996, created.size());
        assertFalse(created.contains(blocks[0]));
        assertFalse(created.contains(blocks[2]));
    }

    @Test
    void shouldKeepBlocksNeighboursAndListsWhenItGrows() {
        final BlockTable growing = new BlockTable(3, 4096, 2, 0);
        final int used = growing.create(0, 7);
        final int one = growing.create(7, 8);
        final int other = growing.create(15, 9);
        growing.insertAfter(used, BlockTable.NONE);
        growing.insertAfter(one, used);
        growing.insertAfter(other, one);
        growing.push(one, 1);
        growing.push(other, 1);
        growing.enter(used);

        assertTrue(growing.makeRoomFor(4000));

        assertEquals(used, growing.find(0));
        assertEquals(1, growing.entered());
        assertEquals(7, growing.size(used));
        assertEquals(one, growing.after(used));
        assertEquals(other, growing.before(BlockTable.NONE));
        assertEquals(other, growing.next(growing.head(1)));
        assertEquals(one, growing.next(other));
        assertEquals(growing.head(0), growing.next(growing.head(0)));
        assertEquals(0, growing.unlink(one));
        assertEquals(1, growing.unlink(other));
    }

    @Test
    void shouldChangeNothingWhenTheJvmHasNoMemoryForALargerTable() {
        final int[] arraysLeft = {1};
        final BlockTable growing = new BlockTable(2, 4096, 1, 0, length -> {
            if (arraysLeft[0]-- == 0) {
                throw new OutOfMemoryError("injected");
            }
            return new int[length];
        });
        final int used = growing.create(0, 7);
        final int free = growing.create(7, 8);
        growing.enter(used);
        growing.push(free, 0);
        final long hostBytes = growing.hostBytes();

        assertThrows(OutOfMemoryError.class, () -> growing.makeRoomFor(4000));

        assertEquals(hostBytes, growing.hostBytes());
        assertEquals(used, growing.find(0));
        assertEquals(free, growing.next(growing.head(0)));
        growing.unlink(free);
        growing.discard(free);
        assertTrue(growing.makeRoomFor(1));
        assertEquals(free, growing.create(7, 8));
        arraysLeft[0] = 1;
        assertTrue(growing.makeRoomFor(4000));
        assertEquals(used, growing.find(0));
    }

    /**
     * The class Javadoc promises 37 bytes for each block that there is room for, and room for at most twice as many as
     * asked for.
     */
    @ParameterizedTest
    @ValueSource(ints = {1 << 12, (1 << 12) + 1, 5000, 229_000, 1 << 18})
    void shouldTakeTheHostMemoryThatItPromises(final int maxBlocks) {
        final long hostBytes = new BlockTable(maxBlocks, maxBlocks, 0, 0).hostBytes();

        assertTrue(hostBytes >= 36L * maxBlocks && hostBytes <= 2 * 37L * maxBlocks + 64, () -> hostBytes + " bytes");
    }

    /** The array has 4096 ints, of which 512 are slots and 12 the fence. */
    @Test
    void shouldTakeTheLeastPowerOfTwoThatHoldsSlotsToo() {
        assertEquals(16 + 16384, new BlockTable(446, 446, 0, 0).hostBytes());
        assertEquals(16 + 32768, new BlockTable(447, 447, 0, 0).hostBytes());
    }

    @Test
    void shouldHoldTheDefaultsInEightMebibytes() {
        assertEquals(8 * 1048576 + 16, new TwoLevelLists(StrategyOptions.DEFAULTS).hostBytes());
    }
}
