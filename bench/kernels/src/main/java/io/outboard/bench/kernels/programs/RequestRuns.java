package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * Runs of a case: the first is on a fresh heap, the next is checked and not timed, and of those that follow medians are
 * taken, so many as the case asks for, or fewer if they take long. Confined to one thread.
 */
public final class RequestRuns {

    /** After as long no other run begins: a million requests of CUDA's allocator may take a second. */
    private static final double ENOUGH_US = 5_000_000;

    private static final double NS_A_US = 1000;

    private final double firstUs;
    private final List<double[]> parts = new ArrayList<>();

    /**
     * Does them all.
     *
     * @param most how many medians are to be taken of, {@code 0 < most}
     * @param timed runs all kernels; what each takes, in microseconds
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

    /** The median of what one kernel took, in microseconds. */
    double medianUs(final int part) {
        return median(parts.stream().mapToDouble(run -> run[part]).toArray());
    }

    /** The same of a run. */
    double medianUs() {
        return median(
                parts.stream().mapToDouble(run -> Arrays.stream(run).sum()).toArray());
    }

    /** Adds what runs took, and how much of it is a request's. */
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
