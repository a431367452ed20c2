package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import org.junit.jupiter.api.Test;

/** A region of 64 granules of a byte has the roots 32, 24, 6 and 2, in this order. */
class DoubleBuddyStrategyTest {

    private static final int FIRST = 0;
    private static final int SECOND = 32;

    private final Strategy strategy = new DoubleBuddyStrategy(new Region(0, 64), new StrategyOptions(1, 1024));

    @Test
    void shouldServeEachRequestFromTheSystemThatWastesLess() {
        assertEquals(FIRST, strategy.allocate(13));
        assertEquals(16, strategy.sizeOf(FIRST));
        assertEquals(SECOND, strategy.allocate(9));
        assertEquals(12, strategy.sizeOf(SECOND));
        assertEquals(64 - 16 - 12, strategy.freeBytes());
    }

    @Test
    void shouldMergeWithinASystem() {
        strategy.allocate(12);
        strategy.allocate(12);

        strategy.free(SECOND);
        strategy.free(SECOND + 12);

        assertEquals(SECOND, strategy.allocate(24));
    }

    @Test
    void shouldTakeABlockOfTheOtherSystemWhereItsOwnHasNone() {
        strategy.allocate(24);

        assertEquals(FIRST, strategy.allocate(12));
        assertEquals(16, strategy.sizeOf(FIRST));
        assertEquals(64 - 24 - 16, strategy.freeBytes());
        strategy.free(FIRST);
        assertEquals(FIRST, strategy.allocate(32));
        assertEquals(SECOND + 24, strategy.allocate(4));
        assertEquals(6, strategy.sizeOf(SECOND + 24));
        assertEquals(Strategy.NO_SPACE, strategy.allocate(3));
        assertEquals(2, strategy.freeBytes());
    }

    @Test
    void shouldAlignInTheOtherSystemWhereItsOwnHasNoRoom() {
        strategy.allocate(24);

        assertEquals(FIRST, strategy.allocate(12, 16));
        assertEquals(16, strategy.sizeOf(FIRST));
        assertEquals(64 - 24 - 16, strategy.freeBytes());
    }

    @Test
    void shouldTrimToABlockOfTheSameSystem() {
        strategy.allocate(24);

        strategy.trim(SECOND, 7);
        assertEquals(12, strategy.sizeOf(SECOND));
        assertEquals(64 - 12, strategy.freeBytes());
        strategy.trim(SECOND, 2);
        assertEquals(2, strategy.sizeOf(SECOND));
        assertEquals(64 - 2, strategy.freeBytes());
    }

    @Test
    void shouldExtendToABlockOfTheSameSystem() {
        strategy.allocate(6);

        assertTrue(strategy.extend(SECOND + 24, 6));
        assertFalse(strategy.extend(SECOND + 24, 7));
        strategy.allocate(12);
        strategy.trim(SECOND, 6);
        assertTrue(strategy.extend(SECOND, 8));
        assertEquals(12, strategy.sizeOf(SECOND));
        assertEquals(64 - 6 - 12, strategy.freeBytes());
    }

    /** The first system has up to two granules more than the second, and all of a region that isn't divided. */
    @Test
    void shouldAskForARegionOfWhichASystemHasEnough() {
        assertServes(8, 8);
        assertServes(8, 5);
        assertServes(31, 16);
        assertServes(48, 20);
        assertServes((1L << 32) - 2, 1L << 31);
        assertEquals(Long.MAX_VALUE, regionFor((1L << 31) + 1));
    }

    private static void assertServes(final long region, final long size) {
        assertEquals(region, regionFor(size));
        assertEquals(0, allocateIn(region, size));
        assertEquals(Strategy.NO_SPACE, allocateIn(region - 1, size));
    }

    private static long regionFor(final long size) {
        return Strategies.named("buddy-double").regionBytesFor(size, 1, new StrategyOptions(1, 1024));
    }

    private static long allocateIn(final long region, final long size) {
        return new DoubleBuddyStrategy(new Region(0, region), new StrategyOptions(1, 1024)).allocate(size);
    }
}
