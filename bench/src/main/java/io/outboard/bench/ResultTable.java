package io.outboard.bench;

import io.outboard.bench.device.DriverAllocators;
import io.outboard.bench.report.Units;
import io.outboard.bench.trace.Trace;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
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
                plain(Units.bytes((double) trace.peakLiveBytes())),
                gpu == null ? "no GPU, so addresses only" : gpu);
        if (trace.skippedFrees() > 0) {
            out.printf(
                    Locale.ROOT,
                    "%,d frees of blocks that the log doesn't show the allocation of were left out%n%n",
                    trace.skippedFrees());
        }
        printColumns(out, speedColumns());
        out.println();
        printColumns(out, memoryColumns());
        printSpeedUps(out);
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

    private List<Column> speedColumns() {
        final List<Column> columns = new ArrayList<>();
        columns.add(new Column("strategy", Measurement::strategy));
        columns.add(new Column("an operation", m -> Units.time(m.nsPerOp())));
        columns.add(new Column("allocate p50", m -> Units.time(m.allocate().percentile(50))));
        columns.add(new Column("p99", m -> Units.time(m.allocate().percentile(99))));
        columns.add(new Column("p99.9", m -> Units.time(m.allocate().percentile(99.9))));
        columns.add(new Column("max", m -> Units.time(m.allocate().percentile(100))));
        columns.add(new Column("free p50", m -> Units.time(m.free().percentile(50))));
        columns.add(new Column("p99", m -> Units.time(m.free().percentile(99))));
        columns.add(new Column("p99.9", m -> Units.time(m.free().percentile(99.9))));
        columns.add(new Column("max", m -> Units.time(m.free().percentile(100))));
        columns.add(new Column("garbage/op", m -> Units.bytes(m.gcBytesPerOp())));
        return columns;
    }

    private List<Column> memoryColumns() {
        final List<Column> columns = new ArrayList<>();
        columns.add(new Column("strategy", Measurement::strategy));
        columns.add(new Column("region", m -> bytes(m.regionBytes())));
        columns.add(new Column("extent/live", m -> ratio(m.peakExtentBytes())));
        columns.add(new Column("smallest/live", m -> hasNone(m) ? "none" : ratio(m.smallestRegionBytes())));
        columns.add(new Column("ext. fragm.", m -> Units.percent(m.externalFragmentation())));
        columns.add(new Column("int. fragm.", m -> Units.percent(m.internalFragmentation())));
        columns.add(new Column("host memory", m -> bytes(m.hostBytes())));
        columns.add(new Column("host bytes a block", m -> Units.number(m.hostBytesPerBlock())));
        columns.add(new Column("failed", m -> Units.count((double) m.failures())));
        return columns;
    }

    private void printColumns(final PrintWriter out, final List<Column> columns) {
        final List<StringBuilder> lines = new ArrayList<>();
        for (int i = 0; i <= measurements.size(); i++) {
            lines.add(new StringBuilder());
        }
        for (int i = 0; i < columns.size(); i++) {
            final Column column = columns.get(i);
            final int width = measurements.stream()
                    .mapToInt(
                            measurement -> plain(column.cell.apply(measurement)).length())
                    .reduce(column.title.length(), Math::max);
            // Names to the left, numbers to the right.
            final String format = i == 0 ? "%-" + width + "s" : "  %" + width + "s";
            lines.get(0).append(String.format(Locale.ROOT, format, column.title));
            for (int row = 0; row < measurements.size(); row++) {
                lines.get(row + 1)
                        .append(String.format(Locale.ROOT, format, plain(column.cell.apply(measurements.get(row)))));
            }
        }
        lines.forEach(line -> out.println(line.toString().stripTrailing()));
    }

    private void printSpeedUps(final PrintWriter out) {
        for (final Measurement baseline : measurements) {
            if (!DriverAllocators.CUDA_MALLOC.equals(baseline.strategy())) {
                continue;
            }
            out.println();
            for (final Measurement measurement : measurements) {
                if (!measurement.strategy().equals(baseline.strategy())) {
                    out.println(measurement.strategy() + ", times faster than " + baseline.strategy()
                            + ": allocate p50 " + factor(baseline.allocate(), measurement.allocate(), 50) + ", p99.9 "
                            + factor(baseline.allocate(), measurement.allocate(), 99.9) + "; free p50 "
                            + factor(baseline.free(), measurement.free(), 50) + ", p99.9 "
                            + factor(baseline.free(), measurement.free(), 99.9));
                }
            }
        }
    }

    private boolean hasNone(final Measurement measurement) {
        return smallestRegion && measurement.regionBytes() != null && measurement.smallestRegionBytes() == null;
    }

    /** A latency of 0 is one that the clock can't tell from its own; it counts as 1 ns. */
    private static String factor(final Latencies slow, final Latencies fast, final double percent) {
        return plain(Units.factor(slow.percentile(percent) / Math.max(fast.percentile(percent), 1)));
    }

    private String ratio(final @Nullable Long bytes) {
        return Units.ratio(bytes == null ? Double.NaN : (double) bytes / trace.peakLiveBytes());
    }

    private static String bytes(final @Nullable Long bytes) {
        return Units.bytes(bytes == null ? Double.NaN : bytes);
    }

    /** Terminals know no difference between a space and one that doesn't break. */
    private static String plain(final String text) {
        return text.replace('\u00A0', ' ');
    }

    private record Column(String title, Function<Measurement, String> cell) {}
}
