package io.outboard.bench.cli.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.io.BufferedWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** These tests check runs of several strategies, some of which fail. */
class MeasurementRunTest {

    private static final long LARGEST_TRIED = 3L << 30;

    private final Trace trace = Profiles.named("paper", 2_000);
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private int exitCode;

    @Test
    void shouldSayNoneAndMeasureInTheLargestRegionTried() throws Exception {
        compare((strategy, ignored, maxBlocks) -> new NeverServed(strategy), "tlsf", "--region", "smallest");

        final String row = lines().stream()
                .filter(line -> line.startsWith("tlsf") && line.contains("3.00 GiB"))
                .findFirst()
                .orElse("");
        assertTrue(row.matches("tlsf +3\\.00 GiB .* none .*"), out.toString());
        assertTrue(out.toString().contains("\nnone: no region serves the trace"), out.toString());
    }

    @Test
    void shouldNotSayNoneOfARegionThatNobodyLookedFor() throws Exception {
        compare(StrategyBench::open, "tlsf", "--region", "1GiB");

        assertFalse(out.toString().contains("none"), out.toString());
    }

    @Test
    void shouldLeaveASmallestRegionOutOfJsonWhereThereIsNone() throws Exception {
        compare(
                (strategy, ignored, maxBlocks) -> new NeverServed(strategy),
                "tlsf",
                "--region",
                "smallest",
                "--format",
                "json");

        assertTrue(out.toString().contains("\"smallestRegionBytes\":null"), out.toString());
        assertTrue(out.toString().contains("\"regionBytes\":" + LARGEST_TRIED), out.toString());
    }

    @Test
    void shouldNameAStrategyThatFailsAndPrintTheOthers() {
        final IllegalStateException thrown = assertThrows(
                IllegalStateException.class,
                () -> compare(this::openAllButTlsf, "segregated-fit,tlsf", "--format", "json"));

        assertEquals("not measured: tlsf on paper: the table is full", thrown.getMessage());
        assertEquals(1, lines().size());
        assertTrue(out.toString().contains("\"strategy\":\"segregated-fit\""), out.toString());
    }

    /** If the second strategy is interrupted, the first one's results are kept. */
    @Test
    void shouldWriteAStrategysResultsBeforeTheNextOneEnds(@TempDir final Path folder) throws Exception {
        final List<Boolean> written = new ArrayList<>();

        compare(
                (strategy, measured, maxBlocks) -> new Watched(
                        StrategyBench.open(strategy, measured, maxBlocks),
                        () -> written.add(Files.exists(folder.resolve("results.jsonl"))
                                && Files.exists(folder.resolve("paper-segregated-fit-allocate.hgrm")))),
                "segregated-fit,tlsf",
                "--out",
                folder.toString());

        assertEquals(List.of(false, true), written);
        assertEquals(2, Files.readAllLines(folder.resolve("results.jsonl")).size());
    }

    @Test
    void shouldFailAsTheStrategyDoesThatIsAlone() {
        final IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> compare(this::openAllButTlsf, "tlsf"));

        assertEquals("tlsf on paper: the table is full", thrown.getMessage());
        assertEquals("", out.toString());
    }

    /** A reader of the lines need not wait for the slowest strategy. */
    @Test
    void shouldPrintALineOfJsonAsSoonAsItIsKnown() throws Exception {
        final List<Integer> linesBefore = new ArrayList<>();

        compare(
                (strategy, measured, maxBlocks) -> new Watched(
                        StrategyBench.open(strategy, measured, maxBlocks), () -> linesBefore.add(lines().size())),
                "tlsf,segregated-fit",
                "--format",
                "json");

        assertEquals(List.of(0, 1), linesBefore);
        assertEquals(2, lines().size());
    }

    @Test
    void shouldFailWhereNothingWasServed() throws Exception {
        compare(StrategyBench::open, "tlsf,segregated-fit", "--region", "512");

        assertEquals(1, exitCode);
        final String last = lines().get(lines().size() - 1);
        assertTrue(
                last.matches(
                        "out of memory: tlsf ([0-9,]+) of \\1 allocations; segregated-fit ([0-9,]+) of \\2 allocations;"
                                + " exit code 1, see --fail-on-oom"),
                last);
        assertFalse(out.toString().contains("*  ") || out.toString().contains("*\n"), out.toString());
        assertEquals("", err.toString());
    }

    @Test
    void shouldSayLastWhatWasNotServed() throws Exception {
        compare(StrategyBench::open, "tlsf", "--region", "64MiB");

        assertEquals(0, exitCode);
        final String last = lines().get(lines().size() - 1);
        assertTrue(last.matches("out of memory: tlsf [0-9,]+ of [0-9,]+ allocations"), last);
    }

    @Test
    void shouldFailIfAnyAllocationFailsWhereThatIsAskedFor() throws Exception {
        compare(StrategyBench::open, "tlsf", "--region", "64MiB", "--fail-on-oom", "--format", "json");

        assertEquals(1, exitCode);
        assertEquals(1, lines().size());
        assertTrue(err.toString().matches("out of memory: tlsf .* allocations; exit code 1, see --fail-on-oom\\R"));
    }

    @Test
    void shouldNeverFailForWantOfMemoryWhereThatIsAskedFor() throws Exception {
        compare(StrategyBench::open, "tlsf", "--region", "512", "--no-fail-on-oom");

        assertEquals(0, exitCode);
        assertTrue(out.toString().contains("; nothing was served"), out.toString());
    }

    /**
     * The speed of refusals isn't a strategy's speed. JSON has no number then, so that nobody takes the strategy for
     * the fastest.
     */
    @Test
    void shouldTellNoSpeedOfWhatServedNothing() throws Exception {
        compare(StrategyBench::open, "tlsf", "--region", "512", "--format", "json");

        assertTrue(out.toString().contains("\"allocate\":{\"mean\":null,"), out.toString());
        assertTrue(out.toString().contains("\"nsPerOp\":null,\"turnsNs\":{},\"busy\":0."), out.toString());
    }

    private StrategyBench openAllButTlsf(final String strategy, final Trace measured, final int maxBlocks) {
        if (strategy.equals("tlsf")) {
            throw new IllegalStateException("the table is full");
        }
        return StrategyBench.open(strategy, measured, maxBlocks);
    }

    private void compare(final MeasurementRun.Opener opener, final String strategies, final String... more)
            throws Exception {
        final MeasureOptions options = new MeasureOptions();
        new CommandLine(CommandSpec.create().addMixin("measure", CommandSpec.forAnnotatedObject(options)))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .parseArgs(Stream.concat(Stream.of("--device", "none", "--strategy", strategies), Stream.of(more))
                        .toArray(String[]::new));
        final PrintWriter writer = new PrintWriter(new BufferedWriter(out));
        exitCode = new MeasurementRun(trace, options, writer, new PrintWriter(err, true), opener).run();
    }

    private List<String> lines() {
        return out.toString().lines().toList();
    }

    /** This bench finds no region that is large enough. */
    private final class NeverServed extends ForwardingBench {

        NeverServed(final String strategy) {
            super(StrategyBench.open(strategy, trace, 1 << 18));
        }

        @Override
        public Smallest smallestRegion(final Consumer<String> progress) {
            return new Smallest(LARGEST_TRIED, false);
        }
    }

    /** This bench does something before it measures latencies, which come last. */
    private static final class Watched extends ForwardingBench {

        private final Runnable beforeTheEnd;

        Watched(final StrategyBench bench, final Runnable beforeTheEnd) {
            super(bench);
            this.beforeTheEnd = beforeTheEnd;
        }

        @Override
        public Measurement finish() {
            beforeTheEnd.run();
            return super.finish();
        }
    }
}
