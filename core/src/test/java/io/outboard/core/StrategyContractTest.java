package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * These tests say what {@link Strategy} promises, sentence by sentence. Each strategy has a subclass that supplies
 * {@link #create} and no more; its own tests cover only what goes beyond the contract.
 *
 * <p>Where a strategy puts a block is its own choice, so these tests first fill a region to know what lies where.
 */
public abstract class StrategyContractTest extends StrategyRetireContract {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void shouldStartWithItsWholeRegionFree() {
        assertWhole(ofGranules(1000));
    }

    @Test
    void shouldTellItsRegionAndGranule() {
        final Region region = new Region(1L << 40, 1L << 24);

        final Strategy strategy = create(region, OPTIONS.withGranuleBytes(4096));

        assertEquals(region, strategy.region());
        assertEquals(4096, strategy.granuleBytes());
    }

    @Test
    void shouldLoseOnlyTheBytesAfterTheLastWholeGranule() {
        final Strategy strategy = make(new Region(BASE, 8 * GRANULE + granuleBytes() - 1));

        assertEquals(List.of(Block.free(BASE, 8 * GRANULE)), Block.of(strategy));
        assertEquals(BASE, strategy.allocate(8 * GRANULE));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 16, 4096, 1L << 16, 1L << 30})
    void shouldServeEveryGranule(final long granuleBytes) {
        final Region region = new Region((1L << 41) + granuleBytes, 20 * granuleBytes);

        final Strategy strategy = create(region, OPTIONS.withGranuleBytes(granuleBytes));

        final long address = strategy.allocate(granuleBytes, 2 * granuleBytes);
        assertEquals(0, address % (2 * granuleBytes));
        assertEquals(blockBytes(granuleBytes, granuleBytes), strategy.sizeOf(address));
        strategy.free(address);
        assertWhole(strategy);
    }

    @Test
    void shouldServeARegionOfOneGranule() {
        final Strategy strategy = ofGranules(1);

        assertEquals(BASE, strategy.allocate(1));
        assertEquals(Strategy.NO_SPACE, strategy.allocate(1));
        strategy.free(BASE);
        assertWhole(strategy);
    }

    @Test
    void shouldServeARegionAtAddressZero() {
        final Strategy strategy = make(new Region(0, 8 * GRANULE));

        assertEquals(0, strategy.allocate(8 * GRANULE, 1L << 62));
        assertRefused(strategy, -GRANULE);
        strategy.free(0);
        assertWhole(strategy);
    }

    @Test
    void shouldServeARegionThatEndsAtTheLastAddress() {
        final long address = Long.MAX_VALUE - 3 * GRANULE + 1;
        final Strategy strategy = make(new Region(address, 3 * GRANULE - 1));

        assertEquals(address, strategy.allocate(2 * GRANULE));
        assertRefused(strategy, Long.MIN_VALUE);
        assertRefused(strategy, Long.MAX_VALUE);
        assertRefused(strategy, address + 2 * GRANULE);
        strategy.free(address);
        assertWhole(strategy);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097})
    void shouldRoundSizesUpToTheGranule(final long sizeBytes) {
        final Strategy strategy = ofGranules(64);

        final long address = strategy.allocate(sizeBytes);

        final long roundedBytes = blockBytes(sizeBytes, granuleBytes());
        assertEquals(0, address % granuleBytes());
        assertEquals(roundedBytes, strategy.sizeOf(address));
        assertEquals(64 * GRANULE - roundedBytes, strategy.freeBytes());
        assertEquals(1, strategy.liveBlocks());
    }

    @Test
    void shouldReadAsWhatItIsAndHowFullItIs() {
        final Strategy strategy = ofGranules(8);
        strategy.allocate(8 * GRANULE);

        final String text = strategy.toString();

        assertEquals(
                strategy.getClass().getSimpleName() + "[" + strategy.region() + "; in use 2KiB, free 0 bytes, granule "
                        + ByteSize.text(granuleBytes()) + "]",
                text);
    }

    @Test
    void shouldGrantTheWholeRegionAtItsFirstAddress() {
        final Strategy strategy = ofGranules(8);

        assertEquals(BASE, strategy.allocate(8 * GRANULE));

        assertEquals(List.of(Block.used(BASE, 8 * GRANULE)), Block.of(strategy));
        assertEquals(0, strategy.freeBytes());
        assertEquals(0, largestFreeBytes(strategy));
    }

    @Test
    void shouldGrantEveryGranuleOnce() {
        final Strategy strategy = ofGranules(1000);

        final long[] addresses = fill(strategy);

        final long[] expected =
                LongStream.range(0, 1000).map(i -> BASE + i * GRANULE).toArray();
        assertArrayEquals(expected, addresses);
        assertEquals(1000, strategy.liveBlocks());
    }

    @Test
    void shouldServeAgainAfterExhaustion() {
        final Strategy strategy = ofGranules(64);
        final long[] addresses = fill(strategy);
        assertEquals(Strategy.NO_SPACE, strategy.allocate(1));

        strategy.free(addresses[17]);

        assertEquals(addresses[17], strategy.allocate(GRANULE));
        assertEquals(Strategy.NO_SPACE, strategy.allocate(1));
    }

    /** In this region, 2^20 is the largest alignment that any block can have. */
    @ParameterizedTest
    @MethodSource("alignmentsFromAGranule")
    void shouldAlignAbsoluteAddresses(final int alignmentLog2) {
        final Strategy strategy = ofGranules(4096);
        final long alignmentBytes = 1L << alignmentLog2;

        final long address = strategy.allocate(GRANULE, alignmentBytes);

        if (alignmentLog2 > 20) {
            assertEquals(Strategy.NO_SPACE, address);
            assertWhole(strategy);
        } else {
            assertEquals(0, address & (alignmentBytes - 1), "0x" + Long.toHexString(address));
            assertEquals(GRANULE, strategy.sizeOf(address));
            strategy.free(address);
            assertWhole(strategy);
        }
    }

    static IntStream alignmentsFromAGranule() {
        return IntStream.range(8, Long.SIZE - 1);
    }

    @Test
    void shouldKeepThePaddingInFrontAsOneFreeBlock() {
        assumeCoalesces();
        final Strategy strategy = make(new Region(BASE, 16 * GRANULE));

        final long address = strategy.allocate(3 * GRANULE, 16 * GRANULE);

        assertEquals(BASE + 13 * GRANULE, address);
        assertEquals(List.of(Block.free(BASE, 13 * GRANULE), Block.used(address, 3 * GRANULE)), Block.of(strategy));
        assertEquals(BASE, strategy.allocate(servedBytes(13 * GRANULE)));
    }

    @Test
    void shouldKeepWhatIsLeftOnBothSidesOfAnAlignedBlock() {
        assumeCoalesces();
        final Strategy strategy = make(new Region(BASE, 20 * GRANULE));

        final long address = strategy.allocate(3 * GRANULE, 16 * GRANULE);

        assertEquals(
                List.of(
                        Block.free(BASE, 13 * GRANULE),
                        Block.used(address, 3 * GRANULE),
                        Block.free(address + 3 * GRANULE, 4 * GRANULE)),
                Block.of(strategy));
    }

    @Test
    void shouldFindTheOneFreeBlockWhereAnAlignedRangeFits() {
        assumeCoalesces();
        assumeSearches();
        final Strategy strategy = ofGranules(64);
        final long[] addresses = fill(strategy);
        for (int i = 0; i < 64; i++) {
            if (i != 14 && i != 30 && i != 46 && i != 63) {
                strategy.free(addresses[i]);
            }
        }

        final long address = strategy.allocate(2 * GRANULE, 16 * GRANULE);

        assertEquals(addresses[61], address);
    }

    @Test
    void shouldAnswerNoSpaceWhenFreeBlocksAreLargeEnoughButNoneHoldsAnAlignedRange() {
        final Strategy strategy = ofGranules(64);
        final long[] addresses = fill(strategy);
        for (int i = 0; i < 64; i++) {
            if ((i + 3) % 4 != 0) {
                strategy.free(addresses[i]);
            }
        }

        assertNoSpaceUnchanged(strategy, GRANULE, 4 * GRANULE);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 4, 8, 16, 32, 64, 128, 256})
    void shouldAskForNothingMoreWithAnAlignmentUpToAGranule(final long alignmentBytes) {
        assumeTrue(alignmentBytes <= granuleBytes(), "more than a granule");
        final Strategy plain = ofGranules(64);
        final Strategy aligned = ofGranules(64);

        for (long sizeBytes = 1; sizeBytes < 20 * GRANULE; sizeBytes += 333) {
            assertEquals(plain.allocate(sizeBytes), aligned.allocate(sizeBytes, alignmentBytes));
        }
        assertEquals(State.of(plain), State.of(aligned));
    }

    @Test
    void shouldKeepAFreedBlockApartFromNeighboursInUse() {
        assertFreeBlocksAfterFreeing(new int[] {2}, Block.free(BASE + 2 * GRANULE, GRANULE));
    }

    @Test
    void shouldMergeWithTheBlockBeforeOnFree() {
        assumeCoalesces();
        assertFreeBlocksAfterFreeing(new int[] {1, 2}, Block.free(BASE + GRANULE, 2 * GRANULE));
    }

    @Test
    void shouldMergeWithTheBlockAfterOnFree() {
        assumeCoalesces();
        assertFreeBlocksAfterFreeing(new int[] {3, 2}, Block.free(BASE + 2 * GRANULE, 2 * GRANULE));
    }

    @Test
    void shouldMergeWithBothNeighboursOnFree() {
        assumeCoalesces();
        assertFreeBlocksAfterFreeing(new int[] {1, 3, 2}, Block.free(BASE + GRANULE, 3 * GRANULE));
    }

    @Test
    void shouldNotMergeAcrossTheRegionsEnds() {
        assertFreeBlocksAfterFreeing(
                new int[] {0, 4}, Block.free(BASE, GRANULE), Block.free(BASE + 4 * GRANULE, GRANULE));
    }

    private void assertFreeBlocksAfterFreeing(final int[] freed, final Block... expected) {
        final Strategy strategy = ofGranules(5);
        final long[] addresses = fill(strategy);

        for (final int index : freed) {
            strategy.free(addresses[index]);
        }

        assertEquals(
                List.of(expected),
                Block.of(strategy).stream().filter(Block::free).collect(Collectors.toList()));
        assertEquals(freed.length * GRANULE, strategy.freeBytes());
        assertEquals(5 - freed.length, strategy.liveBlocks());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ascending", "descending", "shuffled", "even ones first"})
    void shouldBeWholeAgainAfterTheLastFree(final String order) {
        final Strategy strategy = ofGranules(500);
        final List<Long> addresses = Arrays.stream(fill(strategy)).boxed().collect(Collectors.toList());
        if (order.equals("descending")) {
            Collections.reverse(addresses);
        } else if (order.equals("shuffled")) {
            Collections.shuffle(addresses, new Random(1));
        } else if (order.startsWith("even")) {
            addresses.sort((a, b) -> Long.compare(a / GRANULE & 1, b / GRANULE & 1));
        }

        addresses.forEach(strategy::free);

        assertWhole(strategy);
        assertEquals(BASE, strategy.allocate(servedBytes(largestFreeBytes(strategy))));
    }

    @Test
    void shouldWalkBlocksInOrderOfAddressWithoutGaps() {
        final Strategy strategy = make(new Region(BASE, OperationMix.REGION_BYTES));
        new OperationMix(3).run(strategy, new long[1000]);

        long end = BASE;
        boolean free = false;
        for (final Block block : Block.of(strategy)) {
            assertEquals(end, block.address());
            assertFalse(coalesces() && free && block.free(), () -> "two free neighbours at " + block);
            end += block.sizeBytes();
            free = block.free();
        }
        assertEquals(strategy.region().endAddress(), end);
    }

    @Test
    void shouldCountBlocksInStatistics() {
        final Strategy strategy = make(new Region(BASE, 8 * GRANULE + 100));
        final long[] addresses = fill(strategy);
        for (final int freed : new int[] {0, 1, 3, 7}) {
            strategy.free(addresses[freed]);
        }

        final Statistics statistics = Statistics.of(strategy);

        assertEquals(
                new Statistics(8 * GRANULE + 100, 4 * GRANULE, 2 * GRANULE, 7 * GRANULE, 4, 3, strategy.hostBytes()),
                statistics);
    }

    @Test
    void shouldCountNothingInStatisticsOfAFreshStrategy() {
        final Strategy strategy = ofGranules(8);

        assertEquals(
                new Statistics(8 * GRANULE, 8 * GRANULE, 8 * GRANULE, 0, 0, 1, strategy.hostBytes()),
                Statistics.of(strategy));
    }

    /**
     * Tells how much of the host memory that a strategy reports is shared with others, and existed before the strategy.
     */
    protected long sharedHostBytes() {
        return 0;
    }

    /** A strategy takes all its memory when it is made, so it allocates what it reports, apart from a few objects. */
    @Test
    void shouldTellTheHostMemoryThatItHolds() {
        final Region region = new Region(BASE, 1L << 30);
        make(region);

        final long before = THREADS.getCurrentThreadAllocatedBytes();
        final Strategy strategy = make(region);
        final long allocatedBytes = THREADS.getCurrentThreadAllocatedBytes() - before + sharedHostBytes();

        assertTrue(
                Math.abs(allocatedBytes - strategy.hostBytes()) <= 1024,
                () -> "says " + strategy.hostBytes() + ", took " + allocatedBytes);
    }

    /** About a thousand blocks are needed: some tables have room for hundreds, even with the fewest first blocks. */
    @Test
    void shouldGiveTheSameAddressesWhateverItsTablesStartWith() {
        final Region region = new Region(BASE, 32 * OperationMix.REGION_BYTES);
        final Strategy atOnce = make(region);
        final long[] answers = new long[20_000];
        new OperationMix(6, 2048).run(atOnce, answers);

        for (final int firstBlocks : new int[] {1, 3, 100, 500}) {
            final Strategy growing = make(region, OPTIONS.growing(firstBlocks));
            final long firstHostBytes = growing.hostBytes();
            final long[] answersOfGrowing = new long[20_000];
            new OperationMix(6, 2048).run(growing, answersOfGrowing);

            assertArrayEquals(answers, answersOfGrowing);
            assertEquals(Block.of(atOnce), Block.of(growing));
            assertTrue(
                    !hasBlockLimit() || firstBlocks > 100 || growing.hostBytes() > 3 * firstHostBytes,
                    () -> firstHostBytes + " bytes at first, then " + growing.hostBytes());
        }
    }

    @Test
    void shouldHoldAsManyBlocksAsItMayWhateverItsTablesStartWith() {
        final Region region = new Region(BASE, 4000 * GRANULE);
        final Strategy growing = make(region, OPTIONS.growing(1));
        final long firstHostBytes = growing.hostBytes();

        final long[] addresses = fill(growing);

        assertTrue(growing.hostBytes() >= firstHostBytes);
        assertTrue(growing.hostBytes() <= make(region).hostBytes());
        Arrays.stream(addresses).forEach(growing::free);
        assertWhole(growing);
    }

    @Test
    void shouldNameRetiredBlocksWhileItsTablesGrow() {
        final Strategy growing = make(new Region(BASE, 2000 * 4 * LARGE), OPTIONS.growing(1));
        final long[] addresses = new long[2000];
        final long[] retired = new long[2000];
        for (int i = 0; i < 2000; i++) {
            addresses[i] = growing.allocate(LARGE);
            retired[i] = growing.retire(addresses[i]);
        }

        for (int i = 0; i < 2000; i += 2) {
            assertEquals(addresses[i], growing.restore(retired[i]));
            assertEquals(blockBytes(LARGE, granuleBytes()), growing.release(retired[i + 1]));
        }

        for (int i = 0; i < 2000; i += 2) {
            growing.free(addresses[i]);
        }
        assertWhole(growing);
    }

    /**
     * The least garbage of a few rounds counts, since the JVM itself allocates a little now and then, on any thread.
     */
    @Test
    void shouldMakeNoGarbage() {
        final Strategy strategy = make(new Region(BASE, OperationMix.REGION_BYTES));
        final OperationMix operations = new OperationMix(1);
        final long[] answers = new long[100_000];
        operations.run(strategy, answers);

        long leastBytes = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) {
            final long before = THREADS.getCurrentThreadAllocatedBytes();
            operations.run(strategy, answers);
            leastBytes = Math.min(leastBytes, THREADS.getCurrentThreadAllocatedBytes() - before);
        }

        assertEquals(0, leastBytes, "bytes for " + answers.length + " operations");
        assertTrue(Arrays.stream(answers).anyMatch(answer -> answer == Strategy.NO_SPACE), "the region was never full");
    }

    @Test
    void shouldGiveTheSameAddressesForTheSameOperations() {
        final Region region = new Region(BASE, OperationMix.REGION_BYTES);
        final Strategy one = make(region);
        final long[] answersOfOne = new long[20_000];
        new OperationMix(2).run(one, answersOfOne);

        final Strategy other = make(region);
        final long[] answersOfOther = new long[20_000];
        new OperationMix(2).run(other, answersOfOther);

        assertArrayEquals(answersOfOne, answersOfOther);
        assertEquals(State.of(one), State.of(other));
    }

    @Test
    void shouldBehaveAsANewOneOnceNothingIsInUse() {
        final Strategy strategy = make(new Region(BASE, OperationMix.REGION_BYTES));
        final long[] answersOfANewOne = new long[20_000];
        final OperationMix operations = new OperationMix(4);
        operations.run(strategy, answersOfANewOne);
        operations.freeAll(strategy);
        assertWhole(strategy);

        final long[] answers = new long[20_000];
        new OperationMix(4).run(strategy, answers);

        assertArrayEquals(answersOfANewOne, answers);
    }

    @Test
    void shouldNotDisturbAStrategyOverAnotherRegion() {
        final Strategy one = ofGranules(64);
        final Strategy other = make(new Region(0, 64 * GRANULE));
        final long address = one.allocate(GRANULE);

        final State before = State.of(other);
        one.free(address);
        one.allocate(3 * GRANULE);

        assertAll(() -> assertNotEquals(before, State.of(one)), () -> assertEquals(before, State.of(other)));
    }
}
