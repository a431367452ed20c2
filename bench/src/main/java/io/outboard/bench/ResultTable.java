package io.outboard.bench;

import io.outboard.bench.common.TextTable;
import io.outboard.bench.measure.DriverRatio;
import io.outboard.bench.measure.Measurement;
import io.outboard.bench.report.Percentile;
import io.outboard.bench.report.Units;
import io.outboard.bench.trace.Trace;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Measurements as people read them. */
final class ResultTable {

    private final Trace trace;
    private final List<Measurement> measurements;
    private final boolean smallestRegion;
    private final @Nullable String gpu;
    private final String baselines;

    /** {@code smallestRegion}: whether it was looked for. */
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
                "%s: %,d operations, at most %,d blocks and %s live; %s%n%n",
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
        speedColumns().print(measurements, out);
        out.println();
        memoryColumns().print(measurements, out);
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
        return new TextTable<Measurement>()
                .column("strategy", this::name)
                .column("an operation", m -> Units.time(m.nsPerOp()))
                .column("allocate p50", m -> Units.time(m.allocate().percentile(Percentile.P50)))
                .column("p99", m -> Units.time(m.allocate().percentile(Percentile.P99)))
                .column("p99.9", m -> Units.time(m.allocate().percentile(Percentile.P999)))
                .column("max", m -> Units.time(m.allocate().percentile(Percentile.MAX)))
                .column("free p50", m -> Units.time(m.free().percentile(Percentile.P50)))
                .column("p99", m -> Units.time(m.free().percentile(Percentile.P99)))
                .column("p99.9", m -> Units.time(m.free().percentile(Percentile.P999)))
                .column("max", m -> Units.time(m.free().percentile(Percentile.MAX)))
                .column("garbage/op", m -> Units.bytes(m.gcBytesPerOp()));
    }

    private TextTable<Measurement> memoryColumns() {
        return new TextTable<Measurement>()
                .column("strategy", this::name)
                .column("region", m -> bytes(m.regionBytes()))
                .column("extent/live", m -> ratio(m.peakExtentBytes()))
                .column("smallest/live", m -> hasNone(m) ? "none" : ratio(m.smallestRegionBytes()))
                .column("ext. fragm.", m -> Units.percent(m.externalFragmentation()))
                .column("int. fragm.", m -> Units.percent(m.internalFragmentation()))
                .column("host memory", m -> bytes(m.hostBytes()))
                .column("host bytes a block", m -> Units.number(m.hostBytesPerBlock()))
                .column("failed", m -> Units.count((double) m.failures()));
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
