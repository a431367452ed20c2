package io.outboard.bench.cli.common;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.Percentile;
import org.HdrHistogram.Histogram;

/**
 * This class is a histogram of how long operations of one kind took, in nanoseconds, with three significant digits, up
 * to 100 s. Recording takes some nanoseconds and makes no garbage; the histogram takes about 0.3 MiB. Confined to one
 * thread.
 */
public final class Latencies {

    private static final long HIGHEST_NS = 100_000_000_000L;
    private static final int DIGITS = 3;
    private static final int CLOCK_READS = 200_000;

    private final Histogram histogram = new Histogram(HIGHEST_NS, DIGITS);
    private final long clockNs;

    /**
     * Makes an empty histogram.
     *
     * @param clockNs how much reading the clock adds to each operation, in nanoseconds; subtracted from what is
     *     recorded
     */
    public Latencies(final long clockNs) {
        this.clockNs = clockNs;
    }

    /**
     * Measures the difference of two readings of the clock when nothing happens between the readings.
     *
     * @return the median of many differences, in nanoseconds
     */
    public static long measureClock() {
        final Histogram differences = new Histogram(HIGHEST_NS, DIGITS);
        for (int pass = 0; pass < 2; pass++) {
            differences.reset();
            for (int i = 0; i < CLOCK_READS; i++) {
                final long before = System.nanoTime();
                differences.recordValue(Math.min(System.nanoTime() - before, HIGHEST_NS));
            }
        }
        return (long) Percentile.P50.of(differences);
    }

    /**
     * Records an operation.
     *
     * @param elapsedNs how long the operation took, in nanoseconds, including one reading of the clock
     * @return how long the operation took without that reading, in nanoseconds, >= 0
     */
    public long record(final long elapsedNs) {
        final long ns = Math.min(Math.max(elapsedNs - clockNs, 0), HIGHEST_NS);
        histogram.recordValue(ns);
        return ns;
    }

    /**
     * Adds what another histogram has recorded.
     *
     * @param other not changed
     */
    public void add(final Latencies other) {
        histogram.add(other.histogram);
    }

    /**
     * Gives the histogram of all operations.
     *
     * @return the histogram itself, not a copy
     */
    public Histogram histogram() {
        return histogram;
    }

    /**
     * Gives the time within which the given share of the operations finished.
     *
     * @param percentile the share
     * @return nanoseconds; NaN if there was no operation
     */
    public double percentile(final Percentile percentile) {
        return percentile.of(histogram);
    }

    /**
     * Gives the figures that every result has.
     *
     * @return an object
     */
    public JsonLine json() {
        final JsonLine line =
                new JsonLine().put("mean", histogram.getTotalCount() == 0 ? Double.NaN : histogram.getMean(), 1);
        Percentile.OF_RESULTS.forEach(percentile -> line.put(percentile.key(), percentile(percentile), 0));
        return line;
    }
}
