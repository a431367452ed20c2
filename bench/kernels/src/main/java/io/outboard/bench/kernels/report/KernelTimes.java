package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.Html;
import java.util.Locale;

/**
 * The times are microseconds for allocate and free. Immutable, so safe for any number of threads.
 *
 * @param allocate NaN if it wasn't measured
 * @param free NaN if both are one kernel
 */
public record KernelTimes(double allocate, double free) {

    /** Returns the sum of both, or the time of the one kernel that does both. */
    public double total() {
        return allocate + (Double.isNaN(free) ? 0 : free);
    }

    /** Returns the times without those of a kernel that allocates nothing. Free is NaN if it is in either. */
    KernelTimes minus(final KernelTimes empty) {
        return new KernelTimes(allocate - empty.allocate, free - empty.free);
    }

    /** Formats the times as in {@link KernelResult#cell}. */
    String text() {
        return Double.isNaN(allocate) ? Html.NONE : digits(allocate) + (Double.isNaN(free) ? "" : "/" + digits(free));
    }

    private static String digits(final double microseconds) {
        return String.format(Locale.ROOT, Math.abs(microseconds) < 9.95 ? "%.1f" : "%.0f", microseconds);
    }
}
