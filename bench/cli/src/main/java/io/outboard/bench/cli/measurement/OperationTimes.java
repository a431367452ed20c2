package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.report.Percentile;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * This class records how long operations take by their number, from the first call on. The operations are divided into
 * stretches, with a median and a maximum each. Each stretch ends at a number about 12 % larger than the one before, so
 * that a million operations make a hundred stretches. If an operation is repeated, only its first time counts. Takes
 * 0.3 MiB; recording makes no garbage. Confined to one thread.
 */
public final class OperationTimes {

    private static final double GROWTH = 1.122;
    private static final long HIGHEST_NS = 100_000_000_000L;

    /** The limit of stretches, which is more than the operations of any trace make. */
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
     * A stretch is a range of operations.
     *
     * @param operation number of its last operation, from 1
     * @param medianNs median of its operations, in nanoseconds
     * @param maxNs its slowest operation, in nanoseconds
     */
    public record Stretch(long operation, long medianNs, long maxNs) {

        /** The heading of {@link #line}. */
        public static final String HEADER = "operation,medianNs,maxNs";

        /** Formats one line of a file. */
        public String line() {
            return operation + "," + medianNs + "," + maxNs;
        }
    }

    /**
     * Makes an empty record.
     *
     * @param clockNs how much reading the clock adds to each operation, in nanoseconds; subtracted from what is
     *     recorded
     */
    public OperationTimes(final long clockNs) {
        this.clockNs = clockNs;
    }

    /**
     * Records an operation, unless this operation or a later one is recorded already.
     *
     * @param operation number of the operation, from 0
     * @param elapsedNs how long the operation took, in nanoseconds, including one reading of the clock
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

    /** Returns all stretches so far, including the unfinished one at the end; no more can be recorded afterwards. */
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
