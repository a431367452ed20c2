package io.outboard.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** This class compares what docs/spark.md says with the code. */
class SparkPageTest {

    private static final Pattern OPTION =
            Pattern.compile("^\\| `(spark\\.outboard\\.\\w+)` \\| (?:`([^`]+)`|[\\w ]+) \\|", Pattern.MULTILINE);
    private static final Pattern FIGURE = Pattern.compile("`((?:pool|lease|task)\\.\\w+)`");

    private final String page;

    SparkPageTest() throws IOException {
        page = Files.readString(Path.of("../../docs/spark.md"));
    }

    @Test
    void shouldListEachOptionWithItsDefault() {
        final Map<String, String> listed = new HashMap<>();
        OPTION.matcher(page)
                .results()
                .forEach(row -> listed.put(row.group(1), row.group(2) == null ? "" : row.group(2)));

        assertEquals(new TreeSet<>(ExecutorOptions.ALL), new TreeSet<>(listed.keySet()));
        assertEquals(ExecutorOptions.DEFAULT_NAME, listed.get(ExecutorOptions.NAME));
        assertEquals(ExecutorOptions.DEFAULT_KEEP, listed.get(ExecutorOptions.KEEP));
    }

    @Test
    void shouldListEachFigure() {
        final MetricRegistry metrics = new MetricRegistry();
        new ExecutorMemory(new FakePool(1 << 20)).show(metrics);

        final Set<String> listed = FIGURE.matcher(page.substring(page.indexOf("## Figures")))
                .results()
                .map(name -> name.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(metrics.getNames()), listed);
    }

    @Test
    void shouldShowTheLineThatErrorsShow() {
        final String line = ExecutorMemory.startLine(0, "/run/outboard/gpu0.sock");

        assertTrue(page.contains("    " + line + " "), line);
    }

    @Test
    void shouldNameTheTestedSpark() {
        assertTrue(page.contains("tested with Spark " + org.apache.spark.package$.MODULE$.SPARK_VERSION() + ","));
    }
}
