package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Block;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests go beyond the contract of every strategy: the smallest block, the choice of a block, host memory. */
class BitmaskStrategyTest {

    private static final long BASE = 1L << 40;
    private static final long GRANULE = 8;
    private static final StrategyOptions OPTIONS = new StrategyOptions(GRANULE, 2);

    @Test
    void shouldBeFoundByName() {
        final Strategy strategy =
                Strategies.named("bitmask").create(new Region(BASE, 1 << 20), StrategyOptions.DEFAULTS);

        assertInstanceOf(BitmaskStrategy.class, strategy);
        assertEquals(1, Strategies.named("bitmask").description().lines().count());
    }

    @Test
    void shouldRefuseARegionOfOneGranule() {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> new BitmaskStrategy(new Region(BASE, 15), OPTIONS));

        assertEquals(
                "region=[0x10000000000..0x1000000000f), 15 bytes must have at least 2 granules of 8 bytes: "
                        + "choose a smaller granule",
                thrown.getMessage());
    }

    @Test
    void shouldServeARegionOfTwoGranules() {
        final Strategy strategy = ofGranules(2);

        assertEquals(BASE, strategy.allocate(1));
        assertEquals(16, strategy.sizeOf(BASE));
        assertEquals(Strategy.NO_SPACE, strategy.allocate(1));
    }

    @Test
    void shouldKeepTheTwoGranulesOfTheSmallestBlockOnTrim() {
        final Strategy strategy = ofGranules(10);
        strategy.allocate(5 * GRANULE);

        strategy.trim(BASE, 1);

        assertEquals(List.of(Block.used(BASE, 16), Block.free(BASE + 16, 64)), Block.of(strategy));
    }

    @Test
    void shouldNotGrantASingleFreeGranuleUntilItsNeighbourIsFreed() {
        final Strategy strategy = ofGranules(5);
        strategy.allocate(2 * GRANULE);
        final long second = strategy.allocate(3 * GRANULE);
        strategy.trim(second, 2 * GRANULE);

        assertEquals(GRANULE, strategy.freeBytes());
        assertEquals(GRANULE, Statistics.of(strategy).largestFreeBlockBytes());
        assertEquals(Strategy.NO_SPACE, strategy.allocate(1));
        strategy.free(BASE);
        assertEquals(BASE, strategy.allocate(1));
        strategy.free(second);
        assertEquals(BASE + 16, strategy.allocate(3 * GRANULE));
    }

    @Test
    void shouldExtendByASingleGranule() {
        final Strategy strategy = ofGranules(3);
        strategy.allocate(2 * GRANULE);

        assertTrue(strategy.extend(BASE, 3 * GRANULE));

        assertEquals(3 * GRANULE, strategy.sizeOf(BASE));
        assertEquals(0, strategy.freeBytes());
    }

    /** The blocks are those of the picture in the class comment. */
    @Test
    void shouldTellBlocksOfEverySizeApart() {
        final Strategy strategy = ofGranules(10);
        strategy.allocate(3 * GRANULE);
        strategy.allocate(2 * GRANULE);
        final long freed = strategy.allocate(3 * GRANULE);
        strategy.allocate(2 * GRANULE);
        strategy.free(freed);

        assertEquals(
                List.of(
                        Block.used(BASE, 24),
                        Block.used(BASE + 24, 16),
                        Block.free(BASE + 40, 24),
                        Block.used(BASE + 64, 16)),
                Block.of(strategy));
    }

    @Test
    void shouldGoOnBehindTheBlockTakenLast() {
        final Strategy strategy = ofGranules(20);
        final long first = strategy.allocate(4 * GRANULE);
        strategy.allocate(4 * GRANULE);
        strategy.free(first);

        assertEquals(BASE + 64, strategy.allocate(2 * GRANULE));
    }

    @Test
    void shouldGoOnAtTheStartWhenNothingFitsBehind() {
        final Strategy strategy = ofGranules(20);
        final long first = strategy.allocate(10 * GRANULE);
        strategy.allocate(4 * GRANULE);
        strategy.free(first);

        assertEquals(BASE, strategy.allocate(7 * GRANULE));
        assertEquals(BASE + 56, strategy.allocate(2 * GRANULE));
        assertEquals(BASE + 112, strategy.allocate(2 * GRANULE));
    }

    @Test
    void shouldTakeTheRunAroundItsPlaceFromItsStart() {
        final Strategy strategy = ofGranules(20);
        strategy.allocate(4 * GRANULE);
        final long second = strategy.allocate(4 * GRANULE);
        final long third = strategy.allocate(4 * GRANULE);
        strategy.free(second);
        strategy.free(third);

        assertEquals(second, strategy.allocate(16 * GRANULE));
    }

    @Test
    void shouldFindAnAlignedRangeInFrontOfItsPlace() {
        final Strategy strategy = ofGranules(16);
        final long first = strategy.allocate(10 * GRANULE);
        strategy.allocate(2 * GRANULE);
        strategy.free(first);

        assertEquals(BASE, strategy.allocate(2 * GRANULE, 16 * GRANULE));
    }

    @Test
    void shouldTakeAtMost1Point6PerCentOfTheRegionWithGranulesOf8Bytes() {
        final Region region = new Region(BASE, 1L << 28);

        final Strategy strategy = new BitmaskStrategy(region, OPTIONS);

        assertTrue(
                strategy.hostBytes() <= 0.016 * region.sizeBytes(), () -> strategy.hostBytes() + " bytes for 256 MiB");
    }

    @Test
    void shouldTakeHalfOfThatAgainFromTheFirstRetiredBlockOn() {
        final Strategy strategy = ofGranules(1 << 20);
        final long hostBytes = strategy.hostBytes();
        final long first = strategy.allocate(GRANULE);
        final long second = strategy.allocate(GRANULE);

        strategy.retire(first);
        final long withRetired = strategy.hostBytes();
        strategy.retire(second);

        assertEquals(1.5 * hostBytes, (double) withRetired, 0.01 * hostBytes);
        assertEquals(withRetired, strategy.hostBytes());
    }

    /** A free needs no host memory, so it can't fail for lack of that. */
    @Test
    void shouldTakeMemoryInAHugeRegionAsBlocksComeAndNoneToFreeThem() {
        final long granules = (1L << 32) - 1;
        final Strategy strategy = ofGranules(granules);
        final Random random = new Random(1);
        final List<Long> live = new ArrayList<>();

        assertTrue(strategy.hostBytes() < 4 << 20, () -> strategy.hostBytes() + " bytes");
        for (int step = 0; step < 2000; step++) {
            final long size = 1L << random.nextInt(24);
            final long block = strategy.allocate(size * (1 + random.nextInt(3)), 512L << random.nextInt(9));
            live.add(random.nextBoolean() ? block : strategy.restore(strategy.retire(block)));
            final long hostBytes = strategy.hostBytes();
            if (random.nextInt(3) > 0) {
                strategy.free(live.remove(random.nextInt(live.size())));
            }
            assertEquals(hostBytes, strategy.hostBytes());
        }
        live.forEach(strategy::free);
        assertEquals(List.of(Block.free(BASE, granules * GRANULE)), Block.of(strategy));
        assertTrue(strategy.hostBytes() > 8 << 20, () -> strategy.hostBytes() + " bytes");
    }

    /** A bitmap of half as many bits is made by the page, too. */
    @Test
    void shouldTakeMemoryForRetiredBlocksAsTheyComeInEachHugeRegion() {
        final Strategy strategy = ofGranules(1 << 30);

        strategy.retire(strategy.allocate(GRANULE));

        assertTrue(strategy.hostBytes() < 4 << 20, () -> strategy.hostBytes() + " bytes");
    }

    /** The second block's bits begin and end with a page, so summaries alone tell them. */
    @Test
    void shouldTakeNoMemoryInAHugeRegionForBitsThatAreAlike() {
        final Strategy strategy = ofGranules((1L << 32) - 1);
        strategy.allocate(((1 << 19) - 1) * GRANULE);
        final long hostBytes = strategy.hostBytes();

        strategy.free(strategy.allocate(((1 << 20) + 1) * GRANULE));

        assertEquals(hostBytes, strategy.hostBytes());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 1024, 1025})
    void shouldRetireABlockAtTheEndOfTheRegion(final int granules) {
        final Strategy strategy = ofGranules(granules);
        final long all = strategy.allocate(granules * GRANULE);
        strategy.free(all);
        if (granules > 3) {
            strategy.allocate((granules - 2) * GRANULE);
        }
        final long last = strategy.allocate(2 * GRANULE);

        final long retired = strategy.retire(last);

        assertEquals(2 * GRANULE, strategy.retiredBytes(retired));
        assertThrows(InvalidAddressException.class, () -> strategy.free(last));
        assertEquals(last, strategy.restore(retired));
        strategy.free(last);
    }

    @Test
    void shouldHoldMoreBlocksThanTheOptionsSay() {
        final Strategy strategy = ofGranules(2000);
        final long hostBytes = strategy.hostBytes();

        for (int i = 0; i < 1000; i++) {
            assertNotEquals(Strategy.NO_SPACE, strategy.allocate(GRANULE));
        }

        assertEquals(1000, strategy.liveBlocks());
        assertEquals(hostBytes, strategy.hostBytes());
        assertFalse(strategy.extend(BASE, 3 * GRANULE));
    }

    private static Strategy ofGranules(final long granules) {
        return new BitmaskStrategy(new Region(BASE, granules * GRANULE), OPTIONS);
    }
}
