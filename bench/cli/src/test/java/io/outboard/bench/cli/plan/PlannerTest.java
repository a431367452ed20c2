package io.outboard.bench.cli.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlannerTest {

    private static final long GRANULE = 256;

    /** The number of operations; more than 1,024 of them are allocations, so that orders are searched. */
    private static final int MANY_BLOCKS = 2_500;

    /** Ends a search after a number of questions whether to go on, so that tests don't depend on the machine. */
    private static BooleanSupplier asked(final int times) {
        final int[] left = {times};
        return () -> left[0]-- > 0;
    }

    private static Layout plan(final Trace trace, final long granuleBytes, final long seed, final int questions) {
        return plan(trace, granuleBytes, 0, seed, questions);
    }

    private static Layout plan(
            final Trace trace, final long granuleBytes, final long capacity, final long seed, final int questions) {
        final Lifetimes blocks = Lifetimes.of(trace, granuleBytes);
        final Layout layout = new Planner(blocks, capacity, seed, asked(questions)).run();
        assertEquals(layout.top() * granuleBytes, PlacementCheck.regionBytes(trace, layout.offsets(), granuleBytes));
        assertTrue(layout.top() >= blocks.peakGranules());
        return layout;
    }

    /**
     * In instance C of MiniMalloc, the 203 live blocks take 0.991 of the region at most. The few steps of this test
     * don't reach the capacity; on average the region is 1.12 times the capacity (2026-11-25). Four times as many steps
     * reach it on the first trace.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void shouldComeNearTheCapacityOfTracesLikeTheChallenges(final long seed) {
        final Trace trace = Tilings.of(150 + 25 * (int) seed, 0.991, seed);

        final Layout layout = plan(trace, Tilings.GRANULE, 1, 100);

        assertTrue(layout.top() * Tilings.GRANULE <= 1.21 * Tilings.CAPACITY_BYTES, () -> "top=" + layout.top());
    }

    /** A search that is told the capacity needs fewer steps for it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 3})
    void shouldReachACapacity(final long seed) {
        final Trace trace = Tilings.of(150 + 25 * (int) seed, 0.991, seed);
        final long capacity = Tilings.CAPACITY_BYTES / Tilings.GRANULE;

        final Layout layout = plan(trace, Tilings.GRANULE, capacity, 1, 300);

        assertTrue(layout.top() <= capacity, () -> "top=" + layout.top());
    }

    @Test
    void shouldReachTheBoundOfTheFirst() {
        final Trace trace = Tilings.of(175, 0.991, 1);

        final Layout layout = plan(trace, Tilings.GRANULE, 1, 400);

        assertEquals(Lifetimes.of(trace, Tilings.GRANULE).peakGranules(), layout.top());
        assertTrue(layout.top() * Tilings.GRANULE < Tilings.CAPACITY_BYTES);
    }

    /** All blocks fill the region all the time, so the known placement has no hole. */
    @ParameterizedTest
    @ValueSource(longs = {1, 3})
    void shouldFillARegionWithoutAHole(final long seed) {
        final Trace trace = Tilings.of(150 + 25 * (int) seed, 1, seed);
        assertEquals(Tilings.CAPACITY_BYTES, trace.peakLiveBytes());

        assertEquals(
                Tilings.CAPACITY_BYTES,
                Tilings.GRANULE * plan(trace, Tilings.GRANULE, 1, 100).top());
    }

    @Tag("thorough")
    @Test
    void shouldSearchTracesOfManyBlocks() {
        final Trace trace = Profiles.named("large", MANY_BLOCKS);

        final Layout first = plan(trace, GRANULE, 1, 0);
        final Layout searched = plan(trace, GRANULE, 1, 1_000);

        assertTrue(searched.top() < first.top(), () -> searched.top() + " must be < " + first.top());
    }

    @Test
    void shouldFindTheSameWithTheSameSeed() {
        final Trace trace = Profiles.named("large", MANY_BLOCKS);

        assertArrayEquals(
                plan(trace, GRANULE, 7, 200).offsets(),
                plan(trace, GRANULE, 7, 200).offsets());
    }

    /** A freed block gives its place to the next block at once. */
    @Test
    void shouldReuseWhatIsFreedBeforeTheNextAllocation() {
        final Trace trace = new Trace("reuse", 2, 1 << 20, new long[] {
            Trace.allocation(0, 1000), Trace.free(0, 1000), Trace.allocation(1, 1000), Trace.free(1, 1000)
        });

        assertEquals(4, plan(trace, GRANULE, 1, 100).top());
    }

    @Test
    void shouldKeepWhatIsLiveAtTheEnd() {
        final Trace trace =
                new Trace("left", 2, 1 << 20, new long[] {Trace.allocation(0, 256), Trace.allocation(1, 256)});

        assertEquals(2, plan(trace, GRANULE, 1, 100).top());
    }

    @Test
    void shouldRefuseMoreGranulesThanItCounts() {
        final Trace trace = new Trace("huge", 1, 1L << 40, new long[] {Trace.allocation(0, Trace.MAX_BYTES)});

        final WrongUseException thrown = assertThrows(WrongUseException.class, () -> Lifetimes.of(trace, GRANULE));

        assertEquals(
                "--granule=256 bytes must be so large that what is live at a time is less than 2^31 of them",
                thrown.getMessage());
    }

    @Test
    void shouldNoticeAPlacementThatOverlaps() {
        final Trace trace =
                new Trace("two", 2, 1 << 20, new long[] {Trace.allocation(0, 300), Trace.allocation(1, 256)});

        assertEquals(768, PlacementCheck.regionBytes(trace, new int[] {0, 2}, GRANULE));
        for (final int[] offsets : new int[][] {{0, 0}, {0, 1}, {1, 2}, {0, -1}}) {
            assertThrows(IllegalStateException.class, () -> PlacementCheck.regionBytes(trace, offsets, GRANULE));
        }
    }
}
