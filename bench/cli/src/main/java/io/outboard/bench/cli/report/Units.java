package io.outboard.bench.cli.report;

import java.util.Locale;

/**
 * Numbers as people read them: three digits and a unit, set apart by a no-break space. NaN, which stands for "not
 * measured", becomes a dash.
 */
public final class Units {

    private static final char SPACE = '\u00A0';
    private static final String[] TIMES = {"ns", "\u00B5s", "ms", "s"};
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

    private Units() {}

    /**
     * Nanoseconds, as ns, us (with the Greek letter), ms or s.
     *
     * @param ns nanoseconds, or NaN
     * @return the text; a dash for NaN
     */
    public static String time(final double ns) {
        return scaled(ns, 1000, TIMES);
    }

    /**
     * Bytes, as B, KiB, MiB and so on.
     *
     * @param bytes bytes, or NaN
     * @return the text; a dash for NaN
     */
    public static String bytes(final double bytes) {
        return scaled(bytes, 1024, SIZES);
    }

    /**
     * A whole number with its thousands set apart.
     *
     * @param count a whole number, or NaN
     * @return the text; a dash for NaN
     */
    public static String count(final double count) {
        return Double.isNaN(count) ? Html.NONE : String.format(Locale.ROOT, "%,.0f", count);
    }

    /**
     * A fraction from 0 to 1 in percent.
     *
     * @param fraction 0 to 1, or NaN
     * @return the text; a dash for NaN
     */
    public static String percent(final double fraction) {
        return Double.isNaN(fraction) ? Html.NONE : String.format(Locale.ROOT, "%.1f%c%%", fraction * 100, SPACE);
    }

    /**
     * A quotient of two sizes that are close to each other: three decimals.
     *
     * @param ratio a quotient, or NaN
     * @return the text; a dash for NaN
     */
    public static String ratio(final double ratio) {
        return Double.isNaN(ratio) ? Html.NONE : String.format(Locale.ROOT, "%.3f", ratio);
    }

    /**
     * A factor of speed: three digits, thousands set apart, and the multiplication sign.
     *
     * @param factor a quotient, or NaN
     * @return the text; a dash for NaN
     */
    public static String factor(final double factor) {
        return Double.isNaN(factor) ? Html.NONE : digits(factor) + SPACE + "\u00D7";
    }

    /** A time that is a power of ten, as an axis has it: without digits behind the point. */
    public static String tick(final double ns) {
        return time(ns).replaceAll("\\.0+", "");
    }

    /** A factor without the sign, whole ones without digits behind the point. */
    public static String plainFactor(final double factor) {
        final double whole = Math.rint(factor);
        return factor > 0 && Math.abs(factor - whole) < 1e-9 && whole >= 1
                ? count(whole)
                : factor > 0 && factor < 0.01 ? String.format(Locale.ROOT, "%.3f", factor) : number(factor);
    }

    /**
     * A number that is neither large nor whole: three digits.
     *
     * @param number a number, or NaN
     * @return the text; a dash for NaN
     */
    public static String number(final double number) {
        return Double.isNaN(number) ? Html.NONE : digits(number);
    }

    /** A percentile from 0 to 1 as short as it is exact, such as 99.9 %; the two ends by name. */
    public static String percentile(final double percentile) {
        if (percentile == 0 || percentile == 1) {
            return percentile == 0 ? "min" : "max";
        }
        final String digits = String.format(Locale.ROOT, "%.6f", percentile * 100);
        return digits.replaceAll("\\.?0+$", "") + SPACE + "%";
    }

    private static String scaled(final double value, final int step, final String[] units) {
        if (Double.isNaN(value)) {
            return Html.NONE;
        }
        double scaled = value;
        int unit = 0;
        // Half a unit below the step is where whole digits would round up to it: 1.00 us, never 1000 ns.
        while (Math.abs(scaled) >= step - 0.5 && unit < units.length - 1) {
            scaled /= step;
            unit++;
        }
        final boolean exact = unit == 0 && scaled == Math.rint(scaled);
        return (exact ? count(scaled) : digits(scaled)) + SPACE + units[unit];
    }

    private static String digits(final double value) {
        final double magnitude = Math.abs(value);
        // The limits are those at which rounding to the finer form would show a fourth digit.
        final String format = magnitude < 9.995 ? "%.2f" : magnitude < 99.95 ? "%.1f" : "%,.0f";
        return String.format(Locale.ROOT, format, value);
    }
}
