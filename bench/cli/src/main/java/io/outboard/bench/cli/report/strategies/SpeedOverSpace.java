package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.common.Fastest;
import io.outboard.bench.cli.report.ChartGroup;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.LogBars;
import io.outboard.bench.cli.report.Result;
import io.outboard.bench.cli.report.Section;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * This class shows each strategy's time and memory as one point. Over several traces, the point has geometric means,
 * and only strategies that were measured on all traces are shown. Memory is the smallest region that serves a trace or,
 * if that wasn't looked for, the greatest extent of the blocks.
 */
final class SpeedOverSpace implements Section {

    private final Collection<List<Result>> traces;

    SpeedOverSpace(final Map<String, List<Result>> resultsByTrace) {
        this.traces = resultsByTrace.values();
    }

    @Override
    public String title() {
        return "Speed over space";
    }

    /** Tells whether there are too few points to compare. */
    boolean isEmpty() {
        return names().size() < 2;
    }

    @Override
    public String html() {
        final ChartGroup group =
                new ChartGroup("scatter", "memory needed \u00F7 most live bytes", "time per operation, logarithmic");
        final HtmlTable table = new HtmlTable(title(), "Strategy");
        table.column("", "per operation");
        table.column("", "memory \u00F7 live");
        for (final Series look : Series.ofStrategies(names())) {
            final double time = nsPerOp(look.name());
            final double space = space(look.name());
            group.line(look, new double[] {space}, new double[] {time});
            table.row(
                    look.html(),
                    List.of(new HtmlTable.Cell(time, Units.time(time)), new HtmlTable.Cell(space, Units.ratio(space))));
        }
        group.figure(
                "Towards the lower left is better",
                "Points of strategies: time per operation over memory. The table below it holds the numbers.",
                "In numbers",
                table,
                false);
        return "<p class=\"note\">Across: the memory that a strategy needs, over the most that is live. Up: time per"
                + " operation, on a logarithmic scale."
                + (traces.size() > 1 ? " Geometric means over " + traces.size() + " traces." : "")
                + "</p>\n"
                + group.html();
    }

    /** Returns nanoseconds per operation; NaN unless the strategy was measured on every trace. */
    double nsPerOp(final String name) {
        return mean(name, result -> result.number("nsPerOp"));
    }

    /** Returns nanoseconds per operation in each turn; nothing unless the strategy was measured on every trace. */
    private List<Double> turnsNs(final String name) {
        final int turns = traces.stream()
                .mapToInt(results -> result(results, name)
                        .map(result -> result.turnsNs().size())
                        .orElse(0))
                .min()
                .orElse(0);
        return IntStream.range(0, turns)
                .mapToObj(turn -> mean(name, result -> result.turnsNs().get(turn)))
                .toList();
    }

    /** Returns those of the names that are equally fast, and faster than the others, the fastest first. */
    List<String> fastest(final List<String> names) {
        return Fastest.of(names, this::nsPerOp, this::turnsNs);
    }

    /** Returns the chart of times per operation that belongs to a headline about them, the fastest first. */
    LogBars bars() {
        final LogBars bars = new LogBars("Time per operation", "time, logarithmic", 1, Units::tick);
        traces.stream()
                .flatMap(List::stream)
                .filter(result -> !result.isBaseline())
                .map(Result::name)
                .distinct()
                .filter(this::isServed)
                .sorted(Comparator.comparingDouble(this::nsPerOp))
                .forEach(name -> bars.row(
                        Series.of(name), name, List.of(new LogBars.Bar("", nsPerOp(name), Units.time(nsPerOp(name))))));
        return bars;
    }

    /** Tells whether no allocation of a strategy failed, on any trace. */
    boolean isServed(final String name) {
        return traces.stream()
                .flatMap(List::stream)
                .noneMatch(result -> result.name().equals(name) && result.hasFailures());
    }

    /** Returns bytes of memory for each live byte; NaN unless both are known on every trace. */
    double space(final String name) {
        return mean(name, result -> {
            final double smallest = result.regionOverLive();
            return Double.isNaN(smallest)
                    ? result.number("peakExtentBytes") / result.number("peakLiveBytes")
                    : smallest;
        });
    }

    private List<String> names() {
        return traces.stream()
                .flatMap(List::stream)
                .filter(result -> !result.isBaseline() && !result.hasFailures())
                .map(Result::name)
                .distinct()
                .filter(name -> !Double.isNaN(space(name)) && !Double.isNaN(nsPerOp(name)))
                .toList();
    }

    private double mean(final String name, final ToDoubleFunction<Result> measure) {
        double logarithms = 0;
        for (final List<Result> results : traces) {
            logarithms +=
                    Math.log(result(results, name).map(measure::applyAsDouble).orElse(Double.NaN));
        }
        return Math.exp(logarithms / traces.size());
    }

    private static Optional<Result> result(final List<Result> results, final String name) {
        return results.stream().filter(result -> result.name().equals(name)).findFirst();
    }
}
