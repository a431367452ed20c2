package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.LogBars;
import io.outboard.bench.cli.report.Percentile;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.stream.DoubleStream;

/**
 * A spread says how far numbers of several cases lie apart.
 *
 * @param count how many there are
 * @param least the smallest; NaN if there is none
 * @param median the smallest number that at least half of the numbers don't exceed, as {@link Percentile} has it
 * @param most the largest
 */
public record Spread(int count, double least, double median, double most) {

    /** Returns the spread of numbers, without those that are NaN. */
    public static Spread of(final DoubleStream numbers) {
        final double[] sorted =
                numbers.filter(number -> !Double.isNaN(number)).sorted().toArray();
        final int last = sorted.length - 1;
        return last < 0
                ? new Spread(0, Double.NaN, Double.NaN, Double.NaN)
                : new Spread(sorted.length, sorted[0], sorted[last / 2], sorted[last]);
    }

    /** Returns the spread as bars; a single case has one. */
    public List<LogBars.Bar> bars(final DoubleFunction<String> format) {
        return count == 1
                ? List.of(new LogBars.Bar("", median, format.apply(median)))
                : List.of(
                        new LogBars.Bar("least", least, format.apply(least)),
                        new LogBars.Bar("median", median, format.apply(median)),
                        new LogBars.Bar("most", most, format.apply(most)));
    }
}
