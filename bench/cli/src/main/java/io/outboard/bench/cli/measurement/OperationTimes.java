package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.report.Percentile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * This class records how long operations take by their number, from the first call on. The operations are divided into
 * stretches, with a median and a maximum each. Each stretch ends at a number about 12 % larger than the one before, so
 * that a million operations make a hundred stretches. Besides, each operation of a short trace is kept by itself, and
 * of a long one the slowest hundred. If an operation is repeated, only its first time counts. Takes 0.5 MiB; recording
 * makes no garbage. Confined to one thread.
 */
public final class OperationTimes {

    private static final double GROWTH = 1.122;
    private static final long HIGHEST_NS = 100_000_000_000L;

    /** The limit of stretches, which is more than the operations of any trace make. */
    private static final int MOST_STRETCHES = 512;

    /** The most operations of a trace whose calls are all kept; the papers' "several thousand" are fewer. */
    private static final int SHORT_TRACE = 10_000;

    private static final int SLOWEST_CALLS = 100;

    private final long clockNs;
    private final Histogram stretch = new Histogram(HIGHEST_NS, 3);
    private final long[] ends = new long[MOST_STRETCHES];
    private final long[] mediansNs = new long[MOST_STRETCHES];
    private final long[] maximaNs = new long[MOST_STRETCHES];
    private final long[] callOperations;
    private final long[] callsNs;
    private int calls;

    /** The fastest of the calls that are kept, once there are as many as may be. */
    private int fastest;

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
     * A call is one operation.
     *
     * @param operation its number, from 1
     * @param ns how long it took, in nanoseconds
     */
    public record Call(long operation, long ns) {}

    /**
     * Makes an empty record.
     *
     * @param clockNs how much reading the clock adds to each operation, in nanoseconds; subtracted from what is
     *     recorded
     * @param operations how many operations the trace has
     */
    public OperationTimes(final long clockNs, final int operations) {
        this.clockNs = clockNs;
        callOperations = new long[operations <= SHORT_TRACE ? operations : SLOWEST_CALLS];
        callsNs = new long[callOperations.length];
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
        final long ns = Math.min(Math.max(0, elapsedNs - clockNs), HIGHEST_NS);
        stretch.recordValue(ns);
        done = operation + 1;
        if (calls < callsNs.length) {
            keep(calls++, ns);
        } else if (ns > callsNs[fastest]) {
            keep(fastest, ns);
        }
    }

    private void keep(final int index, final long ns) {
        callOperations[index] = done;
        callsNs[index] = ns;
        if (calls == callsNs.length) {
            for (int i = 0; i < calls; i++) {
                fastest = callsNs[i] < callsNs[fastest] ? i : fastest;
            }
        }
    }

    /** Returns all operations of a trace of at most 10,000, or else the slowest hundred, in the trace's order. */
    public List<Call> calls() {
        return IntStream.range(0, calls)
                .mapToObj(i -> new Call(callOperations[i], callsNs[i]))
                .sorted(Comparator.comparingLong(Call::operation))
                .toList();
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
