package io.outboard.bench.cli;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultOutput;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.measurement.MeasureOptions;
import io.outboard.bench.cli.measurement.MeasurementRun;
import io.outboard.bench.cli.measurement.ProfileOptions;
import io.outboard.bench.cli.measurement.StrategyBench;
import io.outboard.bench.cli.measurement.StrategyBench.Smallest;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.bench.cli.trace.Trace;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * This class finds how small a region may be for each strategy, over several traces of one random profile. One trace
 * alone says little, because a region that serves a trace may be smaller than another region that doesn't. Confined to
 * one thread.
 */
final class SmallestBySeed {

    /** The part of a page that shows the results of this measurement. */
    static final ResultsSection.Kind RESULTS = new ResultsSection.Kind(
            "smallest.jsonl",
            "Smallest regions over seeds",
            List.of("profile", "strategy"),
            List.of("seeds", "firstServedMean", "firstServedWorst", "lastRefusedMean", "lastRefusedWorst", "unserved"),
            List.of());

    /** A need is the memory that one strategy needs for one trace, in multiples of the peak of live bytes. */
    private record Need(double served, double refused) {}

    private record Row(String strategy, int unserved, List<Need> needs) {

        double mean(final ToDoubleFunction<Need> what) {
            return needs.stream().mapToDouble(what).average().orElse(Double.NaN);
        }

        double worst(final ToDoubleFunction<Need> what) {
            return needs.stream().mapToDouble(what).max().orElse(Double.NaN);
        }
    }

    private final ProfileOptions profile;
    private final MeasureOptions options;
    private final PrintWriter out;
    private final int seeds;

    SmallestBySeed(final ProfileOptions profile, final MeasureOptions options, final PrintWriter out) {
        this.profile = profile;
        this.options = options;
        this.out = out;
        seeds = profile.seeds(true);
    }

    void run() throws IOException {
        final ResultOutput results = new ResultOutput(options.output(), RESULTS, out, null);
        final List<Row> rows = new ArrayList<>();
        try (Progress progress = new Progress((long) options.strategies().size() * seeds)) {
            for (final String strategy : options.strategies()) {
                final Row row = row(strategy, progress);
                rows.add(row);
                results.add(json(row));
            }
        }
        results.print(table -> print(rows, table));
    }

    private Row row(final String strategy, final Progress progress) {
        final List<Need> needs = new ArrayList<>();
        for (int seed = 0; seed < seeds; seed++) {
            final Trace trace = profile.trace(seed);
            progress.stage(strategy + ", seed " + (seed + 1) + " of " + seeds);
            final StrategyBench bench = StrategyBench.open(strategy, trace, MeasurementRun.maxBlocks(trace));
            final Smallest smallest = bench.smallestRegion(progress::pass);
            if (smallest.serves()) {
                final long refusedBytes = bench.lastRefusedRegion(smallest.regionBytes(), progress::pass);
                final double peakBytes = trace.peakLiveBytes();
                needs.add(new Need(smallest.regionBytes() / peakBytes, refusedBytes / peakBytes));
            }
            progress.step(1);
        }
        return new Row(strategy, seeds - needs.size(), needs);
    }

    private JsonLine json(final Row row) {
        return new JsonLine()
                .put("profile", profile.name())
                .put("strategy", row.strategy())
                .put("ops", (long) profile.operations())
                .put("seeds", (long) seeds)
                .put("unserved", (long) row.unserved())
                .put("firstServedMean", row.mean(Need::served), 5)
                .put("firstServedWorst", row.worst(Need::served), 5)
                .put("lastRefusedMean", row.mean(Need::refused), 5)
                .put("lastRefusedWorst", row.worst(Need::refused), 5);
    }

    private void print(final List<Row> rows, final PrintWriter table) {
        table.println(profile.name() + ", " + seeds + " seeds: regions, as multiples of peak live bytes");
        table.println();
        new TextTable<Row>()
                .column("strategy", Row::strategy)
                .column("first that serves: mean", row -> ratio(row.mean(Need::served)))
                .column("worst", row -> ratio(row.worst(Need::served)))
                .column("last that refuses: mean", row -> ratio(row.mean(Need::refused)))
                .column("worst", row -> ratio(row.worst(Need::refused)))
                .column("unserved", row -> String.valueOf(row.unserved()))
                .print(rows, table);
    }

    private static String ratio(final double ratio) {
        return Double.isNaN(ratio) ? "\u2013" : String.format(Locale.ROOT, "%.4f", ratio);
    }
}
