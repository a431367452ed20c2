package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * These tests go beyond the contract of every strategy: which block is split, how, and what merges. The granule is a
 * byte and regions start at address 0 unless a test says otherwise. Blocks are written as {@code 3+2 used, 5+3 free}:
 * start and size.
 */
class BuddyStrategyTest {

    private static final StrategyOptions OPTIONS = new StrategyOptions(1, 1024);

    @Test
    void shouldHalveDownToTheSmallestPowerOfTwo() {
        final Strategy strategy = binary(16);

        assertEquals(0, strategy.allocate(3));

        assertBlocks(strategy, "0+4 used", "4+4 free", "8+8 free");
    }

    @Test
    void shouldMergeHalvesUpToTheRoot() {
        final Strategy strategy = binary(16);
        strategy.allocate(3);

        strategy.free(0);

        assertBlocks(strategy, "0+16 free");
    }

    @Test
    void shouldNotMergeNeighboursOfOneSizeThatAreNoBuddies() {
        final Strategy strategy = filled(binary(8));

        strategy.free(1);
        strategy.free(2);
        assertBlocks(
                strategy,
                "0+1 used",
                "1+1 free",
                "2+1 free",
                "3+1 used",
                "4+1 used",
                "5+1 used",
                "6+1 used",
                "7+1 used");

        strategy.free(0);
        assertBlocks(strategy, "0+2 free", "2+1 free", "3+1 used", "4+1 used", "5+1 used", "6+1 used", "7+1 used");

        strategy.free(3);
        assertBlocks(strategy, "0+4 free", "4+1 used", "5+1 used", "6+1 used", "7+1 used");
    }

    @Test
    void shouldNotMergeWithABuddyThatIsSplit() {
        final Strategy strategy = binary(8);
        strategy.allocate(4);
        strategy.allocate(2);

        strategy.free(0);

        assertBlocks(strategy, "0+4 free", "4+2 used", "6+2 free");
    }

    @Test
    void shouldNotMergeRoots() {
        final Strategy strategy = filled(binary(7));

        for (int start = 6; start >= 0; start--) {
            strategy.free(start);
        }

        assertBlocks(strategy, "0+4 free", "4+2 free", "6+1 free");
    }

    @Test
    void shouldTakeTheSmallestClassThatSuffices() {
        final Strategy strategy = binary(7);

        assertEquals(6, strategy.allocate(1));
        assertEquals(4, strategy.allocate(1));
        assertEquals(5, strategy.allocate(1));
        assertEquals(0, strategy.allocate(3));
    }

    @Test
    void shouldTakeTheBlockOfAClassThatWasFreedLast() {
        final Strategy strategy = filled(binary(8));
        strategy.free(6);
        strategy.free(0);
        strategy.free(3);

        assertEquals(3, strategy.allocate(1));
        assertEquals(0, strategy.allocate(1));
        assertEquals(6, strategy.allocate(1));
    }

    @Test
    void shouldRefuseWhatRoundsUpBeyondTheRegion() {
        final Strategy strategy = binary(100);

        assertEquals(Strategy.NO_SPACE, strategy.allocate(65));
        assertEquals(0, strategy.allocate(64));
        assertEquals(36, strategy.freeBytes());
    }

    @Test
    void shouldSplitIntoALargerLeftAndASmallerRightPart() {
        final Strategy strategy = fibonacci(13);

        assertEquals(0, strategy.allocate(6));

        assertBlocks(strategy, "0+8 used", "8+5 free");
    }

    /**
     * 13 splits into 8 and 5, and 5 into 3 and 2: the smaller part suffices twice, and 2 is the size that is wanted.
     */
    @Test
    void shouldGoOnWithTheSmallerPartThatSuffices() {
        final Strategy strategy = fibonacci(13);

        assertEquals(11, strategy.allocate(2));

        assertBlocks(strategy, "0+8 free", "8+3 free", "11+2 used");
    }

    /** 13 splits into 8 and 5, and of the parts of 5, only the left one, 3, suffices. */
    @Test
    void shouldGoOnWithTheLargerPartWhereTheSmallerOneDoesNotSuffice() {
        final Strategy strategy = fibonacci(13);

        assertEquals(8, strategy.allocate(3));

        assertBlocks(strategy, "0+8 free", "8+3 used", "11+2 free");
    }

    @Test
    void shouldSplitTwoIntoEquals() {
        final Strategy strategy = fibonacci(2);

        assertEquals(0, strategy.allocate(1));
        assertEquals(1, strategy.allocate(1));

        strategy.free(0);
        assertBlocks(strategy, "0+1 free", "1+1 used");
        strategy.free(1);
        assertBlocks(strategy, "0+2 free");
    }

    /** The tree joins the bytes of a block of 8 as (((0, 1), 2), (3, 4)) and ((5, 6), 7). */
    @Test
    void shouldMergeUpTheTreeOfEight() {
        final Strategy strategy = filled(fibonacci(8));

        strategy.free(1);
        strategy.free(2);
        assertBlocks(
                strategy,
                "0+1 used",
                "1+1 free",
                "2+1 free",
                "3+1 used",
                "4+1 used",
                "5+1 used",
                "6+1 used",
                "7+1 used");

        strategy.free(0);
        assertBlocks(strategy, "0+3 free", "3+1 used", "4+1 used", "5+1 used", "6+1 used", "7+1 used");

        strategy.free(4);
        strategy.free(3);
        assertBlocks(strategy, "0+5 free", "5+1 used", "6+1 used", "7+1 used");

        strategy.free(7);
        strategy.free(6);
        assertBlocks(strategy, "0+5 free", "5+1 used", "6+1 free", "7+1 free");

        strategy.free(5);
        assertBlocks(strategy, "0+8 free");
    }

    @Test
    void shouldStartAsARowOfRoots() {
        assertBlocks(binary(1), "0+1 free");
        assertBlocks(fibonacci(1), "0+1 free");
        assertBlocks(binary(3), "0+2 free", "2+1 free");
        assertBlocks(fibonacci(3), "0+3 free");
        assertBlocks(binary(100), "0+64 free", "64+32 free", "96+4 free");
        assertBlocks(fibonacci(100), "0+89 free", "89+8 free", "97+3 free");
    }

    @Test
    void shouldServeTheLargestRegion() {
        final long bytes = (1L << 32) - 1;
        for (final Strategy strategy : List.of(binary(bytes), fibonacci(bytes))) {
            final List<String> fresh = blocks(strategy);
            final long largestBytes = Statistics.of(strategy).largestFreeBlockBytes();

            assertEquals(Strategy.NO_SPACE, strategy.allocate(bytes));
            assertEquals(0, strategy.allocate(largestBytes));
            final List<Long> addresses = new ArrayList<>(List.of(0L));
            long leftBytes = bytes - largestBytes;
            while (Statistics.of(strategy).largestFreeBlockBytes() > 0) {
                leftBytes -= Statistics.of(strategy).largestFreeBlockBytes();
                addresses.add(strategy.allocate(Statistics.of(strategy).largestFreeBlockBytes()));
                assertEquals(leftBytes, strategy.freeBytes());
            }
            assertEquals(fresh.size(), addresses.size());

            addresses.forEach(strategy::free);
            assertEquals(fresh, blocks(strategy));
        }
    }

    @Test
    void shouldRefuseATableWithoutRoomForTheRoots() {
        final StrategyOptions options = new StrategyOptions(1, 2);
        final Region region = new Region(0, 7);

        final Throwable thrown =
                assertThrows(IllegalArgumentException.class, () -> new BinaryBuddyStrategy(region, options));

        assertEquals(
                "maxBlocks=2 must be at least 3, for the blocks that region=" + region + " starts as",
                thrown.getMessage());
        assertBlocks(new BinaryBuddyStrategy(new Region(0, 6), options), "0+4 free", "4+2 free");
    }

    @Test
    void shouldKeepTheSmallestClassThatHoldsWhatTrimKeeps() {
        final Strategy binary = binary(16);
        final Strategy fibonacci = fibonacci(13);
        binary.allocate(16);
        fibonacci.allocate(13);

        binary.trim(0, 3);
        fibonacci.trim(0, 4);

        assertBlocks(binary, "0+4 used", "4+4 free", "8+8 free");
        assertBlocks(fibonacci, "0+5 used", "5+3 free", "8+5 free");
        assertEquals(12, binary.freeBytes());
        assertEquals(8, fibonacci.freeBytes());
    }

    @Test
    void shouldKeepABlockWhoseNextSmallerClassDoesNotHoldWhatTrimKeeps() {
        final Strategy strategy = binary(16);
        strategy.allocate(16);

        strategy.trim(0, 9);

        assertBlocks(strategy, "0+16 used");
    }

    @Test
    void shouldExtendALeftBuddyOverSeveralRightOnes() {
        final Strategy binary = binary(16);
        final Strategy fibonacci = fibonacci(13);
        binary.allocate(2);
        fibonacci.allocate(13);
        fibonacci.trim(0, 2);

        assertTrue(binary.extend(0, 8));
        assertTrue(fibonacci.extend(0, 7));

        assertBlocks(binary, "0+8 used", "8+8 free");
        assertBlocks(fibonacci, "0+8 used", "8+5 free");
    }

    @Test
    void shouldNotExtendARightBuddyOverAFreeNeighbour() {
        final Strategy strategy = filled(binary(4));
        strategy.free(2);
        strategy.free(3);

        assertFalse(strategy.extend(1, 2));

        assertBlocks(strategy, "0+1 used", "1+1 used", "2+2 free");
    }

    @Test
    void shouldNotExtendOverABuddyThatIsFreeOnlyInPart() {
        final Strategy strategy = binary(16);
        strategy.allocate(4);
        strategy.allocate(4);
        strategy.allocate(2);
        strategy.free(4);

        assertFalse(strategy.extend(0, 16));

        assertBlocks(strategy, "0+4 used", "4+4 free", "8+2 used", "10+2 free", "12+4 free");
        assertTrue(strategy.extend(0, 8));
    }

    @Test
    void shouldNotExtendARoot() {
        final Strategy strategy = binary(12);
        strategy.allocate(8);

        assertFalse(strategy.extend(0, 12));

        assertBlocks(strategy, "0+8 used", "8+4 free");
    }

    @Test
    void shouldSplitDownToAnAlignedPart() {
        final Strategy binary = new BinaryBuddyStrategy(new Region(12, 16), OPTIONS);
        final Strategy fibonacci = new FibonacciBuddyStrategy(new Region(11, 13), OPTIONS);

        assertEquals(16, binary.allocate(3, 16));
        assertEquals(16, fibonacci.allocate(3, 16));

        assertBlocks(binary, "12+4 free", "16+4 used", "20+8 free");
        assertBlocks(fibonacci, "11+5 free", "16+3 used", "19+5 free");
    }

    @Test
    void shouldLookAtLargerClassesForAnAlignedPart() {
        final Strategy strategy = binary(15);

        assertEquals(0, strategy.allocate(1, 16));

        assertBlocks(strategy, "0+1 used", "1+1 free", "2+2 free", "4+4 free", "8+4 free", "12+2 free", "14+1 free");
    }

    @Test
    void shouldLookAtTheNextAlignedOffsetOfABlock() {
        final Strategy strategy = new FibonacciBuddyStrategy(new Region(3, 21), OPTIONS);

        assertEquals(16, strategy.allocate(4, 8));

        assertBlocks(strategy, "3+13 free", "16+5 used", "21+3 free");
    }

    /** Every part of two bytes starts at an odd address. */
    @Test
    void shouldAnswerNoSpaceWhenNoPartStartsAtAnAlignedAddress() {
        final Strategy strategy = new BinaryBuddyStrategy(new Region(1, 16), OPTIONS);

        assertEquals(Strategy.NO_SPACE, strategy.allocate(2, 2));

        assertBlocks(strategy, "1+16 free");
        assertEquals(2, strategy.allocate(1, 2));
    }

    /**
     * The search looks at 64 blocks of a byte at odd addresses before it would reach the block with an aligned byte.
     */
    @Test
    void shouldBoundTheSearchForAnAlignedPart() {
        assertEquals(128, alignedBehindFreeBlocks(63));
        assertEquals(Strategy.NO_SPACE, alignedBehindFreeBlocks(64));
    }

    private static long alignedBehindFreeBlocks(final int count) {
        final Strategy strategy = filled(binary(130));
        strategy.free(128);
        for (int i = 0; i < count; i++) {
            strategy.free(2 * i + 1);
        }
        return strategy.allocate(1, 2);
    }

    @Test
    void shouldChangeNothingWhenTheTableHasNotRoomForAllParts() {
        final Strategy strategy = new BinaryBuddyStrategy(new Region(0, 16), new StrategyOptions(1, 4));

        assertThrows(BlockTableFullException.class, () -> strategy.allocate(1));
        assertThrows(BlockTableFullException.class, () -> strategy.allocate(1, 16));
        assertBlocks(strategy, "0+16 free");

        strategy.allocate(16);
        assertThrows(BlockTableFullException.class, () -> strategy.trim(0, 1));
        assertBlocks(strategy, "0+16 used");

        strategy.trim(0, 2);
        assertBlocks(strategy, "0+2 used", "2+2 free", "4+4 free", "8+8 free");
    }

    private static Strategy binary(final long bytes) {
        return new BinaryBuddyStrategy(new Region(0, bytes), OPTIONS);
    }

    private static Strategy fibonacci(final long bytes) {
        return new FibonacciBuddyStrategy(new Region(0, bytes), OPTIONS);
    }

    /** Fills a strategy with blocks of a byte, and returns it. */
    private static Strategy filled(final Strategy strategy) {
        while (strategy.freeBytes() > 0) {
            strategy.allocate(1);
        }
        return strategy;
    }

    private static void assertBlocks(final Strategy strategy, final String... expected) {
        assertEquals(List.of(expected), blocks(strategy));
    }

    private static List<String> blocks(final Strategy strategy) {
        final List<String> blocks = new ArrayList<>();
        strategy.forEachBlock((address, bytes, free) -> blocks.add(address + "+" + bytes + (free ? " free" : " used")));
        return blocks;
    }
}
