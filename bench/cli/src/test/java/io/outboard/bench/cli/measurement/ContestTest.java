package io.outboard.bench.cli.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class ContestTest {

    private final Trace trace = Profiles.named("paper", 100);
    private final Contest contest = new Contest(trace, new Progress(1));
    private final List<String> calls = new ArrayList<>();

    @Test
    void shouldTakeTurns() throws IOException {
        enter("tlsf", 10);
        enter("bitmask", 90);

        contest.takeTurns(false);

        assertEquals(List.of("warm tlsf", "warm bitmask"), calls.subList(0, 2));
        assertEquals(
                Collections.nCopies(Passes.TURNS, List.of("tlsf", "bitmask")).stream()
                        .flatMap(List::stream)
                        .toList(),
                calls.subList(2, calls.size()));
    }

    @Test
    void shouldLeaveOutTurnsOfWhatIsFarBehind() throws IOException {
        enter("tlsf", 10);
        enter("pooled", 19);
        enter("bitmask", 21);

        contest.takeTurns(true);

        assertEquals(Passes.TURNS, Collections.frequency(calls, "tlsf"));
        assertEquals(Passes.TURNS, Collections.frequency(calls, "pooled"));
        assertEquals(2, Collections.frequency(calls, "bitmask"));
        assertEquals(3, contest.entrants().size(), "it has results nevertheless");
    }

    @Test
    void shouldGoOnWithoutWhatFails() throws IOException {
        enter("tlsf", 10);
        enter("bitmask", Double.NaN);
        contest.enter("pooled", () -> {
            throw new IllegalStateException("the table is full");
        });

        contest.takeTurns(false);

        assertEquals(
                List.of("tlsf"),
                contest.entrants().stream().map(Contest.Entrant::strategy).toList());
        assertEquals(
                "not measured: pooled on paper: the table is full; bitmask on paper: it broke",
                contest.failure().getMessage());
    }

    /** Lets a strategy enter whose operations take some time, or fail if that is NaN. */
    private void enter(final String strategy, final double ns) throws IOException {
        final StrategyBench bench = new ForwardingBench(StrategyBench.open(strategy, trace, 1 << 10)) {

            @Override
            public void warmUp() {
                calls.add("warm " + strategy);
            }

            @Override
            public double turn() {
                if (Double.isNaN(ns)) {
                    throw new IllegalStateException("it broke");
                }
                calls.add(strategy);
                return ns;
            }
        };
        contest.enter(
                strategy,
                () -> new Contest.Entrant(strategy, bench, new StrategyBench.Placed(0, 1), measurement -> measurement));
    }
}
