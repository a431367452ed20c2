package io.outboard.bench.cli.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * This class loads the page's HTML, style and script, which are resources beside this class; places to fill look like
 * {{name}}.
 */
public final class Template {

    private static final Pattern PLACE = Pattern.compile("\\{\\{([a-zA-Z]+)}}");

    private Template() {}

    /**
     * Loads a resource as it is.
     *
     * @param name file name beside this class, or an absolute name on the class path
     * @return the text
     * @throws IllegalStateException if there is no such resource
     */
    public static String load(final String name) {
        try (InputStream resource = Template.class.getResourceAsStream(name)) {
            if (resource == null) {
                throw new IllegalStateException("resource " + name + " must be on the class path");
            }
            return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Loads a resource and fills its places in one pass; a filled-in value is not searched for places.
     *
     * @param name file name beside this class
     * @param values a value for every place, already escaped for where it stands
     * @return the text
     * @throws IllegalStateException if there is no such resource, or a place without a value
     */
    public static String fill(final String name, final Map<String, String> values) {
        return PLACE.matcher(load(name)).replaceAll(place -> {
            final String value = values.get(place.group(1));
            if (value == null) {
                throw new IllegalStateException("place " + place.group() + " of " + name + " must have a value");
            }
            return Matcher.quoteReplacement(value);
        });
    }
}
