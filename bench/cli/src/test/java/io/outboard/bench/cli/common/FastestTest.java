package io.outboard.bench.cli.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

class FastestTest {

    private static final int RUNS = 2_000;
    private static final int TURNS = 7;

    /** Nobody is wrong in more than one run of 20 about two things of which one takes a fifth more time. */
    @Test
    void shouldNameTheFasterOfTwoThatAreAFifthApartOnABusyMachine() {
        int named = 0;
        for (int run = 0; run < RUNS; run++) {
            final BusyMachine machine = new BusyMachine(run);
            for (int turn = 0; turn < TURNS; turn++) {
                machine.turn(100, 120);
            }
            named += Fastest.isFaster(machine.oneNs, machine.otherNs) ? 1 : 0;
            assertFalse(Fastest.isFaster(machine.otherNs, machine.oneNs), "run " + run);
        }

        assertTrue(named >= RUNS * 19 / 20, named + " of " + RUNS);
    }

    @Test
    void shouldNameNoneOfTwoThatDifferByChanceOnABusyMachine() {
        int named = 0;
        for (int run = 0; run < RUNS; run++) {
            final BusyMachine machine = new BusyMachine(run);
            for (int turn = 0; turn < TURNS; turn++) {
                machine.turn(100, 101);
            }
            named += Fastest.of(List.of(machine.oneNs, machine.otherNs), Collections::min, turns -> turns)
                                    .size()
                            == 1
                    ? 1
                    : 0;
        }

        assertTrue(named <= RUNS / 100, named + " of " + RUNS);
    }

    /** A coarse clock may not see a turn at all. */
    @Test
    void shouldNameAllWhereTheClockSeesNothing() {
        final List<Double> nothing = Collections.nCopies(TURNS, 0.0);

        assertEquals(
                2,
                Fastest.of(List.of(nothing, nothing), Collections::min, turns -> turns)
                        .size());
    }

    @Test
    void shouldForgiveOneDisturbedTurnOfThree() {
        final List<Double> slow = Collections.nCopies(TURNS, 120.0);

        assertTrue(Fastest.isFaster(List.of(100.0, 100.0, 900.0, 900.0, 100.0, 100.0, 100.0), slow));
        assertFalse(Fastest.isFaster(List.of(100.0, 100.0, 900.0, 900.0, 100.0, 100.0, 900.0), slow));
        assertTrue(Fastest.isFaster(List.of(900.0, 100.0, 100.0), slow));
        assertFalse(Fastest.isFaster(List.of(900.0, 100.0), slow), "of two, none may be disturbed");
    }

    @Test
    void shouldCompareWhatBothHave() {
        assertTrue(Fastest.isFaster(Collections.nCopies(TURNS, 100.0), List.of(300.0, 300.0)));
        assertFalse(Fastest.isFaster(List.of(100.0), List.of(104.0)));
        assertTrue(Fastest.isFaster(List.of(100.0), List.of(106.0)));
        assertFalse(Fastest.isFaster(List.of(), List.of(106.0)), "nothing was measured");
    }

    /** What is drawn between two that are equally fast can't be slower than both. */
    @Test
    void shouldLeaveNoneOutThatLiesBetween() {
        final Map<String, List<Double>> turnsNs = Map.of(
                "best", List.of(10.0, 10.0, 10.0, 10.0, 10.0),
                "between", List.of(10.6, 10.4, 10.6, 10.6, 10.6),
                "unsure", List.of(13.0, 10.45, 13.0, 10.45, 13.0),
                "slow", List.of(20.0, 20.0, 20.0, 20.0, 20.0),
                "not measured", List.of());
        final Function<String, List<Double>> turns = name -> turnsNs.getOrDefault(name, List.of());

        final ToDoubleFunction<String> ns = name ->
                turns.apply(name).stream().mapToDouble(turn -> turn).min().orElse(Double.NaN);

        assertTrue(Fastest.isFaster(turns.apply("best"), turns.apply("between")));
        assertEquals(List.of("best", "between", "unsure"), Fastest.of(turnsNs.keySet(), ns, turns));
        assertEquals(List.of("best"), Fastest.of(List.of("slow", "between", "best"), ns, turns));
    }

    @Test
    void shouldJoinAsASentenceDoes() {
        assertEquals("a", Fastest.join(List.of("a")));
        assertEquals("a and b", Fastest.join(List.of("a", "b")));
        assertEquals("a, b and c", Fastest.join(List.of("a", "b", "c")));
    }

    /**
     * On this machine other programs slow both things of a turn down alike, by up to a half; besides, each turn is off
     * by some percent, and one in twenty by much.
     */
    private static final class BusyMachine {

        private final List<Double> oneNs = new ArrayList<>();
        private final List<Double> otherNs = new ArrayList<>();
        private final SplittableRandom random;

        BusyMachine(final long seed) {
            random = new SplittableRandom(seed);
        }

        void turn(final double one, final double other) {
            final double both = 1 + 0.5 * random.nextDouble();
            oneNs.add(one * both * alone());
            otherNs.add(other * both * alone());
        }

        private double alone() {
            return 1 + 0.04 * random.nextDouble() + (random.nextInt(20) == 0 ? random.nextDouble() : 0);
        }
    }
}
