package io.outboard.bench.measure.threads.isolated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

class CrewTest {

    /** The workload is late, as on a machine that is busy: the round is over before the worker has a core. */
    private static final class LateWorkload extends Workload {

        private final AtomicInteger rounds = new AtomicInteger();

        @Override
        int workers() {
            return 1;
        }

        @Override
        void work(final int worker, final Blocks blocks, final Round round, final Tally tally) {
            final boolean late = rounds.incrementAndGet() <= 3;
            while (!round.isOver()) {
                Thread.onSpinWait();
            }
            tally.operations = late ? 0 : 100;
        }

        @Override
        void forEachLeft(final LongConsumer address) {
            // No blocks are in use.
        }
    }

    @Test
    void shouldRepeatARoundInWhichNobodyDidAnything() throws Exception {
        final LateWorkload workload = new LateWorkload();
        try (Crew crew = new Crew(new BareSupply(), workload, 0, new Launchers(0, 0), blocks -> blocks)) {
            final Crew.Outcome outcome = crew.run(1, () -> {});

            assertTrue(outcome.opsPerSecond() > 0, outcome.toString());
            assertEquals(4, workload.rounds.get());
        }
    }
}
