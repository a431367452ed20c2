package io.outboard.bench.cli.report;

import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * These are the percentiles that results have. A percentile is the smallest latency that at least so many percent of
 * all operations don't exceed (nearest rank), to the three digits that a histogram keeps. The time of reading the clock
 * was subtracted from every latency before. Tables, charts and pages show these numbers as they were written, and never
 * derive one from a curve.
 */
public enum Percentile {
    /** The median. */
    P50("p50", "p50", 50),
    /** One operation in a hundred takes longer. */
    P99("p99", "p99", 99),
    /** One operation in a thousand takes longer. */
    P999("p999", "p99.9", 99.9),
    /** One operation in ten thousand takes longer. */
    P9999("p9999", "p99.99", 99.99),
    /** One operation in a hundred thousand takes longer; only runs that are long enough have this percentile. */
    P99999("p99999", "p99.999", 99.999),
    /** The slowest operation. */
    MAX("max", "max", 100);

    /** The percentiles of every result. */
    public static final List<Percentile> OF_RESULTS = List.of(P50, P99, P999, P9999, MAX);

    /** The percentiles that a picture shows. */
    public static final List<Percentile> OF_PICTURES = List.of(P50, P99, P999);

    private final String key;
    private final String title;
    private final double percent;

    Percentile(final String key, final String title, final double percent) {
        this.key = key;
        this.title = title;
        this.percent = percent;
    }

    /**
     * Returns the name in result files.
     *
     * @return for example {@code p999}
     */
    public String key() {
        return key;
    }

    /**
     * Returns the name for people.
     *
     * @return for example {@code p99.9}
     */
    public String title() {
        return title;
    }

    /**
     * Returns the value of this percentile.
     *
     * @param latencies in nanoseconds
     * @return nanoseconds; NaN if there are no latencies
     */
    public double of(final Histogram latencies) {
        return latencies.getTotalCount() == 0 ? Double.NaN : latencies.getValueAtPercentile(percent);
    }
}
