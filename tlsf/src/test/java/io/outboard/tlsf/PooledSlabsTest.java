package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** These tests say when a pool takes slabs from its backing, keeps them, and gives them back. */
class PooledSlabsTest extends PooledFixture {

    @Test
    void shouldKeepTheSlabOfASingleBlock() {
        holdLastWindow(strategy);

        for (int i = 0; i < 10; i++) {
            assertEquals(BASE, strategy.allocate(256));
            strategy.free(BASE);
            assertEquals(2, backing.liveBlocks());
        }
        assertEquals((WINDOWS - 1) * WINDOW, strategy.freeBytes());
        assertEquals((WINDOWS - 1) * WINDOW, Statistics.of(strategy).largestFreeBlockBytes());
    }

    @Test
    void shouldRefuseAWrongAlignmentThoughASlotIsFree() {
        strategy.allocate(256);

        assertRefused(() -> strategy.allocate(256, 3), "alignmentBytes=3 must be a power of two");
    }

    @Test
    void shouldKeepNoSlabOnceNothingIsInUse() {
        final long small = strategy.allocate(256);
        final long other = strategy.allocate(512);
        final long large = strategy.allocate(WINDOW);
        strategy.free(small);
        strategy.free(other);
        assertEquals(3, backing.liveBlocks());

        strategy.free(large);

        assertEquals(0, backing.liveBlocks());
        assertWhole();
    }

    @Test
    void shouldKeepOneEmptySlabOfEachClass() {
        holdLastWindow(strategy);
        final long[] small = allocate(3 * 64, 256);
        final long[] others = allocate(2 * 64, 512);
        assertEquals(6, backing.liveBlocks());

        freeAll(small);
        freeAll(others);

        assertEquals(3, backing.liveBlocks());
        assertEquals((WINDOWS - 1) * WINDOW, Statistics.of(strategy).largestFreeBlockBytes());
    }

    @Test
    void shouldKeepOneEmptySlabWhenReleasesEmptyTwo() {
        holdLastWindow(strategy);
        final long[] retired =
                Arrays.stream(allocate(2 * 64, 256)).map(strategy::retire).toArray();
        assertEquals(3, backing.liveBlocks());

        Arrays.stream(retired).forEach(strategy::release);

        assertEquals(2, backing.liveBlocks());
    }

    @Test
    void shouldKeepASlabAsLongAsASlotOfItIsRetired() {
        final long[] addresses = allocate(2 * 64, 256);
        final long retired = strategy.retire(addresses[70]);
        freeAll(Arrays.copyOf(addresses, 70));
        freeAll(Arrays.copyOfRange(addresses, 71, 128));
        strategy.makeDo();
        assertEquals(1, backing.liveBlocks());
        assertEquals(1, strategy.liveBlocks());

        assertEquals(256, strategy.release(retired));

        assertEquals(0, backing.liveBlocks());
        assertWhole();
    }

    @Test
    void shouldTakeFromAnEmptySlabLast() {
        final long[] addresses = allocate(2 * 64, 256);
        strategy.free(addresses[64]);
        for (int slot = 0; slot < 64; slot++) {
            strategy.free(addresses[slot]);
        }

        assertEquals(addresses[64], strategy.allocate(256));
        assertEquals(addresses[0], strategy.allocate(256));
    }

    @Test
    void shouldGiveBackEmptySlabsForABlockThatDoesNotFitOtherwise() {
        keepEmptySlabs();

        assertEquals(BASE, strategy.allocate((WINDOWS - 1) * WINDOW));

        assertEquals(2, backing.liveBlocks());
        assertEquals(0, Statistics.of(strategy).largestFreeBlockBytes());
    }

    @Test
    void shouldKeepEmptySlabsForARequestThatCannotFit() {
        keepEmptySlabs();

        assertEquals(Strategy.NO_SPACE, strategy.allocate(WINDOWS * WINDOW));

        assertEquals(3, backing.liveBlocks());
    }

    @Test
    void shouldGiveBackEmptySlabsForAnAlignedBlockThatDoesNotFitOtherwise() {
        keepEmptySlabs();

        assertEquals(BASE, strategy.allocate(256, WINDOWS * WINDOW));

        assertEquals(2, backing.liveBlocks());
    }

    @Test
    void shouldGiveBackEmptySlabsForASlabOfAnotherClass() {
        final long slot = strategy.allocate(4096);
        strategy.allocate((WINDOWS - 1) * WINDOW);
        strategy.free(slot);

        assertEquals(BASE, strategy.allocate(256));
        assertEquals(BASE + 256, strategy.allocate(256));

        assertEquals(2, backing.liveBlocks());
    }

    @Test
    void shouldGiveBackEmptySlabsToExtend() {
        final long large = strategy.allocate(WINDOW);
        strategy.free(strategy.allocate(256));
        assertEquals(2, backing.liveBlocks());

        assertTrue(strategy.extend(large, WINDOWS * WINDOW));

        assertEquals(List.of("used 0 2097152"), blocks(strategy));
    }

    @Test
    void shouldNotExtendWhereNothingIsFree() {
        final long large = strategy.allocate(WINDOW);
        strategy.allocate(256);

        assertUnchanged(() -> assertFalse(strategy.extend(large, WINDOW + 256)));
    }

    @Test
    void shouldHandOutEveryGranuleAsABlockOfItsOwn() {
        int blocks = 0;
        while (strategy.allocate(256) != Strategy.NO_SPACE) {
            blocks++;
        }

        assertEquals(WINDOWS * WINDOW / 256, blocks);
        assertEquals(0, strategy.freeBytes());
        assertEquals(blocks, strategy.liveBlocks());
    }

    @Test
    void shouldMakeSlabsAgainAfter63SmallBlocksWithout() {
        final long large = strategy.allocate(WINDOWS * WINDOW - 256);
        assertEquals(large + WINDOWS * WINDOW - 256, strategy.allocate(256));
        strategy.free(large);

        allocate(63, 256);
        assertEquals(64, backing.liveBlocks());
        allocate(64, 256);

        assertEquals(65, backing.liveBlocks());
        assertEquals(128, strategy.liveBlocks());
    }

    @Test
    void shouldTakeAnExactFitWithoutASlabWhenTheTablesAreFull() {
        final Strategy full = withTablesOf(4);
        final long first = full.allocate(5120);
        full.allocate(5120);
        full.trim(first, 4864);
        final List<String> before = blocks(full);

        assertThrows(BlockTableFullException.class, () -> full.allocate(512));
        assertEquals(before, blocks(full));
        assertEquals(first + 4864, full.allocate(256));
    }

    @Test
    void shouldGiveBackEmptySlabsWhenTheTablesHaveNoRoomForABlock() {
        final Strategy full = withTablesOf(4);
        full.allocate(5120);
        full.free(full.allocate(256));

        assertEquals(BASE + 5120, full.allocate(5120));
    }

    @Test
    void shouldGiveBackEmptySlabsWhenTheTablesHaveNoRoomForATail() {
        final Strategy full = withTablesOf(5);
        final long first = full.allocate(5120);
        full.allocate(5120);
        full.free(full.allocate(256));

        full.trim(first, 4864);

        assertEquals(4864, full.sizeOf(first));
        assertEquals(List.of("used 0 4864", "free 4864 256"), blocks(full).subList(0, 2));
    }

    private static Strategy withTablesOf(final int maxBlocks) {
        final Region region = new Region(BASE, WINDOWS * WINDOW);
        return new PooledStrategy(new TlsfStrategy(region, OPTIONS.withMaxBlocks(maxBlocks)));
    }
}
