package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * These tests say what any strategy must refuse, and that a refused call changes nothing.
 */
abstract class StrategyRefusalContract extends StrategyFixture {

    private static final int MAX_BLOCKS = 8;

    @ParameterizedTest
    @ValueSource(longs = {0, -1, -256, Long.MIN_VALUE, Long.MIN_VALUE + 1})
    void shouldRefuseToAllocateNothingOrLess(final long sizeBytes) {
        final Strategy strategy = ofGranules(16);

        final Throwable plain =
                assertThrowsUnchanged(IllegalArgumentException.class, strategy, () -> strategy.allocate(sizeBytes));
        final Throwable aligned = assertThrowsUnchanged(
                IllegalArgumentException.class, strategy, () -> strategy.allocate(sizeBytes, 4 * GRANULE));

        assertMessage(plain, "sizeBytes=" + sizeBytes + " must be > 0");
        assertMessage(aligned, "sizeBytes=" + sizeBytes + " must be > 0");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, -256, 3, 255, 257, 768, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldRefuseAnAlignmentThatIsNoPowerOfTwo(final long alignmentBytes) {
        final Strategy strategy = ofGranules(16);

        final Throwable thrown = assertThrowsUnchanged(
                IllegalArgumentException.class, strategy, () -> strategy.allocate(GRANULE, alignmentBytes));

        assertMessage(thrown, "alignmentBytes=" + alignmentBytes + " must be a power of two");
    }

    static LongStream sizesBeyondTheRegion() {
        return LongStream.of(
                16 * GRANULE + 1,
                17 * GRANULE,
                (1L << 32) - 1,
                1L << 32,
                (1L << 32) * GRANULE,
                ((1L << 32) + 1) * GRANULE,
                Long.MAX_VALUE / 2 + 1,
                Long.MAX_VALUE - BASE,
                Long.MAX_VALUE - GRANULE,
                Long.MAX_VALUE - GRANULE + 1,
                Long.MAX_VALUE - 1,
                Long.MAX_VALUE);
    }

    @ParameterizedTest
    @MethodSource("sizesBeyondTheRegion")
    void shouldAnswerNoSpaceToSizesBeyondTheRegion(final long sizeBytes) {
        final Strategy strategy = ofGranules(16);

        for (int alignmentLog2 = 0; alignmentLog2 < Long.SIZE - 1; alignmentLog2++) {
            assertNoSpaceUnchanged(strategy, sizeBytes, 1L << alignmentLog2);
        }
        final State before = State.of(strategy);
        assertEquals(Strategy.NO_SPACE, strategy.allocate(sizeBytes));
        assertEquals(before, State.of(strategy));
    }

    @Test
    void shouldAnswerNoSpaceToTheBytesAfterTheLastWholeGranule() {
        final Strategy strategy = make(new Region(BASE, 16 * GRANULE + granuleBytes() - 1));

        assertNoSpaceUnchanged(strategy, 16 * GRANULE + 1, 1);
        assertNoSpaceUnchanged(strategy, 16 * GRANULE + granuleBytes() - 1, 1);
    }

    @Test
    void shouldAnswerNoSpaceWhenNoFreeBlockIsLargeEnough() {
        final Strategy strategy = ofGranules(64);
        final long[] addresses = fill(strategy);
        for (int i = 0; i < addresses.length; i += 2) {
            strategy.free(addresses[i]);
        }

        assertNoSpaceUnchanged(strategy, GRANULE + 1, 1);
    }

    @Test
    void shouldRefuseAnAddressThatWasNeverAllocated() {
        final Strategy strategy = ofGranules(8);

        final Throwable thrown = assertRefused(strategy, BASE);

        assertMessage(
                thrown,
                "it lies in the free block [0x" + Long.toHexString(BASE) + ", 2KiB], "
                        + "so it was freed already or never allocated");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 255, 256, 257, 512, 1023, 2047})
    void shouldRefuseAnAddressInsideABlock(final long offsetBytes) {
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(8 * GRANULE);

        final Throwable thrown = assertRefused(strategy, address + offsetBytes);

        assertMessage(
                thrown,
                "it lies " + offsetBytes + " bytes inside the block [0x" + Long.toHexString(address)
                        + ", 2KiB] in use");
    }

    @Test
    void shouldRefuseASecondFree() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[1]);

        final Throwable thrown = assertRefused(strategy, addresses[1]);

        assertMessage(
                thrown, "it lies in the free block [0x" + Long.toHexString(addresses[1]) + ", 256 bytes], so it was");
    }

    @Test
    void shouldRefuseASecondFreeOfEveryBlockThatMerged() {
        final Strategy strategy = ofGranules(16);
        final long[] addresses = fill(strategy);
        for (int i = 4; i < 12; i++) {
            strategy.free(addresses[i]);
        }

        for (int i = 4; i < 12; i++) {
            assertRefused(strategy, addresses[i]);
        }
    }

    @Test
    void shouldRefuseTheTailThatATrimGaveBack() {
        final Strategy strategy = ofGranules(8);
        final long address = strategy.allocate(8 * GRANULE);
        strategy.trim(address, 2 * GRANULE);

        assertRefused(strategy, address + 2 * GRANULE);
        assertRefused(strategy, address + 3 * GRANULE);
    }

    @Test
    void shouldRefuseTheBorderThatAnExtendRemoved() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[1]);
        assertTrue(strategy.extend(addresses[0], 2 * GRANULE));

        assertRefused(strategy, addresses[1]);
    }

    @Test
    void shouldRefuseThePaddingInFrontOfAnAlignedBlock() {
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(GRANULE, 8 * GRANULE);
        assertNotEquals(BASE, address);

        assertRefused(strategy, BASE);
        assertRefused(strategy, address - GRANULE);
    }

    static LongStream addressesOutside() {
        final LongStream ends =
                LongStream.of(Long.MIN_VALUE, Long.MIN_VALUE + BASE, -BASE, -GRANULE, -1, 0, 1, Long.MAX_VALUE);
        final LongStream around = LongStream.of(
                BASE - GRANULE, BASE - 1, BASE + 16 * GRANULE, BASE + 16 * GRANULE + 1, BASE + 17 * GRANULE);
        final LongStream sameLowBits = LongStream.range(24, Long.SIZE)
                .flatMap(bit -> LongStream.of(BASE + (1L << bit), BASE - (1L << bit), BASE ^ (1L << bit)));
        return LongStream.concat(LongStream.concat(ends, around), sameLowBits);
    }

    @ParameterizedTest
    @MethodSource("addressesOutside")
    void shouldRefuseAnAddressOutsideOfTheRegion(final long address) {
        final Strategy strategy = ofGranules(16);
        fill(strategy);

        final Throwable thrown = assertRefused(strategy, address);

        assertMessage(thrown, "it lies outside of the region [0x10000000300..0x10000001300), 4KiB");
    }

    @Test
    void shouldRefuseAnAddressAfterTheLastWholeGranule() {
        final Strategy strategy = make(new Region(BASE, GRANULE + 100));
        strategy.allocate(GRANULE);

        final Throwable thrown = assertRefused(strategy, BASE + GRANULE);

        assertMessage(thrown, "it lies in the rest after the region's last whole granule");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, Long.MIN_VALUE + 1, 2049, 2304, 1L << 40, Long.MAX_VALUE})
    void shouldRefuseToTrimToASizeOutsideOfItsRange(final long newSizeBytes) {
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(8 * GRANULE);

        final Throwable thrown = assertThrowsUnchanged(
                IllegalArgumentException.class, strategy, () -> strategy.trim(address, newSizeBytes));

        assertMessage(thrown, "newSizeBytes=" + newSizeBytes + " must be > 0 and <= the block's size, 2048");
    }

    @ParameterizedTest
    @ValueSource(longs = {1024, 1, 0, -1, Long.MIN_VALUE, Long.MIN_VALUE + 1})
    void shouldRefuseToExtendToASmallerSize(final long newSizeBytes) {
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(8 * GRANULE);

        final Throwable thrown = assertThrowsUnchanged(
                IllegalArgumentException.class, strategy, () -> strategy.extend(address, newSizeBytes));

        assertMessage(thrown, "newSizeBytes=" + newSizeBytes + ", rounded up, must be >= the block's size, 2048");
    }

    @ParameterizedTest
    @MethodSource("sizesBeyondTheRegion")
    void shouldNotExtendBeyondTheRegion(final long newSizeBytes) {
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(GRANULE);
        final State before = State.of(strategy);

        assertFalse(strategy.extend(address, newSizeBytes));

        assertEquals(before, State.of(strategy));
    }

    @Test
    void shouldNotExtendOverABlockInUse() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[0]);
        final State before = State.of(strategy);

        assertFalse(strategy.extend(addresses[1], GRANULE + 1));

        assertEquals(before, State.of(strategy));
    }

    @Test
    void shouldNotExtendOverTheRegionsEnd() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[0]);
        final State before = State.of(strategy);

        assertFalse(strategy.extend(addresses[2], 2 * GRANULE));

        assertEquals(before, State.of(strategy));
    }

    @Test
    void shouldNotExtendIntoAFreeBlockThatIsTooSmall() {
        final Strategy strategy = ofGranules(4);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[1]);
        strategy.free(addresses[2]);
        final State before = State.of(strategy);

        assertFalse(strategy.extend(addresses[0], 3 * GRANULE + 1));

        assertEquals(before, State.of(strategy));
    }

    @Test
    void shouldThrowWhenTheTablesAreFull() {
        final Strategy strategy = withFullTables();

        final Throwable thrown =
                assertThrowsUnchanged(BlockTableFullException.class, strategy, () -> strategy.allocate(2 * GRANULE));

        assertMessage(thrown, "maxBlocks=" + MAX_BLOCKS);
        assertMessage(thrown, "raise StrategyOptions.maxBlocks");
    }

    @Test
    void shouldBeFullAtTheSameBlocksWhateverItsTablesStartWith() {
        final Strategy strategy = withFullTables();

        for (int firstBlocks = 1; firstBlocks < MAX_BLOCKS; firstBlocks++) {
            assertEquals(Block.of(strategy), Block.of(withFullTables(MAX_BLOCKS, firstBlocks, 2 * GRANULE)));
        }
    }

    @Test
    void shouldBeFullAtTheSameBlocksHoweverOftenItsTablesGrew() {
        final Strategy strategy = withFullTables(2000, 2000, LARGE);

        for (final int firstBlocks : new int[] {1, 300, 1000}) {
            assertEquals(Block.of(strategy), Block.of(withFullTables(2000, firstBlocks, LARGE)));
        }
    }

    @Test
    void shouldHoldAsManyBlocksAsItWasMadeFor() {
        assumeCoalesces();
        final Strategy strategy = withFullTables();

        assertEquals(MAX_BLOCKS, Block.of(strategy).size());
    }

    @Test
    void shouldGrantAnExactFitWhenTheTablesAreFull() {
        assumeSearches();
        final Strategy strategy = withFullTables();
        final long largestBytes = largestFreeBytes(strategy);
        final long freeBytes = strategy.freeBytes();

        final long address = strategy.allocate(largestBytes);

        assertEquals(largestBytes, strategy.sizeOf(address));
        assertEquals(freeBytes - largestBytes, strategy.freeBytes());
    }

    @Test
    void shouldAnswerNoSpaceWhenTheTablesAreFullAndNothingFits() {
        final Strategy strategy = withFullTables();

        assertNoSpaceUnchanged(strategy, largestFreeBytes(strategy) + 1, 1);
    }

    @Test
    void shouldFreeEveryBlockWhenTheTablesAreFull() {
        final Strategy strategy = withFullTables();
        final long[] addresses = liveAddresses(strategy);

        for (final long address : addresses) {
            strategy.free(address);
        }

        assertWhole(strategy);
    }

    @Test
    void shouldAllocateAgainAfterAFreeWhenTheTablesWereFull() {
        final Strategy strategy = withFullTables();
        final long[] addresses = liveAddresses(strategy);
        strategy.free(addresses[0]);
        strategy.free(addresses[1]);

        assertNotEquals(Strategy.NO_SPACE, strategy.allocate(2 * GRANULE));
    }

    @Test
    void shouldRefuseATrimWhoseTailNeedsABlockWhenTheTablesAreFull() {
        assumeCoalesces();
        final Strategy strategy = withFullTables();
        final long address = blockBeforeABlockInUse(strategy);

        assertThrowsUnchanged(BlockTableFullException.class, strategy, () -> strategy.trim(address, GRANULE));
    }

    @Test
    void shouldTrimIntoAFreeNeighbourWhenTheTablesAreFull() {
        assumeCoalesces();
        final Strategy strategy = withFullTables();
        final long[] addresses = liveAddresses(strategy);
        strategy.free(addresses[2]);

        strategy.trim(addresses[1], GRANULE);

        assertEquals(GRANULE, strategy.sizeOf(addresses[1]));
        assertTrue(Block.of(strategy).contains(Block.free(addresses[1] + GRANULE, 3 * GRANULE)));
    }

    @Test
    void shouldRefuseAnAlignedBlockWhoseTailHasNoRoomInTheTables() {
        assumeTrue(hasBlockLimit(), "no limit on blocks");
        final Region region = new Region(BASE, 34 * GRANULE);
        final int blocksAtFirst = Block.of(make(region)).size();
        final Strategy strategy = make(region, OPTIONS.withMaxBlocks(Math.max(2, blocksAtFirst)));

        assertThrowsUnchanged(BlockTableFullException.class, strategy, () -> strategy.allocate(GRANULE, 16 * GRANULE));
    }

    /**
     * Fills the tables with blocks of two granules, until there is no record for another. There are eight blocks then,
     * one of them free. With buddies, a split leads to the next and needs several records at once, so there may be
     * fewer blocks, and several of them free.
     */
    final Strategy withFullTables() {
        return withFullTables(MAX_BLOCKS, MAX_BLOCKS, 2 * GRANULE);
    }

    private Strategy withFullTables(final int maxBlocks, final int firstBlocks, final long sizeBytes) {
        assumeTrue(hasBlockLimit(), "no limit on blocks");
        final StrategyOptions options = OPTIONS.withMaxBlocks(maxBlocks).growing(firstBlocks);
        final Strategy strategy = make(new Region(BASE, 4L * maxBlocks * sizeBytes), options);
        try {
            while (strategy.allocate(sizeBytes) != Strategy.NO_SPACE) {
                assertTrue(strategy.liveBlocks() < maxBlocks);
            }
            return fail("the region is full, the tables aren't");
        } catch (final BlockTableFullException full) {
            return strategy;
        }
    }

    static long[] liveAddresses(final Strategy strategy) {
        return Block.of(strategy).stream()
                .filter(block -> !block.free())
                .mapToLong(Block::address)
                .toArray();
    }

    private static long blockBeforeABlockInUse(final Strategy strategy) {
        final long[] addresses = liveAddresses(strategy);
        return Arrays.stream(addresses)
                .filter(address -> Arrays.binarySearch(addresses, address + strategy.sizeOf(address)) >= 0)
                .findFirst()
                .orElseThrow();
    }
}
