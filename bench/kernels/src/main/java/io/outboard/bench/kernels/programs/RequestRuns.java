package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * The runs of a case differ: the first is on a fresh heap, the second is checked and not timed, and medians are taken
 * of the following ones, as many as the case asks for, or fewer if they take long. Confined to one thread.
 */
public final class RequestRuns {

    /** The time after which no other run begins: a million requests of CUDA's allocator may take a second. */
    private static final double ENOUGH_US = 5_000_000;

    private static final double NS_A_US = 1000;

    private final double firstUs;
    private final List<double[]> parts = new ArrayList<>();

    /**
     * Does all runs.
     *
     * @param most how many runs medians are taken of, {@code 0 < most}
     * @param timed runs all kernels, and returns each kernel's time in microseconds
     * @param check runs them once more, with checks between them
     */
    RequestRuns(final int most, final Supplier<double[]> timed, final Runnable check) {
        firstUs = Arrays.stream(timed.get()).sum();
        check.run();
        double sum = 0;
        while (parts.size() < most && (parts.isEmpty() || sum < ENOUGH_US)) {
            final double[] run = timed.get();
            parts.add(run);
            sum += Arrays.stream(run).sum();
        }
    }

    /** Returns the median time of one kernel, in microseconds. */
    double medianUs(final int part) {
        return median(parts.stream().mapToDouble(run -> run[part]).toArray());
    }

    /** Returns the median time of a run, in microseconds. */
    double medianUs() {
        return median(
                parts.stream().mapToDouble(run -> Arrays.stream(run).sum()).toArray());
    }

    /** Adds the times of runs, and the time of each request. */
    void putTimes(final JsonLine json, final long requests) {
        json.put("runs", (long) parts.size())
                .put("firstUs", firstUs, 2)
                .put("us", medianUs(), 2)
                .put("nsPerRequest", medianUs() * NS_A_US / requests, 3);
    }

    public static double median(final double... values) {
        final double[] times = values.clone();
        Arrays.sort(times);
        final int middle = times.length / 2;
        return times.length % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
    }
}
