package io.outboard.bench.cli.tail;

import io.outboard.bench.cli.common.Isolation;
import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultOutput;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.measurement.OutOfMemory;
import io.outboard.bench.cli.measurement.Passes;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.cli.trace.Trace;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * This class compares strategies' latencies over so many operations that a 99.999th percentile and a maximum are
 * meaningful, and shows the machine's own pauses next to each. In one process, slices of the strategy's operations
 * alternate with slices of the same loop doing nothing. Interruptions that come at regular times hit the slower loop
 * more often, so a few pauses change a percentile of that loop first. Therefore the number of pauses and the total time
 * of each loop are reported too.
 *
 * <p>Confined to one thread. Cost: a trace of 8 host bytes an operation, however many operations are measured, because
 * the trace is repeated.
 */
public final class TailComparison {

    /** The part of a page that shows the results. */
    public static final ResultsSection.Kind RESULTS = new ResultsSection.Kind(
            "tail.jsonl",
            "Tail latency",
            List.of("profile", "strategy", "beside"),
            List.of("ops", "p50Ns", "p999Ns", "p9999Ns", "p99999Ns", "maxNs", "pauses", "seconds", "failures"),
            List.of());

    /** The least number of operations; with fewer, the 99.999th percentile is the maximum. */
    public static final int LEAST_OPERATIONS = 100_000;

    /** The operations of a slice, some milliseconds; a disturbance that lasts longer hits both loops. */
    private static final int SLICE = 100_000;

    /** The slices of the warm-up; the JIT compiler is done well before their end. */
    private static final long WARM_SLICES = Passes.shorter(40);

    private static final long PAUSE_NS = 100_000;

    private static final String ISOLATED = "io.outboard.bench.cli.isolated.IsolatedTail";

    private final Trace trace;
    private final int wanted;
    private final long clockNs = Latencies.measureClock();

    /** A row has the results of one loop; {@code beside} names the loop that it alternated with. */
    record Row(String strategy, String beside, Latencies latencies, double seconds, long failures, long allocations) {

        /**
         * Counts operations that took longer than any operation does by itself, because the machine did something else
         * meanwhile.
         */
        long pauses() {
            final Histogram histogram = latencies.histogram();
            return histogram.getCountBetweenValues(PAUSE_NS, histogram.getHighestTrackableValue());
        }
    }

    /** This object is one of the two loops that alternate. */
    private static final class Loop {

        private final String name;
        private final TailBench bench;
        private final Latencies allocate;
        private final Latencies free;
        private final long failuresBefore;
        private long ns;

        Loop(final String name, final TailBench bench, final long clockNs) {
            this.name = name;
            this.bench = bench;
            allocate = new Latencies(clockNs);
            free = new Latencies(clockNs);
            failuresBefore = bench.failures();
        }

        void slice(final int operations) {
            final long before = System.nanoTime();
            bench.run(operations, allocate, free);
            ns += System.nanoTime() - before;
        }

        Row row(final String beside) {
            final long allocations = allocate.histogram().getTotalCount();
            final Latencies all = new Latencies(0);
            all.add(allocate);
            all.add(free);
            return new Row(name, beside, all, ns / 1e9, bench.failures() - failuresBefore, allocations);
        }
    }

    /**
     * Makes a comparison that has measured nothing yet.
     *
     * @param trace the trace to repeat; what it leaves in use is freed before it begins again
     * @param operations allocations and frees to measure, at least {@link #LEAST_OPERATIONS}
     */
    public TailComparison(final Trace trace, final int operations) {
        this.trace = trace;
        wanted = operations;
    }

    /**
     * Measures and prints.
     *
     * @param strategies names of existing strategies, measured one after the other
     * @param maxBlocks how many blocks the strategies' tables hold
     * @param regionBytes size of the region, whose addresses no memory backs
     * @param output what to print, and where to write
     * @param out where to print
     * @param outOfMemory is told of allocations that found no memory
     * @throws IOException if the folder for results can't be written
     */
    public void run(
            final List<String> strategies,
            final int maxBlocks,
            final long regionBytes,
            final OutputOptions output,
            final PrintWriter out,
            final OutOfMemory outOfMemory)
            throws IOException {
        final List<Row> rows = new ArrayList<>();
        final ResultOutput results = new ResultOutput(output, RESULTS, out, null);
        try (Progress progress = new Progress((long) strategies.size() * wanted)) {
            for (final String strategy : strategies) {
                progress.stage(strategy);
                for (final Row row : measure(strategy, maxBlocks, regionBytes, progress)) {
                    rows.add(row);
                    results.add(json(row));
                    if (!row.strategy().equals(TailBench.NOTHING)) {
                        outOfMemory.add(row.strategy(), row.failures(), row.allocations());
                    }
                }
            }
        }
        results.print(table -> print(rows, table));
    }

    List<Row> measure(final String strategy, final int maxBlocks, final long regionBytes, final Progress progress) {
        final TailBench allocator = open(strategy, maxBlocks, regionBytes);
        final TailBench nothing = open(TailBench.NOTHING, maxBlocks, regionBytes);
        final Latencies thrownAway = new Latencies(clockNs);
        progress.pass("warm-up");
        for (int slice = 0; slice < WARM_SLICES; slice++) {
            allocator.run(SLICE, thrownAway, thrownAway);
            nothing.run(SLICE, thrownAway, thrownAway);
        }
        progress.pass("slices of it and of nothing in turn");
        final Loop first = new Loop(strategy, allocator, clockNs);
        final Loop second = new Loop(TailBench.NOTHING, nothing, clockNs);
        for (int done = 0; done < wanted; done += SLICE) {
            final int slice = Math.min(SLICE, wanted - done);
            first.slice(slice);
            second.slice(slice);
            progress.step(slice);
        }
        return List.of(first.row(TailBench.NOTHING), second.row(strategy));
    }

    private TailBench open(final String strategy, final int maxBlocks, final long regionBytes) {
        return Isolation.open(TailBench.class, ISOLATED, strategy, trace, maxBlocks, regionBytes);
    }

    private JsonLine json(final Row row) {
        return new JsonLine()
                .put("profile", trace.name())
                .put("strategy", row.strategy())
                .put("beside", row.beside())
                .put("ops", row.latencies().histogram().getTotalCount())
                .put("p50Ns", row.latencies().percentile(Percentile.P50), 0)
                .put("p999Ns", row.latencies().percentile(Percentile.P999), 0)
                .put("p9999Ns", row.latencies().percentile(Percentile.P9999), 0)
                .put("p99999Ns", row.latencies().percentile(Percentile.P99999), 0)
                .put("maxNs", row.latencies().percentile(Percentile.MAX), 0)
                .put("pauses", row.pauses())
                .put("seconds", row.seconds(), 2)
                .put("failures", row.failures())
                .put("clockNs", clockNs);
    }

    private void print(final List<Row> rows, final PrintWriter table) {
        table.printf(
                Locale.ROOT,
                "%s: %,d operations, in turn with the same loop doing nothing, by %,d%n%n",
                trace.name(),
                wanted,
                SLICE);
        new TextTable<Row>()
                .column("strategy", Row::strategy)
                .column(
                        "operations",
                        row -> Units.count((double) row.latencies().histogram().getTotalCount()))
                .column(
                        Percentile.P50.title(),
                        row -> Units.time(row.latencies().percentile(Percentile.P50)))
                .column(
                        Percentile.P999.title(),
                        row -> Units.time(row.latencies().percentile(Percentile.P999)))
                .column(
                        Percentile.P9999.title(),
                        row -> Units.time(row.latencies().percentile(Percentile.P9999)))
                .column(
                        Percentile.P99999.title(),
                        row -> Units.time(row.latencies().percentile(Percentile.P99999)))
                .column(
                        Percentile.MAX.title(),
                        row -> Units.time(row.latencies().percentile(Percentile.MAX)))
                .column("of 100 \u00B5s and more", row -> Units.count((double) row.pauses()))
                .column("seconds", row -> Units.number(row.seconds()))
                .column("failed", row -> Units.count((double) row.failures()))
                .print(rows, table);
    }
}
