package io.outboard.bench.cli.report.strategies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.ResultFiles;
import io.outboard.bench.cli.report.ResultFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultHeadlineTest {

    private static final List<String> NAMES = List.of("tlsf", "pooled", "segregated-fit", "hal-best-fit");
    private static final Pattern NAMED =
            Pattern.compile("(?:On|Over)[^,]*, (.*?) (?:is the fastest of (\\d+) |are equally fast )(.*)");

    @TempDir
    private Path directory;

    /** Times are drawn at random, close to each other or not, with some noise from turn to turn. */
    @Test
    void shouldNeverContradictTheBarsBelow() throws IOException {
        int alone = 0;
        int several = 0;
        for (int seed = 0; seed < 300; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final int traces = 1 + random.nextInt(3);
            write(random, traces);

            final Headline headline = headline();

            final Matcher sentence = NAMED.matcher(headline.sentence());
            assertTrue(sentence.matches(), headline.sentence());
            final List<String> named = List.of(sentence.group(1).split(", | and "));
            final Map<String, Double> drawn = drawn(headline);
            assertEquals(NAMES.size(), drawn.size());
            final double slowestNamed = named.stream()
                    .mapToDouble(name -> drawn.getOrDefault(name, Double.NaN))
                    .max()
                    .orElseThrow();
            drawn.forEach((name, ns) -> assertTrue(
                    named.contains(name) || ns >= slowestNamed, name + " is drawn shorter: " + headline.sentence()));
            assertEquals(
                    named.get(0), drawn.keySet().iterator().next(), "the first bar is the first that the words name");
            assertTrue(sentence.group(3).contains(text(drawn.values().iterator().next())), headline.sentence());
            alone += named.size() == 1 ? 1 : 0;
            several += named.size() > 1 ? 1 : 0;
        }

        assertTrue(alone > 30 && several > 30, alone + " and " + several);
    }

    /** Beside the driver, the sentence and the bars are medians of an allocation. */
    @Test
    void shouldSayTheMediansThatAreDrawn() throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf\",\"nsPerOp\":469,\"allocate\":{\"p50\":26,\"p99\":155}}")
                .result("{\"trace\":\"t\",\"strategy\":\"cudaMalloc\",\"nsPerOp\":1,\"allocate\":{\"p50\":260}}");

        final Headline headline = headline();

        assertEquals(
                "An allocation with strategy tlsf takes 26\u00A0ns at the median, 10 times faster than cudaMalloc"
                        + " (260\u00A0ns).",
                headline.sentence());
        final String bars = headline.bars().get(0).html();
        assertTrue(bars.contains("tlsf: p50 26\u00A0ns;") && bars.contains("cudaMalloc: p50 260\u00A0ns;"), bars);
    }

    /** One set of data makes the sentence and the bars, and the table of a page that says medians, too. */
    @Test
    void shouldSayTheMediansOfProcesses() throws IOException {
        final StringBuilder processes = new StringBuilder();
        for (final int ns : new int[] {30, 20, 25}) {
            processes.append("""
                    {"trace":"t","strategy":"tlsf","reusePolicy":"STRICT","threads":1}
                    {"trace":"t","strategy":"tlsf","allocate":{"p50":%d}}
                    {"trace":"t","strategy":"cudaMalloc","allocate":{"p50":%d}}
                    """.formatted(ns, 10 * ns));
        }
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf\",\"allocate\":{\"p50\":999}}")
                .text("processes.jsonl", processes.toString());

        final Headline headline = headline();

        assertEquals(
                "An allocation with strategy tlsf takes 25\u00A0ns at the median, 10 times faster than cudaMalloc"
                        + " (250\u00A0ns).",
                headline.sentence());
        final String bars = headline.bars().get(0).html();
        assertTrue(bars.contains("Allocate, medians of 3 processes. "), bars);
        assertTrue(bars.contains("tlsf: p50 25\u00A0ns;") && bars.contains("cudaMalloc: p50 250\u00A0ns;"), bars);
    }

    private void write(final SplittableRandom random, final int traces) throws IOException {
        Files.deleteIfExists(directory.resolve("results.jsonl"));
        final double apart = 3 * random.nextDouble();
        for (int trace = 0; trace < traces; trace++) {
            for (final String name : NAMES) {
                final double ns = 100 * (1 + apart * random.nextDouble());
                final List<String> turns = new ArrayList<>();
                double least = Double.POSITIVE_INFINITY;
                for (int turn = 1; turn <= 5; turn++) {
                    final double noisy = Math.rint(100 * ns * (1 + 0.2 * random.nextDouble())) / 100;
                    least = Math.min(least, noisy);
                    turns.add(String.format(Locale.ROOT, "\"%d\":%.2f", turn, noisy));
                }
                new ResultFiles(directory)
                        .result(String.format(
                                Locale.ROOT,
                                "{\"trace\":\"t%d\",\"strategy\":\"%s\",\"nsPerOp\":%.2f,\"turnsNs\":{%s},"
                                        + "\"allocate\":{\"p50\":%d}}",
                                trace,
                                name,
                                least,
                                String.join(",", turns),
                                random.nextInt(20, 30)));
            }
        }
    }

    private Headline headline() throws IOException {
        return new ResultHeadline(
                        ResultFolder.open(directory, StrategyParts.ALL).headlineResults())
                .headline();
    }

    /** Reads the chart's numbers as those do who can't see the bars. */
    private static Map<String, Double> drawn(final Headline headline) {
        assertEquals(1, headline.bars().size());
        final String html = headline.bars().get(0).html();
        final Map<String, Double> drawn = new LinkedHashMap<>();
        final Matcher bars = Pattern.compile("([a-z-]+):  (\\d+)\u00A0ns;")
                .matcher(html.substring(html.indexOf("aria-label"), html.indexOf("\">", html.indexOf("aria-label"))));
        while (bars.find()) {
            drawn.put(bars.group(1), Double.parseDouble(bars.group(2)));
        }
        return drawn;
    }

    private static String text(final double ns) {
        return String.format(Locale.ROOT, "%.0f\u00A0ns", ns);
    }
}
