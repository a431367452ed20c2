package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.device.DriverAllocators;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.Units;
import io.outboard.pool.ReusePolicy;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A ratio tells how many times faster one of our measurements is than one of the driver's in the same run. It has all
 * percentiles, not only the median, because the waits of a pool are in the tail.
 *
 * @param baseline measurement of the driver's function
 * @param ours the measurement that is compared with it
 */
public record DriverRatio(Measurement baseline, Measurement ours) {

    /**
     * The policies that are compared with {@code cuMemAllocAsync}: a program that orders its blocks by streams could
     * use the driver's stream-ordered functions instead.
     */
    private static final Set<String> ORDERED = Set.of(ReusePolicy.TRACKED.name(), ReusePolicy.STREAM_ORDERED.name());

    /**
     * Pairs the measurements of a run. All of ours are compared with {@code cudaMalloc}; only those of a policy that
     * orders by streams are compared with {@code cuMemAllocAsync} too. Measurements in which an allocation failed are
     * left out.
     */
    public static List<DriverRatio> of(final List<Measurement> measurements) {
        final List<DriverRatio> ratios = new ArrayList<>();
        for (final Measurement baseline : measurements) {
            final boolean async = DriverAllocators.CU_MEM_ALLOC_ASYNC.equals(baseline.strategy());
            if (!baseline.servedAll() || (!async && !DriverAllocators.CUDA_MALLOC.equals(baseline.strategy()))) {
                continue;
            }
            for (final Measurement ours : measurements) {
                final String policy = ours.reusePolicy();
                if (ours.servedAll()
                        && !DriverAllocators.names().contains(ours.strategy())
                        && (!async || (policy != null && ORDERED.contains(policy)))) {
                    ratios.add(new DriverRatio(baseline, ours));
                }
            }
        }
        return ratios;
    }

    /** Prints the ratios of a run as a table. */
    public static void print(final List<Measurement> measurements, final PrintWriter out) {
        final List<DriverRatio> ratios = of(measurements);
        if (ratios.isEmpty()) {
            return;
        }
        out.println("\nTimes faster than the driver's functions in the same run:\n");
        final TextTable<DriverRatio> table = new TextTable<DriverRatio>()
                .column("strategy", ratio -> ratio.ours.label(measurements))
                .column("than", ratio -> ratio.baseline.strategy())
                .names()
                .group("allocate");
        for (final Percentile percentile : Percentile.OF_RESULTS) {
            table.column(
                    percentile.title(),
                    ratio -> Units.factor(factor(ratio.baseline.allocate(), ratio.ours.allocate(), percentile)));
        }
        table.group("free");
        for (final Percentile percentile : Percentile.OF_RESULTS) {
            table.column(
                    percentile.title(),
                    ratio -> Units.factor(factor(ratio.baseline.free(), ratio.ours.free(), percentile)));
        }
        table.print(ratios, out);
    }

    /** Formats one line of {@code ratios.jsonl}. */
    public JsonLine json() {
        return new JsonLine()
                .put("trace", ours.trace().name())
                .put("strategy", ours.strategy())
                .put("reusePolicy", ours.reusePolicy())
                .put("baseline", baseline.strategy())
                .put("device", baseline.device())
                .put("allocateRatio", json(baseline.allocate(), ours.allocate()))
                .put("freeRatio", json(baseline.free(), ours.free()));
    }

    private static JsonLine json(final Latencies slow, final Latencies fast) {
        final JsonLine line = new JsonLine();
        for (final Percentile percentile : Percentile.OF_RESULTS) {
            line.put(percentile.key(), factor(slow, fast, percentile), 2);
        }
        return line;
    }

    /** Divides two latencies. A latency of 0 is too short for the clock to measure, and counts as 1 ns. */
    private static double factor(final Latencies slow, final Latencies fast, final Percentile percentile) {
        return slow.percentile(percentile) / Math.max(fast.percentile(percentile), 1);
    }
}
