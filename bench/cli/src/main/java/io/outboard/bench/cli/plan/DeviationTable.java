package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.isolated.IsolatedBench;
import io.outboard.bench.cli.measurement.MeasurementRun;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import io.outboard.core.spi.NamedProvider;
import io.outboard.tlsf.Plan;
import io.outboard.tlsf.PlannedStrategy;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * This class measures what a plan is worth to a step that deviates from the recorded one: the smallest regions in which
 * the strategies {@code planned} and {@code tlsf} serve the step, as multiples of what is live at most in the recorded
 * one. Which blocks deviate is drawn by seed. Confined to one thread.
 */
final class DeviationTable {

    /** The smallest regions that serve one step, in bytes. */
    private record Need(long planned, long tlsf) {}

    private record Row(Deviation deviation, double boundBytes, List<Need> needs) {

        double mean(final ToDoubleFunction<Need> bytes) {
            return needs.stream().mapToDouble(bytes).average().orElse(Double.NaN) / boundBytes;
        }

        double worst(final ToDoubleFunction<Need> bytes) {
            return needs.stream().mapToDouble(bytes).max().orElse(Double.NaN) / boundBytes;
        }

        double worstPlannedOverTlsf() {
            return needs.stream()
                    .mapToDouble(need -> (double) need.planned() / need.tlsf())
                    .max()
                    .orElse(Double.NaN);
        }
    }

    private final Trace step;
    private final int seeds;
    private final List<Row> rows = new ArrayList<>();

    /**
     * Measures deviations.
     *
     * @param step the recorded step
     * @param plan of the step
     * @param boundBytes what regions are compared with
     * @param deviations to measure
     * @param firstSeed what is drawn depends on it
     * @param seeds how many steps are drawn for each deviation
     */
    DeviationTable(
            final Trace step,
            final Plan plan,
            final long boundBytes,
            final List<Deviation> deviations,
            final long firstSeed,
            final int seeds) {
        this.step = step;
        this.seeds = seeds;
        final StrategyProvider planned = new NamedProvider(
                "planned",
                "tlsf that follows " + plan,
                (region, options) -> new PlannedStrategy(region, options, plan));
        final StrategyProvider tlsf = Strategies.named("tlsf");
        try (Progress progress = new Progress((long) deviations.size() * seeds)) {
            for (final Deviation deviation : deviations) {
                progress.stage(deviation.text());
                final List<Need> needs = new ArrayList<>();
                for (int i = 0; i < seeds; i++) {
                    final Trace deviating = deviation.of(step, firstSeed + i);
                    needs.add(new Need(smallest(planned, deviating), smallest(tlsf, deviating)));
                    progress.step(1);
                }
                rows.add(new Row(deviation, boundBytes, needs));
            }
        }
    }

    private static long smallest(final StrategyProvider provider, final Trace trace) {
        return IsolatedBench.smallestRegion(provider, trace, MeasurementRun.maxBlocks(trace))
                .regionBytes();
    }

    /** Returns the largest of a deviation's regions, as a multiple. */
    double worstPlanned(final Deviation deviation) {
        return rows.stream()
                .filter(row -> row.deviation() == deviation)
                .mapToDouble(row -> row.worst(Need::planned))
                .max()
                .orElse(Double.NaN);
    }

    List<JsonLine> json() {
        return rows.stream()
                .map(row -> new JsonLine()
                        .put("trace", step.name())
                        .put("deviation", row.deviation().text())
                        .put("seeds", (long) seeds)
                        .put("plannedMean", row.mean(Need::planned), 4)
                        .put("plannedWorst", row.worst(Need::planned), 4)
                        .put("tlsfMean", row.mean(Need::tlsf), 4)
                        .put("tlsfWorst", row.worst(Need::tlsf), 4)
                        .put("worstPlannedOverTlsf", row.worstPlannedOverTlsf(), 4))
                .toList();
    }

    void print(final PrintWriter printer) {
        printer.println();
        printer.println("steps that deviate from " + step.name() + ", " + seeds
                + " of each kind: smallest regions over what is live at most in the recorded step");
        printer.println();
        new TextTable<Row>()
                .column("deviation", row -> row.deviation().text())
                .column("planned: mean", row -> ratio(row.mean(Need::planned)))
                .column("worst", row -> ratio(row.worst(Need::planned)))
                .column("tlsf: mean", row -> ratio(row.mean(Need::tlsf)))
                .column("worst", row -> ratio(row.worst(Need::tlsf)))
                .print(rows, printer);
    }

    private static String ratio(final double ratio) {
        return String.format(Locale.ROOT, "%.3f", ratio);
    }
}
