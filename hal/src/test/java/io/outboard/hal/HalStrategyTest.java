package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests go beyond the contract of every strategy: which block is chosen, many blocks, host memory. */
class HalStrategyTest {

    private static final StrategyOptions OPTIONS = new StrategyOptions(256, 1024);
    private static final long BASE = 1L << 40;

    @Test
    void shouldBeFoundByName() {
        assertInstanceOf(HalFirstFitStrategy.class, named("hal-first-fit", OPTIONS));
        assertInstanceOf(HalNextFitStrategy.class, named("hal-next-fit", OPTIONS));
        assertInstanceOf(HalBestFitStrategy.class, named("hal-best-fit", OPTIONS));
    }

    @Test
    void shouldTakeTheLowestBlockThatFits() {
        final Strategy strategy = withGaps("hal-first-fit");

        assertEquals(granule(10), strategy.allocate(2 * 256));
        assertEquals(granule(12), strategy.allocate(2 * 256));
        assertEquals(granule(0), strategy.allocate(256));
    }

    @Test
    void shouldTakeTheSmallestBlockThatFits() {
        final Strategy strategy = withGaps("hal-best-fit");

        assertEquals(granule(20), strategy.allocate(2 * 256));
        assertEquals(granule(0), strategy.allocate(256));
        assertEquals(granule(30), strategy.allocate(2 * 256));
    }

    @Test
    void shouldTakeTheSmallestBlockThatHoldsAnAlignedRange() {
        final Strategy strategy = withGaps("hal-best-fit");

        assertEquals(granule(0), strategy.allocate(256, 8 * 256));
        assertEquals(granule(32), strategy.allocate(256, 8 * 256));
        assertEquals(granule(16), strategy.allocate(3 * 256, 16 * 256));
        assertEquals(granule(48), strategy.allocate(3 * 256, 16 * 256));
    }

    @Test
    void shouldGoOnAfterTheBlockTakenLast() {
        final Strategy strategy = withGaps("hal-next-fit");
        strategy.allocate(100 * 256);

        assertEquals(granule(0), strategy.allocate(256));
        assertEquals(granule(10), strategy.allocate(256));
        assertEquals(granule(11), strategy.allocate(256));
        assertEquals(granule(12), strategy.allocate(7 * 256));
        assertEquals(granule(20), strategy.allocate(2 * 256));
        assertEquals(granule(30), strategy.allocate(2 * 256));
        assertEquals(granule(32), strategy.allocate(256));
    }

    @Test
    void shouldGoOnInsideABlockThatMergedAroundTheEndOfTheBlockTakenLast() {
        final Strategy strategy = withGaps("hal-next-fit");
        strategy.allocate(100 * 256);
        strategy.allocate(9 * 256);

        strategy.free(granule(19));
        strategy.free(granule(10));

        assertEquals(granule(10), strategy.allocate(256));
    }

    /** Each list has several chunks, so chunks split and merge, and searches go over chunks. */
    @ParameterizedTest
    @ValueSource(strings = {"hal-first-fit", "hal-next-fit", "hal-best-fit"})
    void shouldFillItsTablesAndBeOneBlockAgain(final String name) {
        final int blocks = 1 << 14;
        final Strategy strategy =
                Strategies.named(name).create(new Region(BASE, blocks * 256L), OPTIONS.withMaxBlocks(blocks));
        for (int i = 0; i < blocks; i++) {
            assertEquals(granule(i), strategy.allocate(256));
        }
        for (int i = 0; i < blocks; i += 2) {
            strategy.free(granule(i));
        }
        assertEquals(Strategy.NO_SPACE, strategy.allocate(257));
        assertEquals(256, Statistics.of(strategy).largestFreeBlockBytes());

        for (int i = blocks - 1; i > 0; i -= 2) {
            strategy.free(granule(i));
        }

        assertEquals(blocks * 256L, Statistics.of(strategy).largestFreeBlockBytes());
        assertEquals(BASE, strategy.allocate(blocks * 256L));
    }

    @Test
    void shouldTakeAtMost24BytesForEachBlock() {
        final Strategy strategy = named("hal-best-fit", StrategyOptions.DEFAULTS);

        assertTrue(strategy.hostBytes() <= 24L << 18, () -> strategy.hostBytes() + " bytes");
    }

    @Test
    void shouldDoubleTablesThatGrow() {
        final Strategy strategy = Strategies.named("hal-first-fit")
                .create(new Region(BASE, 40_000 * 256), new StrategyOptions(256, 1 << 20, 1));

        final Set<Long> hostBytes = new HashSet<>();
        while (strategy.allocate(256) != Strategy.NO_SPACE) {
            hostBytes.add(strategy.hostBytes());
        }

        assertEquals(40_000, strategy.liveBlocks());
        assertTrue(hostBytes.size() <= 17, () -> "grew to " + hostBytes);
    }

    @Test
    void shouldNotBeginWithABlockThatEndsWhereTheOneTakenLastDid() {
        final Strategy strategy = named("hal-next-fit", OPTIONS);
        for (final int granules : new int[] {10, 10, 10, 110}) {
            strategy.allocate(granules * 256L);
        }
        strategy.free(granule(10));
        assertEquals(granule(10), strategy.allocate(10 * 256));
        strategy.free(granule(10));
        strategy.free(granule(30));

        assertEquals(granule(30), strategy.allocate(5 * 256));
    }

    /** Makes a strategy with free granules: 0; 10 to 18; 20, 21; 30 to 32; from 40 on 100. All others are in use. */
    private static Strategy withGaps(final String name) {
        final Strategy strategy = named(name, OPTIONS);
        final int[] ends = {1, 10, 19, 20, 22, 30, 33, 40, 140};
        int end = 0;
        for (final int next : ends) {
            assertEquals(granule(end), strategy.allocate((next - end) * 256L));
            end = next;
        }
        for (final int start : new int[] {0, 10, 20, 30, 40}) {
            strategy.free(granule(start));
        }
        return strategy;
    }

    private static Strategy named(final String name, final StrategyOptions options) {
        return Strategies.named(name).create(new Region(BASE, 140 * 256), options);
    }

    private static long granule(final long index) {
        return BASE + index * 256;
    }
}
