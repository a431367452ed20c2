package io.outboard.bench.cli.report;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.Properties;

/** Chart.js as it lies on the class path, in the shape in which a page can carry it. */
final class ChartLibrary {

    private static final String DESCRIPTOR = "/META-INF/maven/org.webjars.npm/chart.js/pom.properties";

    private ChartLibrary() {}

    /** The version on the class path; the build alone decides it. */
    static String version() {
        final Properties descriptor = new Properties();
        try {
            descriptor.load(new StringReader(Template.load(DESCRIPTOR)));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return descriptor.getProperty("version", "");
    }

    /** The library's script, its licence notice included. */
    static String script() {
        final String path = "/META-INF/resources/webjars/chart.js/" + version() + "/dist/chart.umd.js";
        // A browser's developer tools would look for the source map beside the page.
        return embeddable(Template.load(path)).replaceAll("(?m)^//# sourceMappingURL=.*$", "");
    }

    /**
     * A script in which nothing ends the script element or opens a comment; inside a JavaScript string both are equal.
     */
    static String embeddable(final String script) {
        return script.replaceAll("(?i)</(script)", "<\\\\/$1").replace("<!--", "<\\!--");
    }
}
