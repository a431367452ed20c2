package io.outboard.bench.cli.report;

import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * This class formats numbers for people: three digits and a unit, separated by a no-break space. NaN, which stands for
 * "not measured", becomes a dash.
 */
public final class Units {

    private static final char SPACE = '\u00A0';
    private static final String[] TIMES = {"ns", "\u00B5s", "ms", "s"};
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

    /** A share of the time that may be the machine's own. */
    private static final double LEAST_BUSY = 0.05;

    private Units() {}

    /**
     * Formats nanoseconds, as ns, us (with the Greek letter), ms or s.
     *
     * @param ns nanoseconds, or NaN
     * @return the text; a dash for NaN
     */
    public static String time(final double ns) {
        return scaled(ns, 1000, TIMES);
    }

    /**
     * Formats bytes, as B, KiB, MiB and so on.
     *
     * @param bytes bytes, or NaN
     * @return the text; a dash for NaN
     */
    public static String bytes(final double bytes) {
        return scaled(bytes, 1024, SIZES);
    }

    /**
     * Formats a whole number with its thousands separated.
     *
     * @param count a whole number, or NaN
     * @return the text; a dash for NaN
     */
    public static String count(final double count) {
        return Double.isNaN(count) ? Html.NONE : String.format(Locale.ROOT, "%,.0f", count);
    }

    /**
     * Formats a fraction from 0 to 1 in percent.
     *
     * @param fraction 0 to 1, or NaN
     * @return the text; a dash for NaN
     */
    public static String percent(final double fraction) {
        return Double.isNaN(fraction) ? Html.NONE : String.format(Locale.ROOT, "%.1f%c%%", fraction * 100, SPACE);
    }

    /**
     * Formats a quotient of two sizes that are close to each other, with three decimals.
     *
     * @param ratio a quotient, or NaN
     * @return the text; a dash for NaN
     */
    public static String ratio(final double ratio) {
        return Double.isNaN(ratio) ? Html.NONE : String.format(Locale.ROOT, "%.3f", ratio);
    }

    /**
     * Formats a factor of speed, with three digits, thousands separated, and the multiplication sign.
     *
     * @param factor a quotient, or NaN
     * @return the text; a dash for NaN
     */
    public static String factor(final double factor) {
        return Double.isNaN(factor) ? Html.NONE : digits(factor) + SPACE + "\u00D7";
    }

    /** Formats a time that is a power of ten for an axis, without digits behind the point. */
    public static String tick(final double ns) {
        return time(ns).replaceAll("\\.0+", "");
    }

    /** Formats a factor without the sign; whole factors have no digits behind the point. */
    public static String plainFactor(final double factor) {
        final double whole = Math.rint(factor);
        return factor > 0 && Math.abs(factor - whole) < 1e-9 && whole >= 1
                ? count(whole)
                : factor > 0 && factor < 0.01 ? String.format(Locale.ROOT, "%.3f", factor) : number(factor);
    }

    /**
     * Formats a number that is neither large nor whole, with three digits.
     *
     * @param number a number, or NaN
     * @return the text; a dash for NaN
     */
    public static String number(final double number) {
        return Double.isNaN(number) ? Html.NONE : digits(number);
    }

    /** Formats a percentile from 0 to 1 as short as it is exact, such as 99.9 %; 0 and 1 become min and max. */
    public static String percentile(final double percentile) {
        if (percentile == 0 || percentile == 1) {
            return percentile == 0 ? "min" : "max";
        }
        final String digits = String.format(Locale.ROOT, "%.6f", percentile * 100);
        return digits.replaceAll("\\.?0+$", "") + SPACE + "%";
    }

    /**
     * Says that a machine was busy.
     *
     * @param shares of the time, in which other programs had the processor; may have NaN
     * @return a sentence, or nothing if the machine wasn't
     */
    public static String busy(final DoubleStream shares) {
        final double most = shares.filter(share -> share >= LEAST_BUSY).max().orElse(Double.NaN);
        return Double.isNaN(most)
                ? ""
                : "The machine was busy: other programs had up to " + percent(most)
                        + " of the processor's time. A strategy's time per operation is without that; high percentiles"
                        + " aren't.";
    }

    private static String scaled(final double value, final int step, final String[] units) {
        if (Double.isNaN(value)) {
            return Html.NONE;
        }
        double scaled = value;
        int unit = 0;
        // From half a unit below the step on, whole digits would round up to the step: 1.00 us is shown, never 1000 ns.
        while (Math.abs(scaled) >= step - 0.5 && unit < units.length - 1) {
            scaled /= step;
            unit++;
        }
        final boolean exact = unit == 0 && scaled == Math.rint(scaled);
        return (exact ? count(scaled) : digits(scaled)) + SPACE + units[unit];
    }

    private static String digits(final double value) {
        final double magnitude = Math.abs(value);
        // At these limits, rounding to the finer form would show a fourth digit.
        final String format = magnitude < 9.995 ? "%.2f" : magnitude < 99.95 ? "%.1f" : "%,.0f";
        return String.format(Locale.ROOT, format, value);
    }
}
