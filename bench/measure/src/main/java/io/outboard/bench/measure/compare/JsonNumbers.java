package io.outboard.bench.measure.compare;

import java.util.Locale;

/** The class formats numbers of results as they are, whole ones without a decimal point. */
final class JsonNumbers {

    private JsonNumbers() {}

    static String text(final double number) {
        if (Double.isNaN(number)) {
            return "none";
        }
        return number == Math.rint(number)
                ? String.format(Locale.ROOT, "%,.0f", number)
                : String.format(Locale.ROOT, "%,.3f", number);
    }
}
