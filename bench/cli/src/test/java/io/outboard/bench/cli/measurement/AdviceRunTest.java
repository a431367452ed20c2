package io.outboard.bench.cli.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AdviceRunTest {

    private Trace trace = Profiles.named("paper", 2_000);
    private final List<String> placed = new ArrayList<>();
    private final List<Long> regions = new ArrayList<>();
    private final List<String> turns = new ArrayList<>();
    private final Map<String, Double> times = new HashMap<>();
    private final Map<String, Double> secondTimes = new HashMap<>();
    private final StringWriter out = new StringWriter();

    @Test
    void shouldAskOncePerStrategyWhetherTheProgramFits() throws IOException {
        final long memoryBytes = 2 * trace.peakLiveBytes();
        times.put("bitmask", 50.0);

        final Advice advice = advise("tlsf,bitmask,pooled", memoryBytes);

        // Those that aren't far behind are made a second time, for their speed.
        assertEquals(List.of("tlsf", "bitmask", "pooled", "tlsf", "pooled"), placed);
        assertEquals(Collections.nCopies(placed.size(), memoryBytes), regions);
        assertEquals(2 * Passes.TURNS, Collections.frequency(turns, "tlsf"));
        assertEquals(2, Collections.frequency(turns, "bitmask"));
        assertTrue(advice.lines().get(0).startsWith("fits in "), advice.lines().get(0));
    }

    /** The JIT compiler may have had bad luck with a strategy's first classes. */
    @Test
    void shouldTakeTheFasterOfTwoMeasurements() throws IOException {
        times.put("tlsf", 18.0);
        secondTimes.put("tlsf", 9.8);

        final Advice advice = advise("tlsf,pooled", 2 * trace.peakLiveBytes());

        assertEquals(Optional.of("tlsf"), advice.taken().map(Measurement::strategy));
        assertEquals(9.8, advice.taken().orElseThrow().nsPerOp());
        assertTrue(
                advice.lines().get(2).contains("pooled, equally fast here"),
                advice.lines().get(2));
    }

    @Test
    void shouldMeasureOnlyWhatNeedsLittle() throws IOException {
        final Advice advice = advise("hal-first-fit,hal-next-fit", null);

        assertEquals(List.of("hal-first-fit", "hal-next-fit"), placed);
        assertEquals(Passes.TURNS, Collections.frequency(turns, "hal-first-fit"), "nothing to compare it with");
        assertEquals(0, Collections.frequency(turns, "hal-next-fit"), "it walks through all that there is");
        assertTrue(advice.lines()
                .get(0)
                .matches("needs [0-9.]+MiB, or up to a fiftieth more with: hal-first-fit \\([^,]*"));
    }

    /** Only then another pass has to tell how much it would be. */
    @Test
    void shouldAskAgainWhereItDoesNotFit() throws IOException {
        final Advice advice = advise("tlsf,hal-first-fit", trace.peakLiveBytes());

        assertEquals(List.of("tlsf", "hal-first-fit", "tlsf", "hal-first-fit"), placed);
        assertEquals(List.of(), turns);
        assertTrue(
                advice.lines().get(0).matches("doesn't fit in .* with any; least is needed by [a-z-]+, [0-9.]+MiB"),
                advice.lines().get(0));
    }

    /** No strategy can number the granules of more memory than there is. */
    @Test
    void shouldTakeAnyAmountOfMemory() throws IOException {
        final Advice advice = advise("tlsf", 1L << 50);

        assertTrue(
                advice.lines().get(0).startsWith("fits in 1PiB with: tlsf ("),
                advice.lines().get(0));
    }

    /** A block of a few bytes takes a granule. */
    @Test
    void shouldGiveSmallBlocksTheirGranules() throws IOException {
        final long[] operations = new long[1000];
        Arrays.setAll(operations, slot -> Trace.allocation(slot, 4));
        trace = new Trace("small", operations.length, 1 << 20, operations);

        final Advice advice = advise("tlsf", null);

        assertEquals(Optional.of("tlsf"), advice.taken().map(Measurement::strategy), advice.lines()::toString);
    }

    private Advice advise(final String strategies, final @Nullable Long memoryBytes) throws IOException {
        final PrintWriter writer = new PrintWriter(out);
        return new AdviceRun(
                        trace,
                        new MeasureOptions(List.of(strategies.split(",")), "none", null, new OutputOptions()),
                        memoryBytes,
                        writer,
                        writer,
                        this::open)
                .run();
    }

    private StrategyBench open(final String strategy, final Trace measured, final int maxBlocks) {
        return new ForwardingBench(StrategyBench.open(strategy, measured, maxBlocks)) {

            private final List<Double> turnsNs = new ArrayList<>();
            private int number;

            @Override
            public Placed place(
                    final long regionAddress,
                    final long regionBytes,
                    final boolean byHandle,
                    final boolean latencies,
                    final String device,
                    final @Nullable LongSupplier deviceUsedBytes,
                    final Progress progress) {
                number = placed.size();
                placed.add(strategy);
                regions.add(regionBytes);
                return super.place(regionAddress, regionBytes, byHandle, latencies, device, deviceUsedBytes, progress);
            }

            @Override
            public double turn() {
                turns.add(strategy);
                super.turn();
                turnsNs.add(ns());
                return ns();
            }

            /** Returns the time of each operation, ten nanoseconds unless a test says otherwise. */
            private double ns() {
                final Map<String, Double> some = placed.indexOf(strategy) == number ? times : secondTimes;
                return some.getOrDefault(strategy, 10.0);
            }

            @Override
            public Measurement finish() {
                return super.finish().withTurns(turnsNs);
            }
        };
    }
}
