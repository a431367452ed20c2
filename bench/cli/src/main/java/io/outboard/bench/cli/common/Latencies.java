package io.outboard.bench.cli.common;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.Percentile;
import org.HdrHistogram.Histogram;

/**
 * How long operations of one kind took, each of them, in nanoseconds; three significant digits, up to 100 s. Confined
 * to one thread. Recording takes some nanoseconds and makes no garbage; the histogram takes about 0.3 MiB.
 */
public final class Latencies {

    private static final long HIGHEST_NS = 100_000_000_000L;
    private static final int DIGITS = 3;
    private static final int CLOCK_READS = 200_000;

    private final Histogram histogram = new Histogram(HIGHEST_NS, DIGITS);
    private final long clockNs;

    /**
     * No operation yet.
     *
     * @param clockNs what reading the clock adds to each, in nanoseconds; subtracted
     */
    public Latencies(final long clockNs) {
        this.clockNs = clockNs;
    }

    /**
     * What two readings of the clock differ by when nothing happens between them.
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
     * @param elapsedNs what it took, in nanoseconds, one reading of the clock included
     * @return what it took without that, in nanoseconds, >= 0
     */
    public long record(final long elapsedNs) {
        final long ns = Math.min(Math.max(elapsedNs - clockNs, 0), HIGHEST_NS);
        histogram.recordValue(ns);
        return ns;
    }

    /**
     * Adds what another has recorded.
     *
     * @param other not changed
     */
    public void add(final Latencies other) {
        histogram.add(other.histogram);
    }

    /**
     * All of them.
     *
     * @return the histogram itself, not a copy
     */
    public Histogram histogram() {
        return histogram;
    }

    /**
     * What so many of the operations took at most.
     *
     * @param percentile how many
     * @return nanoseconds; NaN if there was no operation
     */
    public double percentile(final Percentile percentile) {
        return percentile.of(histogram);
    }

    /**
     * The figures that every result has.
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
