package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.common.Fastest;
import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.LogBars;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.Result;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * This class summarises a run of strategies. The safest measured result is compared with the driver's own functions:
 * the facade under STRICT, if it was measured. Without results of the driver, the summary names the strategies that are
 * fastest and the one that needs least memory. The bars show the figures that the sentence is about.
 */
final class ResultHeadline {

    private static final String USUAL = "paper";
    private static final String FACADE = " facade";
    private static final String POOL = " pool";
    private static final String STRICT = "STRICT";

    private final Map<String, List<Result>> resultsByTrace;
    private final String trace;
    private final List<Result> results;

    /** Makes the headline of at least one result. */
    ResultHeadline(final Map<String, List<Result>> resultsByTrace) {
        this.resultsByTrace = resultsByTrace;
        this.trace = Stream.concat(
                        resultsByTrace.entrySet().stream()
                                .filter(entry -> entry.getValue().stream().anyMatch(Result::isBaseline))
                                .map(Map.Entry::getKey),
                        resultsByTrace.keySet().stream().filter(USUAL::equals))
                .findFirst()
                .orElseGet(() -> resultsByTrace.keySet().iterator().next());
        this.results = resultsByTrace.getOrDefault(trace, List.of());
    }

    Headline headline() {
        final List<Result> baselines = results.stream()
                .filter(result -> result.isBaseline() && !Double.isNaN(median(result)))
                .toList();
        final Optional<Result> ours = safest().filter(result -> !Double.isNaN(median(result)));
        if (baselines.isEmpty() || ours.isEmpty()) {
            return withoutDriver();
        }
        final List<Result> shown = shown();
        return new Headline(
                sentence(ours.get(), baselines),
                List.of(bars("allocate", "Allocate" + processes(), shown), bars("free", "Free" + processes(), shown)));
    }

    /** Returns the chart of allocations alone. */
    LogBars picture() {
        return bars("allocate", "Time of an allocation" + processes(), shown());
    }

    /** Tells of how many processes the figures are medians, if of several. */
    private String processes() {
        final double processes = results.get(0).number("processes");
        return processes > 1 ? ", medians of " + Units.count(processes) + " processes" : "";
    }

    private String sentence(final Result best, final List<Result> baselines) {
        final StringBuilder sentence = new StringBuilder(onTrace())
                .append(subject(best))
                .append(" takes ")
                .append(Units.time(median(best)))
                .append(" at the median");
        String separator = ", ";
        for (final Result baseline : baselines) {
            final double factor = median(baseline) / Math.max(1, median(best));
            sentence.append(separator)
                    .append(factor >= 1 ? Units.plainFactor(factor) : Units.plainFactor(1 / factor))
                    .append(factor >= 1 ? " times faster than " : " times slower than ")
                    .append(baseline.name())
                    .append(" (")
                    .append(Units.time(median(baseline)))
                    .append(')');
            separator = " and ";
        }
        return sentence.append(failures(best)).append('.').toString();
    }

    private String onTrace() {
        return resultsByTrace.size() > 1 ? "On trace " + trace + ", " : "";
    }

    private String subject(final Result result) {
        final String allocation = resultsByTrace.size() > 1 ? "an allocation" : "An allocation";
        final String policy = result.values().text("reusePolicy");
        if (result.strategy().endsWith(FACADE)) {
            return allocation + " through the facade under " + policy;
        }
        if (result.strategy().endsWith(POOL)) {
            return allocation + " from the pool under " + policy;
        }
        return allocation + " with strategy " + result.strategy();
    }

    private static String failures(final Result result) {
        return result.hasFailures()
                ? "; but " + Units.count(result.number("failures")) + " of its allocations found no memory"
                : "";
    }

    private Headline withoutDriver() {
        final SpeedOverSpace means = new SpeedOverSpace(resultsByTrace);
        final List<String> names = results.stream()
                .filter(result -> !result.isBaseline())
                .map(Result::name)
                .distinct()
                .filter(name -> means.isServed(name) && !Double.isNaN(means.nsPerOp(name)))
                .toList();
        final List<String> fastest = means.fastest(names);
        if (fastest.isEmpty()) {
            return new Headline(
                    results.stream().anyMatch(Result::hasFailures)
                            ? "Nothing served the whole trace: allocations found no memory."
                            : Units.count(results.size()) + " results.",
                    List.of());
        }
        return new Headline(
                (resultsByTrace.size() > 1 ? "Over " + resultsByTrace.size() + " traces, " : "On trace " + trace + ", ")
                        + speed(means, fastest, names)
                        + (names.size() == 1 ? "" : space(means, names))
                        + (resultsByTrace.size() > 1 ? " (geometric means)." : "."),
                List.of(means.bars()));
    }

    private String speed(final SpeedOverSpace means, final List<String> fastest, final List<String> names) {
        final String least = Units.time(means.nsPerOp(fastest.get(0)));
        if (names.size() == 1) {
            return fastest.get(0) + " takes " + least + " per operation";
        }
        final String most =
                Units.time(fastest.stream().mapToDouble(means::nsPerOp).max().orElse(Double.NaN));
        final String times = " with " + (most.equals(least) ? least : least + " to " + most) + " per operation";
        if (fastest.size() > 1) {
            return Fastest.join(fastest) + " are equally fast" + times;
        }
        return fastest.get(0) + " is the fastest of " + names.size()
                + (results.stream().allMatch(result -> rank(result) == 4) ? " strategies" : " that were measured")
                + times;
    }

    private static String space(final SpeedOverSpace means, final List<String> names) {
        return names.stream()
                .filter(name -> !Double.isNaN(means.space(name)))
                .min(Comparator.comparingDouble(means::space))
                .map(name -> ", and " + name + " the tightest with " + Units.ratio(means.space(name))
                        + " times the memory that is live")
                .orElse("");
    }

    /**
     * Returns the safest result: a facade comes before a pool, a pool before a strategy, and STRICT before other
     * policies.
     */
    private Optional<Result> safest() {
        return results.stream()
                .filter(result -> !result.isBaseline())
                .min(Comparator.comparingInt(ResultHeadline::rank).thenComparing(Result::hasFailures));
    }

    private static int rank(final Result result) {
        final int kind =
                result.strategy().endsWith(FACADE) ? 0 : result.strategy().endsWith(POOL) ? 2 : 4;
        return kind + (kind < 4 && !result.values().text("reusePolicy").equals(STRICT) ? 1 : 0);
    }

    /**
     * Returns the driver's functions, facade and pool (under STRICT alone if it was measured), and strategies without a
     * pool.
     */
    private List<Result> shown() {
        final List<Result> shown =
                new ArrayList<>(results.stream().filter(Result::isBaseline).toList());
        for (final String kind : List.of(FACADE, POOL)) {
            final List<Result> all = results.stream()
                    .filter(result -> result.strategy().endsWith(kind))
                    .toList();
            final List<Result> strict = all.stream()
                    .filter(result -> result.values().text("reusePolicy").equals(STRICT))
                    .toList();
            shown.addAll(strict.isEmpty() ? all : strict);
        }
        results.stream()
                .filter(result -> rank(result) == 4 && !result.isBaseline())
                .forEach(shown::add);
        return shown;
    }

    private static LogBars bars(final String operation, final String title, final List<Result> shown) {
        final LogBars bars = new LogBars(title, "time, logarithmic", 1, Units::tick);
        for (final Result result : shown) {
            bars.row(
                    Series.of(result.name()),
                    result.name(),
                    Percentile.OF_PICTURES.stream()
                            .map(percentile -> new LogBars.Bar(
                                    percentile.title(),
                                    result.latencyNs(operation, percentile),
                                    Units.time(result.latencyNs(operation, percentile))))
                            .toList());
        }
        return bars;
    }

    private static double median(final Result result) {
        return result.latencyNs("allocate", Percentile.P50);
    }
}
