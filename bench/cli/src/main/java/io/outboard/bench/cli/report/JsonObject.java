package io.outboard.bench.cli.report;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The class holds one JSON object of a result file: strings, numbers, nulls, and objects of these values one level
 * down.
 *
 * <p>An absent key and a key whose value is null mean the same: not measured. Immutable, so safe for any number of
 * threads.
 */
public final class JsonObject {

    private final String where;
    private final Map<String, @Nullable Object> members;

    JsonObject(final String where, final Map<String, @Nullable Object> members) {
        this.where = where;
        this.members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
    }

    /** Returns the keys, in the order of the file. */
    public Set<String> keys() {
        return members.keySet();
    }

    /** Returns where the object stands, file and line, for error messages. */
    String where() {
        return where;
    }

    /**
     * Returns a string, or a number as text.
     *
     * @return the text, or "" if the value is null or absent
     * @throws IllegalArgumentException if the value is an object
     */
    public String text(final String key) {
        final Object value = members.get(key);
        if (value == null) {
            return "";
        }
        if (value instanceof Double number) {
            return number == Math.rint(number) && Math.abs(number) < 1e15
                    ? Long.toString(number.longValue())
                    : number.toString();
        }
        return expect(key, value, String.class, "a string");
    }

    /**
     * Returns a string that must be present.
     *
     * @throws IllegalArgumentException if the value is null, absent, empty or not a string
     */
    public String requiredText(final String key) {
        final String text = text(key);
        if (text.isEmpty()) {
            throw new IllegalArgumentException(where + ": key \"" + key + "\" must be there and must not be empty");
        }
        return text;
    }

    /**
     * Returns a number.
     *
     * @return the number, or NaN if the value is null or absent
     * @throws IllegalArgumentException if the value is a string or an object
     */
    public double number(final String key) {
        final Object value = members.get(key);
        return value == null ? Double.NaN : expect(key, value, Double.class, "a number or null");
    }

    /**
     * Returns a nested object.
     *
     * @return the object; an empty one if the value is null or absent
     * @throws IllegalArgumentException if the value is a string or a number
     */
    public JsonObject object(final String key) {
        final Object value = members.get(key);
        return value == null
                ? new JsonObject(where, Map.of())
                : expect(key, value, JsonObject.class, "an object or null");
    }

    private <T> T expect(final String key, final Object value, final Class<T> type, final String rule) {
        if (!type.isInstance(value)) {
            throw new IllegalArgumentException(where + ": key \"" + key + "\" must be " + rule);
        }
        return type.cast(value);
    }
}
