package io.outboard.bench.cli.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.measurement.Advice.Need;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AdviceTest {

    private static final long GIB = 1L << 30;

    private final Trace trace = Profiles.named("paper", 100);
    private final List<Need> needs = new ArrayList<>();
    private final List<Measurement> measurements = new ArrayList<>();

    @Test
    void shouldAbstainWhereTheDifferenceMayBeChance() {
        measured("bitmask", GIB, 90, 90, 90, 90, 90);
        measured("tlsf", GIB + (GIB >> 5), 31, 30, 30, 35, 30);
        measured("pooled", GIB, 30, 31, 31, 30, 29);

        final List<String> lines = advice().lines();

        assertTrue(
                lines.get(1)
                        .startsWith("take tlsf: pooled and tlsf are equally fast here, and it is the default; 30.0 ns"),
                lines.get(1));
        assertEquals("runner-up: pooled, equally fast here, with 3.0 % less memory", lines.get(2));
    }

    @Test
    void shouldTakeWhatIsFaster() {
        measured("tlsf", GIB, 30, 30, 30, 30, 30);
        measured("pooled", 2 * GIB, 24, 24, 24, 24, 24);

        final List<String> lines = advice().lines();

        assertTrue(lines.get(1).startsWith("take pooled: the fastest of those that fit; 24.0 ns"), lines.get(1));
        assertEquals("runner-up: tlsf, 25 % slower, with 50.0 % less memory", lines.get(2));
    }

    /** What is said doesn't depend on chance, so neither on which of those that are equal was a little faster. */
    @Test
    void shouldTakeOfEqualsTheOneThatNeedsLeast() {
        measured("pooled", GIB + 1, 24, 24, 24, 24, 24);
        measured("segregated-fit", GIB, 25, 25, 25, 25, 25);
        measured("tlsf", GIB - 1, 40, 40, 40, 40, 40);

        final List<String> lines = advice().lines();

        assertTrue(
                lines.get(1)
                        .startsWith("take segregated-fit: pooled and segregated-fit are equally fast here, and it needs"
                                + " least memory of them; 25.0 ns"),
                lines.get(1));
        assertEquals("runner-up: pooled, equally fast here, with 0.0 % more memory", lines.get(2));
    }

    @Test
    void shouldNotDependOnTheOrder() {
        measured("tlsf", GIB, 31, 30, 30, 35, 30);
        measured("pooled", GIB, 30, 31, 31, 30, 29);
        measured("segregated-fit", GIB, 22, 22, 22, 22, 22);
        final List<String> lines = advice().lines();

        Collections.reverse(measurements);

        assertEquals(lines, advice().lines());
    }

    @Test
    void shouldMeasureWithoutMemoryGivenWhatNeedsAtMostAFiftiethMore() {
        final Need least = new Need("tlsf", 1000);
        final Need little = new Need("bitmask", 1020);
        final Need more = new Need("pooled", 1021);
        final List<Need> all = List.of(more, little, least);

        assertEquals(List.of(least, little), Advice.fitting(all, null));
        assertEquals(List.of(least, little, more), Advice.fitting(all, GIB));
        assertEquals(List.of(), Advice.fitting(List.of(), null));
    }

    @Test
    void shouldSayWhatIsMissing() {
        final Advice advice = new Advice(trace, GIB, List.of(), Optional.of(new Need("tlsf", 3 * GIB / 2)), List.of());

        assertEquals(
                "doesn't fit in 1GiB with any; least is needed by tlsf, 1.5GiB",
                advice.lines().get(0));
        assertTrue(advice.taken().isEmpty());
        assertTrue(advice.json().toString().contains("\"advice\":null,\"regionBytes\":null,\"runnerUp\":null"));
    }

    @Test
    void shouldSayThatThereIsNoOther() {
        measured("tlsf", GIB, 30, 30, 30, 30, 30);

        final List<String> lines = advice().lines();

        assertTrue(lines.get(1).startsWith("take tlsf: the only one that fits; 30.0 ns"), lines.get(1));
        assertEquals("runner-up: none, since no other fits", lines.get(2));
    }

    private Advice advice() {
        final List<Need> fitting = Advice.fitting(needs, 4 * GIB);
        return new Advice(trace, 4 * GIB, fitting, fitting.stream().findFirst(), measurements);
    }

    private void measured(final String strategy, final long bytes, final double... turnsNs) {
        final List<Double> turns = new ArrayList<>();
        for (final double ns : turnsNs) {
            turns.add(ns);
        }
        needs.add(new Need(strategy, bytes));
        measurements.add(new Measurement(
                trace,
                strategy,
                "none",
                "IMMEDIATE",
                Collections.min(turns),
                turns,
                0,
                Collections.min(turns),
                new Latencies(0),
                new Latencies(0),
                0,
                Double.NaN,
                bytes,
                null,
                0,
                0,
                1L,
                Double.NaN,
                0,
                4 * GIB,
                List.of(),
                new OperationTimes(0, 1)));
    }
}
