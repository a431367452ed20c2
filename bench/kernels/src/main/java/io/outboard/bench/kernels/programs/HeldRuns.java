package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;

/**
 * The class runs kernels in which each thread gets something in one kernel and returns it in the next: {@code
 * OUTBOARD_HELD}.
 */
final class HeldRuns {

    private HeldRuns() {}

    /**
     * Measures and checks, and adds the results.
     *
     * @param runs how many runs medians are taken of
     * @param threads one request each
     * @param makeKey the key of the first kernel's time, in microseconds
     * @param endKey the key of the second kernel's time
     */
    static void measure(
            final RequestKernels kernels,
            final int runs,
            final JsonLine json,
            final long threads,
            final String makeKey,
            final String endKey) {
        final RequestRuns times = new RequestRuns(
                runs,
                () -> new double[] {kernels.timed("make"), kernels.timed("end")},
                () -> kernels.run("make", "checkWrite", "checkRead", "end"));
        times.putTimes(json, threads);
        json.put(makeKey, times.medianUs(0), 2).put(endKey, times.medianUs(1), 2);
        kernels.putChecks(json);
    }
}
