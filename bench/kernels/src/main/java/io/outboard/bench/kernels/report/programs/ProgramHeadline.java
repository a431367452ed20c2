package io.outboard.bench.kernels.report.programs;

import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.LogBars;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.report.Spread;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The headline sums up a run of programs: a step of each compared with the same step over CUDA's own malloc. */
final class ProgramHeadline {

    private static final String OBJECT_HEAP = "ObjectHeap";
    private static final double LEAST_FACTOR = 0.001;
    private static final int MOST_ROWS = 6;

    private final List<ProgramResult> results;

    ProgramHeadline(final List<ProgramResult> results) {
        this.results = results;
    }

    Headline headline(final String checks) {
        final Map<String, Spread> factors = new TreeMap<>();
        for (final String store :
                results.stream().map(ProgramResult::store).distinct().toList()) {
            final Spread spread = Spread.of(results.stream()
                    .filter(result -> result.store().equals(store))
                    .mapToDouble(this::factor));
            if (!store.startsWith(KernelResult.CUDA_MALLOC) && spread.count() > 0) {
                factors.put(store, spread);
            }
        }
        final Spread ours = factors.get(OBJECT_HEAP);
        if (ours == null) {
            return new Headline(checks, List.of());
        }
        final LogBars bars = new LogBars(
                "Steps of a program, times as fast as over CUDA's malloc",
                "times as fast, logarithmic",
                LEAST_FACTOR,
                Units::plainFactor);
        factors.entrySet().stream()
                .sorted((a, b) ->
                        Double.compare(b.getValue().median(), a.getValue().median()))
                .limit(MOST_ROWS)
                .forEach(entry -> bars.row(
                        Series.of(entry.getKey()),
                        entry.getKey(),
                        entry.getValue().bars(Units::factor)));
        return new Headline(
                "Steps of programs are " + Units.plainFactor(ours.median()) + " times as fast with " + OBJECT_HEAP
                        + " as over CUDA's own malloc, the median of " + ours.count() + " programs ("
                        + Units.plainFactor(ours.least()) + " to " + Units.plainFactor(ours.most()) + "); " + checks,
                List.of(bars));
    }

    /** Returns the speedup, only for results of the same size and steps. */
    private double factor(final ProgramResult result) {
        return results.stream()
                        .filter(other -> other.store().equals(KernelResult.CUDA_MALLOC)
                                && other.program().equals(result.program())
                                && other.size().equals(result.size())
                                && other.number("steps") == result.number("steps"))
                        .mapToDouble(other -> other.number("stepUs"))
                        .findFirst()
                        .orElse(Double.NaN)
                / result.number("stepUs");
    }
}
