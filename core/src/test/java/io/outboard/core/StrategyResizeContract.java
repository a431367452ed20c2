package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests say what {@link Strategy#trim} and {@link Strategy#extend} grant. */
abstract class StrategyResizeContract extends StrategyRefusalContract {

    /** The sizes are those of the example of Bell et al., section III-A. */
    @Test
    void shouldFreeTheLastTwoKibibytesOfATenKibibyteBlock() {
        assumeBlockOf((10 << 10) / GRANULE);
        assumeSearches();
        final Strategy strategy = make(new Region(BASE, 10 << 10));
        strategy.allocate(10 << 10);

        strategy.trim(BASE, 8 << 10);

        assertEquals(8 << 10, strategy.sizeOf(BASE));
        assertEquals(2 << 10, strategy.freeBytes());
        assertEquals(BASE + (8 << 10), strategy.allocate(2 << 10));
    }

    @Test
    void shouldMergeTheTailWithTheFreeBlockAfterOnTrim() {
        assumeCoalesces();
        final Strategy strategy = ofGranules(16);
        strategy.allocate(16 * GRANULE);
        strategy.trim(BASE, 12 * GRANULE);

        strategy.trim(BASE, 5 * GRANULE);

        assertEquals(
                List.of(Block.used(BASE, 5 * GRANULE), Block.free(BASE + 5 * GRANULE, 11 * GRANULE)),
                Block.of(strategy));
        assertEquals(11 * GRANULE, strategy.freeBytes());
    }

    @Test
    void shouldMergeWithTheTailWhenTheTrimmedBlockIsFreed() {
        final Strategy strategy = ofGranules(8);
        strategy.allocate(8 * GRANULE);
        strategy.trim(BASE, GRANULE);

        strategy.free(BASE);

        assertWhole(strategy);
    }

    @ParameterizedTest
    @ValueSource(longs = {1793, 2000, 2047, 2048})
    void shouldChangeNothingOnTrimToASizeThatRoundsUpToThePresentOne(final long newSizeBytes) {
        assumeTrue(blockBytes(newSizeBytes, granuleBytes()) == 8 * GRANULE, "rounds up to another one");
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(8 * GRANULE);
        final State before = State.of(strategy);

        strategy.trim(address, newSizeBytes);

        assertEquals(before, State.of(strategy));
    }

    @Test
    void shouldRoundUpWhatTrimKeeps() {
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(4 * GRANULE);

        strategy.trim(address, GRANULE + 1);

        assertEquals(blockBytes(GRANULE + 1, granuleBytes()), strategy.sizeOf(address));
    }

    @Test
    void shouldExtendIntoTheFrontOfTheFreeBlockAfter() {
        final Strategy strategy = ofGranules(4);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[1]);
        strategy.free(addresses[2]);

        assertTrue(strategy.extend(addresses[0], 2 * GRANULE - 1));

        assertEquals(
                List.of(
                        Block.used(addresses[0], 2 * GRANULE),
                        Block.free(addresses[2], GRANULE),
                        Block.used(addresses[3], GRANULE)),
                Block.of(strategy));
        assertEquals(GRANULE, strategy.freeBytes());
        assertEquals(2 * GRANULE, strategy.sizeOf(addresses[0]));
    }

    @Test
    void shouldExtendOverAllOfTheFreeBlockAfter() {
        assumeBlockOf(3);
        assumeTrue(!mayTakeLarger(), "a block of 1 granule never grows to 3");
        final Strategy strategy = ofGranules(4);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[1]);
        strategy.free(addresses[2]);

        assertTrue(strategy.extend(addresses[0], 3 * GRANULE));

        assertEquals(
                List.of(Block.used(addresses[0], 3 * GRANULE), Block.used(addresses[3], GRANULE)), Block.of(strategy));
        assertEquals(2, strategy.liveBlocks());
    }

    @Test
    void shouldExtendOverTheRestOfTheRegion() {
        final Strategy strategy = ofGranules(8);
        strategy.allocate(8 * GRANULE);
        strategy.trim(BASE, GRANULE);

        assertTrue(strategy.extend(BASE, 8 * GRANULE));

        assertEquals(List.of(Block.used(BASE, 8 * GRANULE)), Block.of(strategy));
        strategy.free(BASE);
        assertWhole(strategy);
    }

    @ParameterizedTest
    @ValueSource(longs = {1793, 2000, 2048})
    void shouldGrantAnExtendToASizeThatRoundsUpToThePresentOne(final long newSizeBytes) {
        assumeTrue(blockBytes(newSizeBytes, granuleBytes()) == 8 * GRANULE, "rounds up to another one");
        final Strategy strategy = ofGranules(8);
        strategy.allocate(8 * GRANULE);
        final State before = State.of(strategy);

        assertTrue(strategy.extend(BASE, newSizeBytes));

        assertEquals(before, State.of(strategy));
    }

    @Test
    void shouldFreeAllOfAnExtendedBlock() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[1]);
        strategy.extend(addresses[0], 2 * GRANULE);

        strategy.free(addresses[0]);

        assertEquals(
                List.of(Block.free(addresses[0], 2 * GRANULE), Block.used(addresses[2], GRANULE)), Block.of(strategy));
    }
}
