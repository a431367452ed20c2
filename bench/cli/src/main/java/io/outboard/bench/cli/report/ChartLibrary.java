package io.outboard.bench.cli.report;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.Properties;

/** This class loads Chart.js from the class path and makes it safe to embed in a page. */
final class ChartLibrary {

    private static final String DESCRIPTOR = "/META-INF/maven/org.webjars.npm/chart.js/pom.properties";

    private ChartLibrary() {}

    /** Returns the version on the class path, which the build determines. */
    static String version() {
        final Properties descriptor = new Properties();
        try {
            descriptor.load(new StringReader(Template.load(DESCRIPTOR)));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return descriptor.getProperty("version", "");
    }

    /** Returns the library's script, including its licence notice. */
    static String script() {
        final String path = "/META-INF/resources/webjars/chart.js/" + version() + "/dist/chart.umd.js";
        // The source map's address is removed, because a browser's developer tools would look for it beside the page.
        return embeddable(Template.load(path)).replaceAll("(?m)^//# sourceMappingURL=.*$", "");
    }

    /**
     * Escapes whatever would end the script element or open a comment; a JavaScript string means the same with the
     * escapes.
     */
    static String embeddable(final String script) {
        return script.replaceAll("(?i)</(script)", "<\\\\/$1").replace("<!--", "<\\!--");
    }
}
