package io.outboard.bench.cli.report;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * This class builds a JSON object on one line, with keys in the order in which they were put. Null and numbers that
 * aren't finite become {@code null}. Confined to one thread.
 */
public final class JsonLine {

    private final StringBuilder text = new StringBuilder("{");

    /** Makes an object without keys. */
    public JsonLine() {}

    /**
     * Adds a text.
     *
     * @param key name of the member, not put before
     * @param value the text; null becomes null
     * @return this
     */
    public JsonLine put(final String key, final @Nullable String value) {
        return value == null ? putRaw(key, "null") : putRaw(key, quote(value));
    }

    /**
     * Adds a whole number.
     *
     * @param key name of the member, not put before
     * @param value the number; null becomes null
     * @return this
     */
    public JsonLine put(final String key, final @Nullable Long value) {
        return putRaw(key, String.valueOf(value));
    }

    /**
     * Adds a number.
     *
     * @param key name of the member, not put before
     * @param value the number; becomes null if it isn't finite, since JSON has no such numbers
     * @param decimals how many digits behind the point to keep, 0 or more
     * @return this
     */
    public JsonLine put(final String key, final double value, final int decimals) {
        return putRaw(key, Double.isFinite(value) ? String.format(Locale.ROOT, "%." + decimals + "f", value) : "null");
    }

    /**
     * Adds an object.
     *
     * @param key name of the member, not put before
     * @param object the object
     * @return this
     */
    public JsonLine put(final String key, final JsonLine object) {
        return putRaw(key, object.toString());
    }

    private JsonLine putRaw(final String key, final String value) {
        text.append(text.length() == 1 ? "" : ",")
                .append(quote(key))
                .append(':')
                .append(value);
        return this;
    }

    @Override
    public String toString() {
        return text + "}";
    }

    private static String quote(final String value) {
        final StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            final char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c == '\u2028' || c == '\u2029') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
