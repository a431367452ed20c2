package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StrategyOptionsTest {

    @Test
    void shouldDefaultToTheGranuleOfTheDriver() {
        assertEquals(new StrategyOptions(256, 229_000), StrategyOptions.DEFAULTS);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 256, 4096, 1L << 30})
    void shouldTakePowersOfTwoAsGranule(final long granuleBytes) {
        assertEquals(
                granuleBytes,
                StrategyOptions.DEFAULTS.withGranuleBytes(granuleBytes).granuleBytes());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, -256, 3, 255, 257, 1L << 31, 1L << 32, 1L << 62, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldRefuseAnyOtherGranule(final long granuleBytes) {
        final IllegalArgumentException thrown = assertThrows(
                IllegalArgumentException.class, () -> StrategyOptions.DEFAULTS.withGranuleBytes(granuleBytes));

        assertEquals("granuleBytes=" + granuleBytes + " must be a power of two from 1 to 2^30", thrown.getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 1 << 18, 1 << 26})
    void shouldTakeTablesInTheirRange(final int maxBlocks) {
        assertEquals(
                maxBlocks, StrategyOptions.DEFAULTS.withMaxBlocks(maxBlocks).maxBlocks());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 0, -1, (1 << 26) + 1, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void shouldRefuseTablesOutsideOfTheirRange(final int maxBlocks) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> StrategyOptions.DEFAULTS.withMaxBlocks(maxBlocks));

        assertEquals("maxBlocks=" + maxBlocks + " must be from 2 to 2^26", thrown.getMessage());
    }

    @Test
    void shouldTakeAllMemoryAtOnceUnlessItIsToldToGrow() {
        assertEquals(229_000, StrategyOptions.DEFAULTS.firstBlocks());
        assertEquals(10, new StrategyOptions(256, 10).firstBlocks());
        assertEquals(10, StrategyOptions.DEFAULTS.withMaxBlocks(10).firstBlocks());
        assertEquals(1 << 20, StrategyOptions.DEFAULTS.withMaxBlocks(1 << 20).firstBlocks());
    }

    @Test
    void shouldStartAsSmallAsItIsTold() {
        final StrategyOptions options = StrategyOptions.DEFAULTS.growing(64);

        assertEquals(new StrategyOptions(256, 229_000, 64), options);
        assertEquals(new StrategyOptions(4096, 229_000, 64), options.withGranuleBytes(4096));
        assertEquals(new StrategyOptions(256, 1 << 20, 64), options.withMaxBlocks(1 << 20));
        assertEquals(new StrategyOptions(256, 10, 10), options.withMaxBlocks(10));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 262_145, Integer.MIN_VALUE})
    void shouldRefuseToStartWithNoBlocksOrMoreThanTheMost(final int firstBlocks) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> StrategyOptions.DEFAULTS.growing(firstBlocks));

        assertEquals("firstBlocks=" + firstBlocks + " must be from 1 to maxBlocks, 229000", thrown.getMessage());
    }

    @Test
    void shouldKeepTheOtherOption() {
        final StrategyOptions options =
                StrategyOptions.DEFAULTS.withGranuleBytes(4096).withMaxBlocks(10);

        assertEquals(new StrategyOptions(4096, 10), options);
        assertEquals(new StrategyOptions(1, 10), options.withGranuleBytes(1));
    }
}
