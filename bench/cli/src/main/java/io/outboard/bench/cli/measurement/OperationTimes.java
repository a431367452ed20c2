package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.report.Percentile;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * What operations take by their number, from the first call on: median and maximum of stretches, each of which ends a
 * ninth further on than the one before, so that a million operations make a hundred stretches. Confined to one thread;
 * of an operation that is done again only the first time counts. Takes 0.3 MiB; recording makes no garbage.
 */
public final class OperationTimes {

    private static final double GROWTH = 1.122;
    private static final long HIGHEST_NS = 100_000_000_000L;

    /** Of more operations than a trace can have. */
    private static final int MOST_STRETCHES = 512;

    private final long clockNs;
    private final Histogram stretch = new Histogram(HIGHEST_NS, 3);
    private final long[] ends = new long[MOST_STRETCHES];
    private final long[] mediansNs = new long[MOST_STRETCHES];
    private final long[] maximaNs = new long[MOST_STRETCHES];
    private int finished;
    private long end = 1;
    private long done;

    /**
     * A stretch of operations.
     *
     * @param operation number of its last operation, from 1
     * @param medianNs of its operations, in nanoseconds
     * @param maxNs the slowest of them
     */
    public record Stretch(long operation, long medianNs, long maxNs) {

        /** The heading of {@link #line}. */
        public static final String HEADER = "operation,medianNs,maxNs";

        /** As it stands in a file. */
        public String line() {
            return operation + "," + medianNs + "," + maxNs;
        }
    }

    /**
     * No operation yet.
     *
     * @param clockNs what reading the clock adds to each, in nanoseconds; subtracted
     */
    public OperationTimes(final long clockNs) {
        this.clockNs = clockNs;
    }

    /**
     * Records an operation, unless it or a later one is recorded already.
     *
     * @param operation its number, from 0
     * @param elapsedNs what it took, in nanoseconds, one reading of the clock included
     */
    public void record(final long operation, final long elapsedNs) {
        if (operation < done) {
            return;
        }
        while (operation >= end) {
            finish(end);
            end = Math.max(end + 1, (long) (end * GROWTH));
        }
        stretch.recordValue(Math.min(Math.max(0, elapsedNs - clockNs), HIGHEST_NS));
        done = operation + 1;
    }

    /** All stretches so far, the last one as far as it has come; then no more can be recorded. */
    public List<Stretch> stretches() {
        finish(done);
        final List<Stretch> all = new ArrayList<>();
        for (int i = 0; i < finished; i++) {
            all.add(new Stretch(ends[i], mediansNs[i], maximaNs[i]));
        }
        return List.copyOf(all);
    }

    private void finish(final long last) {
        if (stretch.getTotalCount() > 0) {
            ends[finished] = last;
            mediansNs[finished] = (long) Percentile.P50.of(stretch);
            maximaNs[finished] = (long) Percentile.MAX.of(stretch);
            finished++;
            stretch.reset();
        }
    }
}
