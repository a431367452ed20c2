package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests go beyond the contract of every strategy: limits of the region, choice of a block, bounded search. */
class TlsfStrategyTest {

    private static final StrategyOptions OPTIONS = new StrategyOptions(256, 1024);
    private static final long BASE = 1L << 40;

    @Test
    void shouldRefuseARegionSmallerThanAGranule() {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> new TlsfStrategy(new Region(BASE, 255), OPTIONS));

        assertEquals(
                "region=[0x10000000000..0x100000000ff), 255 bytes must have from 1 to 2^32 - 1 granules of 256 bytes: "
                        + "choose another granule",
                thrown.getMessage());
    }

    @Test
    void shouldRefuseARegionOfMoreGranulesThan32BitsCount() {
        assertThrows(IllegalArgumentException.class, () -> new TlsfStrategy(new Region(BASE, 256L << 32), OPTIONS));
    }

    @Test
    void shouldServeARegionOfAsManyGranulesAs32BitsCount() {
        final Strategy strategy = new TlsfStrategy(new Region(BASE, (256L << 32) - 1), OPTIONS);

        assertEquals((256L << 32) - 256, Statistics.of(strategy).largestFreeBlockBytes());
        assertEquals(BASE, strategy.allocate((256L << 32) - 256));
        assertEquals((256L << 32) - 256, strategy.sizeOf(BASE));
    }

    @Test
    void shouldRefuseARegionThatDoesNotStartAtAGranule() {
        final IllegalArgumentException thrown = assertThrows(
                IllegalArgumentException.class, () -> new TlsfStrategy(new Region(BASE + 128, 4096), OPTIONS));

        assertEquals(
                "region=[0x10000000080..0x10000001080), 4KiB must start at a multiple of the granule, 256 bytes",
                thrown.getMessage());
    }

    /** The list doesn't guarantee a fit: it holds blocks of 100 and 101 granules. */
    @Test
    void shouldTakeTheFirstOfItsOwnListIfThatFits() {
        final Strategy strategy = ofGranules(1000);
        final long exact = strategy.allocate(101 * 256);
        strategy.allocate(256);
        final long larger = strategy.allocate(110 * 256);
        strategy.allocate(256);
        strategy.free(exact);
        strategy.free(larger);

        assertEquals(exact, strategy.allocate(101 * 256));
    }

    @Test
    void shouldTakeTheFrontOfTheSmallestListThatFits() {
        final Strategy strategy = ofGranules(1000);
        final long small = strategy.allocate(10 * 256);
        strategy.allocate(256);
        final long large = strategy.allocate(20 * 256);
        strategy.allocate(256);
        strategy.free(small);
        strategy.free(large);

        assertEquals(large, strategy.allocate(11 * 256));
        assertEquals(small, strategy.allocate(10 * 256));
    }

    @Test
    void shouldTakeTheBlockOfTheLowerHalfThatWasFreedLast() {
        final Strategy strategy = ofGranules(1000);
        final long[] blocks = oneGranuleEach(strategy, 10);
        strategy.allocate(100 * 256);

        strategy.free(blocks[2]);
        strategy.free(blocks[6]);
        strategy.free(blocks[4]);

        assertEquals(blocks[4], strategy.allocate(256));
        assertEquals(blocks[6], strategy.allocate(256));
        assertEquals(blocks[2], strategy.allocate(256));
    }

    @Test
    void shouldTakeABlockOfTheUpperHalfLastAndTheOneThatWasFreedFirst() {
        final Strategy strategy = ofGranules(1000);
        final long low = oneGranuleEach(strategy, 2)[0];
        strategy.allocate(100 * 256);
        final long[] blocks = oneGranuleEach(strategy, 10);

        strategy.free(blocks[6]);
        strategy.free(blocks[4]);
        strategy.free(low);
        strategy.free(blocks[2]);

        assertEquals(low, strategy.allocate(256));
        assertEquals(blocks[6], strategy.allocate(256));
        assertEquals(blocks[4], strategy.allocate(256));
        assertEquals(blocks[2], strategy.allocate(256));
    }

    /** The half follows what is used, and the size of the region doesn't matter. */
    @Test
    void shouldTakeABlockOfTheLowerHalfFirstOnceMoreIsUsed() {
        final Strategy strategy = ofGranules((1L << 32) - 1);
        final long[] blocks = oneGranuleEach(strategy, 10);
        strategy.free(blocks[8]);
        strategy.free(blocks[6]);
        assertEquals(blocks[8], strategy.allocate(256));
        strategy.free(blocks[8]);
        strategy.allocate((3L << 30) * 256);

        strategy.free(blocks[4]);

        assertEquals(blocks[4], strategy.allocate(256));
        assertEquals(blocks[6], strategy.allocate(256));
    }

    /** Where nothing is in use any more, blocks are placed as by a new strategy: its lower half is empty. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldForgetTheHalvesOnceNothingIsUsed(final boolean byHandle) {
        final TlsfStrategy strategy = new TlsfStrategy(new Region(BASE, ((1L << 32) - 1) * 256), OPTIONS);
        if (byHandle) {
            strategy.freeByHandle(strategy.allocateByHandle((3L << 30) * 256));
        } else {
            strategy.free(strategy.allocate((3L << 30) * 256));
        }
        final long first = strategy.allocate(2 * 256);
        final long second = strategy.allocate(2 * 256);
        strategy.allocate(256);

        strategy.trim(first, 256);
        strategy.trim(second, 256);

        assertEquals(first + 256, strategy.allocate(256));
        assertEquals(second + 256, strategy.allocate(256));
    }

    @Test
    void shouldFreeTheLastAllocationAsIfItHadNeverBeen() {
        final TlsfStrategy strategy = new TlsfStrategy(new Region(BASE, 20_000 * 256), OPTIONS);
        final long[] blocks = oneGranuleEach(strategy, 2);
        strategy.allocate(1000 * 256);
        final long trimmed = strategy.allocate(2 * 256);
        strategy.allocate(256);
        strategy.free(blocks[0]);
        strategy.allocate(5000 * 256);

        strategy.freeLast(strategy.allocate(7 * 256));

        strategy.trim(trimmed, 256);
        assertEquals(blocks[0], strategy.allocate(256));
        assertEquals(trimmed + 256, strategy.allocate(256));
    }

    private static long[] oneGranuleEach(final Strategy strategy, final int count) {
        return LongStream.generate(() -> strategy.allocate(256)).limit(count).toArray();
    }

    /** List 96 holds blocks of 128 to 131 granules. A block that grows within them keeps its place behind the other. */
    @Test
    void shouldKeepAGrownBlocksPlaceInItsList() {
        final Strategy strategy = ofGranules(2000);
        final long grown = strategy.allocate(128 * 256);
        final long behind = strategy.allocate(256);
        strategy.allocate(256);
        final long other = strategy.allocate(131 * 256);
        strategy.allocate(1000 * 256);
        strategy.free(grown);
        strategy.free(other);
        strategy.free(behind);

        assertEquals(other, strategy.allocate(128 * 256));
    }

    @Test
    void shouldTakeABlockFirstThatGrewIntoAnotherList() {
        final Strategy strategy = ofGranules(2000);
        final long grown = strategy.allocate(128 * 256);
        final long behind = strategy.allocate(4 * 256);
        strategy.allocate(256);
        final long other = strategy.allocate(132 * 256);
        strategy.allocate(1000 * 256);
        strategy.free(grown);
        strategy.free(other);
        strategy.free(behind);

        assertEquals(grown, strategy.allocate(132 * 256));
    }

    @Test
    void shouldTakeAnAlignedBlockThatFitsExactly() {
        final Strategy strategy = ofGranules(1000);
        final long exact = strategy.allocate(16 * 256);
        strategy.allocate(256);
        strategy.free(exact);

        assertEquals(exact, strategy.allocate(16 * 256, 512));
    }

    @Test
    void shouldNeedOneRecordForAnAlignedBlockAtTheEndOfAFreeOne() {
        final Strategy strategy = new TlsfStrategy(new Region(BASE + 256, 19 * 256), new StrategyOptions(256, 2));

        assertEquals(BASE + 16 * 256, strategy.allocate(4 * 256, 16 * 256));
    }

    @Test
    void shouldUseTheRecordAgainThatAnExtendMakesSuperfluous() {
        final TlsfStrategy strategy = new TlsfStrategy(new Region(BASE, 4 * 256), new StrategyOptions(256, 2));

        for (int i = 0; i < 3; i++) {
            final long address = strategy.allocate(256);
            assertTrue(strategy.extend(address, 4 * 256));
            strategy.free(address);
        }
    }

    @Test
    void shouldRefuseToRetireATailWithoutARecordForIt() {
        final TlsfStrategy strategy = new TlsfStrategy(new Region(BASE, 4 * 256), new StrategyOptions(256, 2));
        final long address = strategy.allocate(2 * 256);
        strategy.allocate(2 * 256);

        assertThrows(BlockTableFullException.class, () -> strategy.retireTail(address, 256));

        assertEquals(2 * 256, strategy.sizeOf(address));
    }

    @Test
    void shouldRetireAndDivideFreeMemoryAsLongAsThereAreRecords() {
        final TlsfStrategy strategy = new TlsfStrategy(new Region(BASE, 8 * 256), new StrategyOptions(256, 3));
        final long free = onlyFreeBlock(strategy);
        assertThrows(IllegalArgumentException.class, () -> strategy.retireFree(free, BASE, 0));

        for (int i = 0; i < 3; i++) {
            final long retired = strategy.retireFree(onlyFreeBlock(strategy), BASE, 4 * 256);
            assertEquals(BASE, strategy.retiredAddress(retired));
            final long rest = strategy.splitRetired(retired, 2 * 256);
            assertEquals(BASE + 2 * 256, strategy.retiredAddress(rest));
            assertEquals(Strategy.NO_SPACE, strategy.splitRetired(rest, 256));
            assertEquals(Strategy.NO_SPACE, strategy.retireFree(onlyFreeBlock(strategy), BASE + 5 * 256, 256));
            assertEquals(4 * 256, strategy.freeBytes());
            strategy.joinRetired(retired, rest);
            assertEquals(4 * 256, strategy.release(retired));
        }
    }

    private static long onlyFreeBlock(final TlsfStrategy strategy) {
        final List<Long> free = new ArrayList<>();
        strategy.forEachFree(256, (block, address, sizeBytes) -> free.add(block));
        assertEquals(1, free.size());
        return free.get(0);
    }

    @Test
    void shouldUseTheLastFreeBlockThoughItsListGuaranteesNoFit() {
        final Strategy strategy = ofGranules(65);

        assertEquals(BASE, strategy.allocate(65 * 256));
    }

    @Test
    void shouldFindABlockBehind63TooSmallOnes() {
        final Strategy strategy = withFreeBlocksOf64Granules(63);

        assertEquals(BASE + 63 * 65 * 256, strategy.allocate(65 * 256));
    }

    /** The bound is the documented one: the only block that fits is the 65th of its list. */
    @Test
    void shouldAnswerNoSpaceBehind64TooSmallBlocks() {
        final Strategy strategy = withFreeBlocksOf64Granules(64);

        assertEquals(Strategy.NO_SPACE, strategy.allocate(65 * 256));
        assertEquals(65 * 256, Statistics.of(strategy).largestFreeBlockBytes());
    }

    /**
     * Makes a strategy with {@code count} free blocks of 64 granules, and one free block of 65. The latter is behind
     * them in memory and in their common list; nothing else is free.
     */
    private static Strategy withFreeBlocksOf64Granules(final int count) {
        final Strategy strategy = ofGranules(66 + 65L * count);
        final List<Long> tooSmall = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            tooSmall.add(strategy.allocate(64 * 256));
            strategy.allocate(256);
        }
        final long fitting = strategy.allocate(65 * 256);
        strategy.allocate(256);
        assertEquals(0, strategy.freeBytes());
        tooSmall.forEach(strategy::free);
        strategy.free(fitting);
        return strategy;
    }

    private static Strategy ofGranules(final long granules) {
        return new TlsfStrategy(new Region(BASE, granules * 256), OPTIONS);
    }
}
