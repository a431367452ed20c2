package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A program deviates from its plan, and the strategy finds the way back. A granule is one byte. */
class PlannedDeviationTest {

    private static final StrategyOptions OPTIONS =
            StrategyOptions.DEFAULTS.withGranuleBytes(1).withMaxBlocks(4096);

    /** No request of the tests but those of the plan fits any of these. */
    private static final int[] SIZES = {100, 200, 300, 400, 500, 600, 700, 800, 900, 1000};

    private static final int UNPLANNED = 50;

    /** Makes a plan whose blocks lie one above the other, the last one lowest, and live to the end. */
    private static Plan plan(final int... sizes) {
        final List<Plan.Block> blocks = new ArrayList<>();
        int top = Arrays.stream(sizes).sum();
        final int regionBytes = top;
        for (int i = 0; i < sizes.length; i++) {
            top -= sizes[i];
            blocks.add(new Plan.Block(sizes[i], top, i, sizes.length));
        }
        return Plan.of(1, regionBytes, blocks);
    }

    private static PlannedStrategy strategy(final Plan plan, final long moreBytes) {
        return new PlannedStrategy(new Region(0, plan.regionBytes() + moreBytes), OPTIONS, plan);
    }

    private static long place(final Plan plan, final int block) {
        return plan.records()[Plan.RECORD_INTS * block + Plan.OFFSET];
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "4, 1", "4, 2", "2, 5", "8, 1"})
    void shouldSkipBlocksThatAreMissing(final int first, final int count) {
        final Plan plan = plan(SIZES);
        final PlannedStrategy strategy = strategy(plan, count <= 4 ? 0 : 1000);

        for (int block = 0; block < SIZES.length; block++) {
            if (block < first || block >= first + count) {
                final long address = strategy.allocate(SIZES[block]);
                // More than four blocks away, one request alone doesn't tell where the program is.
                if (count <= 4 || block != first + count) {
                    assertEquals(place(plan, block), address, "block " + block);
                }
            }
        }

        assertEquals(count > 4, strategy.followsPlan(), "the plan is at its end");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 9})
    void shouldPlaceAnUnexpectedBlockAboveThePlan(final int before) {
        final Plan plan = plan(SIZES);
        final PlannedStrategy strategy = strategy(plan, UNPLANNED);

        for (int block = 0; block < SIZES.length; block++) {
            if (block == before) {
                assertEquals(plan.regionBytes(), strategy.allocate(UNPLANNED));
            }
            assertEquals(place(plan, block), strategy.allocate(SIZES[block]), "block " + block);
        }
    }

    /** The place of a block that was freed is free for good; all others are needed. */
    @Test
    void shouldPlaceAnUnexpectedBlockWhereThePlanLeavesRoom() {
        final Plan plan = plan(SIZES);
        final PlannedStrategy strategy = strategy(plan, 0);
        final long freed = strategy.allocate(SIZES[0]);
        strategy.allocate(SIZES[1]);
        strategy.free(freed);

        final long address = strategy.allocate(UNPLANNED);

        assertTrue(address >= freed && address < freed + SIZES[0], () -> "address=" + address);
        for (int block = 2; block < SIZES.length; block++) {
            assertEquals(place(plan, block), strategy.allocate(SIZES[block]), "block " + block);
        }
    }

    @Test
    void shouldPlaceAnUnexpectedBlockWhereThePlanNeedsRoomLast() {
        final Plan plan = plan(SIZES);
        final PlannedStrategy strategy = strategy(plan, 0);

        final long address = strategy.allocate(UNPLANNED);

        assertTrue(address < SIZES[9], () -> "address=" + address);
        for (int block = 0; block < SIZES.length - 1; block++) {
            assertEquals(place(plan, block), strategy.allocate(SIZES[block]), "block " + block);
        }
        assertEquals(Strategy.NO_SPACE, strategy.allocate(SIZES[9]));
    }

    @ParameterizedTest
    @CsvSource({"1000, true", "999, true", "875, true", "874, false", "1001, false"})
    void shouldGiveAPlaceToARequestThatIsAnEighthSmallerAtMost(final int size, final boolean isPlanned) {
        final Plan plan = plan(1000, 5000);
        final PlannedStrategy strategy = strategy(plan, 5000);

        final long address = strategy.allocate(size);

        assertEquals(isPlanned, address == place(plan, 0));
        assertEquals(place(plan, 1), strategy.allocate(5000));
    }

    /** One block more looks like one that comes later. It gets that one's place, and the others get theirs. */
    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 7})
    void shouldFindBackToBlocksThatWerentMissing(final int later) {
        final Plan plan = plan(SIZES);
        final PlannedStrategy strategy = strategy(plan, 2000);

        for (int block = 0; block < SIZES.length; block++) {
            if (block == 2) {
                strategy.allocate(SIZES[later]);
            }
            final long address = strategy.allocate(SIZES[block]);
            if (block == later && later <= 6) {
                assertNotEquals(place(plan, block), address);
            } else {
                assertEquals(place(plan, block), address, "block " + block);
            }
        }
    }

    /** Two blocks more look like two that come later, so those between seem to be missing, and come after all. */
    @Test
    void shouldFindBackToBlocksThatSeemedToBeMissing() {
        final Plan plan = plan(SIZES);
        final PlannedStrategy strategy = strategy(plan, 2000);
        strategy.allocate(SIZES[0]);
        strategy.allocate(SIZES[1]);
        strategy.allocate(SIZES[4]);
        strategy.allocate(SIZES[5]);

        for (int block = 2; block < SIZES.length; block++) {
            final long address = strategy.allocate(SIZES[block]);
            if (block != 4 && block != 5) {
                assertEquals(place(plan, block), address, "block " + block);
            }
        }
    }

    @Test
    void shouldLoseAProgramThatDoesSomethingElse() {
        final Plan plan = plan(SIZES);
        final PlannedStrategy strategy = strategy(plan, 10_000);

        for (int i = 0; i < 16; i++) {
            strategy.free(strategy.allocate(UNPLANNED));
            assertTrue(strategy.followsPlan());
        }
        strategy.free(strategy.allocate(UNPLANNED));

        assertFalse(strategy.followsPlan());
        assertNotEquals(place(plan, 0), strategy.allocate(SIZES[0]));
        strategy.step();
        assertTrue(strategy.followsPlan());
        assertEquals(place(plan, 1), strategy.allocate(SIZES[1]));
    }

    /** One unexpected request in five is made up for. */
    @Test
    void shouldFollowAProgramThatDeviatesAgainAndAgain() {
        final int[] sizes = IntStream.range(0, 200).map(i -> 100 + 20 * (i % 4)).toArray();
        final Plan plan = plan(sizes);
        final PlannedStrategy strategy = strategy(plan, 200L * UNPLANNED);

        for (int block = 0; block < sizes.length; block++) {
            if (block % 4 == 0) {
                strategy.allocate(UNPLANNED);
            }
            assertEquals(place(plan, block), strategy.allocate(sizes[block]), "block " + block);
        }
    }
}
