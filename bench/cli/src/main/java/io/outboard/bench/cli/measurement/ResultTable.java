package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Fastest;
import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.cli.trace.FailedRequests;
import io.outboard.bench.cli.trace.Trace;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** This class prints measurements as tables for people. */
final class ResultTable {

    private static final List<Percentile> PERCENTILES =
            List.of(Percentile.P50, Percentile.P99, Percentile.P999, Percentile.MAX);

    private final Trace trace;
    private final List<Measurement> measurements;
    private final boolean smallestRegion;
    private final @Nullable String gpu;
    private final String baselines;

    /** Makes a table; {@code smallestRegion} tells whether the smallest region was looked for. */
    ResultTable(
            final Trace trace,
            final List<Measurement> measurements,
            final boolean smallestRegion,
            final @Nullable String gpu,
            final String baselines) {
        this.trace = trace;
        this.measurements = measurements;
        this.smallestRegion = smallestRegion;
        this.gpu = gpu;
        this.baselines = baselines;
    }

    void print(final PrintWriter out) {
        out.printf(
                Locale.ROOT,
                "%s: %,d operations, at most %,d blocks and %s live%n%s%n%n",
                trace.name(),
                trace.operationCount(),
                trace.peakLiveBlocks(),
                TextTable.plain(Units.bytes((double) trace.peakLiveBytes())),
                gpu == null ? "no GPU, so addresses only" : gpu);
        if (trace.skippedFrees() > 0) {
            out.printf(
                    Locale.ROOT,
                    "%,d frees of blocks that the log doesn't show the allocation of were left out%n%n",
                    trace.skippedFrees());
        }
        final FailedRequests failed = trace.failedRequests();
        if (failed.count() > 0) {
            out.printf(
                    Locale.ROOT,
                    "requests that failed when it was recorded: %,d, the largest of %s; %s%n%n",
                    failed.count(),
                    TextTable.plain(Units.bytes((double) failed.largestBytes())),
                    "each counts as a block that is freed at once, but for what no device has");
        }
        trace.notes().forEach(note -> out.println(note + "\n"));
        if (measurements.isEmpty()) {
            return;
        }
        speedColumns().print(measurements, out);
        out.println();
        memoryColumns().print(measurements, out);
        if (measurements.stream().filter(Measurement::servedAll).count() > 1) {
            out.println("\n" + TextTable.BEST + ", of those that served every allocation");
        }
        final String busy = Units.busy(measurements.stream().mapToDouble(Measurement::busy));
        if (!busy.isEmpty()) {
            out.println("\n" + TextTable.plain(busy).replace(". ", ".\n"));
        }
        DriverRatio.print(measurements, out);
        if (!baselines.isEmpty()) {
            out.println("\n" + baselines);
        }
        if (measurements.stream().anyMatch(measurement -> measurement.failures() > 0)) {
            out.println("\nfailed: allocations that found no memory; their frees were left out");
        }
        if (measurements.stream().anyMatch(this::hasNone)) {
            out.println("\nnone: no region serves the trace, up to the one shown, in which it was measured");
        }
        out.flush();
    }

    private TextTable<Measurement> speedColumns() {
        final TextTable<Measurement> table = new TextTable<Measurement>().column("strategy", this::name);
        final List<Measurement> served =
                measurements.stream().filter(Measurement::servedAll).toList();
        final List<Measurement> fastest = Fastest.of(served, Measurement::nsPerOp, Measurement::turnsOrMean);
        // All that are equally fast are marked, and so have the same measure here.
        table.column(
                "an operation",
                m -> Units.time(m.servedAny() ? m.nsPerOp() : Double.NaN),
                m -> fastest.contains(m) ? 0 : m.servedAll() ? m.nsPerOp() : Double.NaN);
        if (measurements.stream().anyMatch(Measurement::hasLatencies)) {
            table.group("allocate");
            addPercentiles(table, Measurement::allocate);
            table.group("free");
            addPercentiles(table, Measurement::free);
        }
        return table.group("").column("garbage/op", m -> Units.bytes(m.gcBytesPerOp()));
    }

    private static void addPercentiles(
            final TextTable<Measurement> table, final Function<Measurement, Latencies> kind) {
        for (final Percentile percentile : PERCENTILES) {
            time(table, percentile.title(), m -> kind.apply(m).percentile(percentile));
        }
    }

    /**
     * Adds a column of times. A measurement in which all allocations failed has no time, and one in which some failed
     * is never marked as the best.
     */
    private static void time(
            final TextTable<Measurement> table, final String title, final ToDoubleFunction<Measurement> ns) {
        table.column(
                title,
                m -> Units.time(m.servedAny() ? ns.applyAsDouble(m) : Double.NaN),
                m -> m.servedAll() ? ns.applyAsDouble(m) : Double.NaN);
    }

    private TextTable<Measurement> memoryColumns() {
        return new TextTable<Measurement>()
                .column("strategy", this::name)
                .column("region", m -> bytes(m.regionBytes()))
                .column("extent/live", m -> ratio(m.peakExtentBytes()), m -> servedRatio(m, m.peakExtentBytes()))
                .column(
                        "smallest/live",
                        m -> hasNone(m) ? "none" : ratio(m.smallestRegionBytes()),
                        m -> servedRatio(m, m.smallestRegionBytes()))
                .column("ext. fragm.", m -> Units.percent(m.externalFragmentation()))
                .column("int. fragm.", m -> Units.percent(m.internalFragmentation()))
                .column("host memory", m -> bytes(m.hostBytes()))
                .column(
                        "host bytes a block",
                        m -> Units.number(m.hostBytesPerBlock()),
                        m -> m.servedAll() ? m.hostBytesPerBlock() : Double.NaN)
                .column("failed", m -> Units.count((double) m.failures()));
    }

    private double servedRatio(final Measurement measurement, final @Nullable Long bytes) {
        return bytes == null || !measurement.servedAll() ? Double.NaN : (double) bytes / trace.peakLiveBytes();
    }

    private String name(final Measurement measurement) {
        return measurement.label(measurements);
    }

    private boolean hasNone(final Measurement measurement) {
        return smallestRegion && measurement.regionBytes() != null && measurement.smallestRegionBytes() == null;
    }

    private String ratio(final @Nullable Long bytes) {
        return Units.ratio(bytes == null ? Double.NaN : (double) bytes / trace.peakLiveBytes());
    }

    private static String bytes(final @Nullable Long bytes) {
        return Units.bytes(bytes == null ? Double.NaN : bytes);
    }
}
