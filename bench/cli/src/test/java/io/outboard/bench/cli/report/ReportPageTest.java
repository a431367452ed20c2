package io.outboard.bench.cli.report;

import static org.junit.jupiter.api.Assertions.*;

import io.outboard.bench.cli.report.strategies.StrategyParts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportPageTest {

    private static final String HEADING = "operation,liveBytes,extentBytes,regionBytes,deviceUsedBytes\n";
    private static final String HISTOGRAM = "Value Percentile TotalCount 1/(1-Percentile)\n";

    @TempDir
    private Path directory;

    @Test
    void shouldReturnThePageAndLeaveNothingElseBehind() throws IOException {
        ResultFiles.complete(directory);
        final List<String> before = names();

        final Path page = ReportPage.write(directory, StrategyParts.ALL);

        assertEquals(directory.resolve("report.html"), page);
        assertEquals(
                Stream.concat(before.stream(), Stream.of("report.html"))
                        .sorted()
                        .toList(),
                names());
    }

    @Test
    void shouldReplaceAnOlderPage() throws IOException {
        ResultFiles.complete(directory).text("report.html", "old");

        ReportPage.write(directory, StrategyParts.ALL);

        assertTrue(Files.readString(directory.resolve("report.html")).startsWith("<!DOCTYPE html>"));
    }

    @Test
    void shouldMakeTheSamePageOfTheSameResults() throws IOException {
        ResultFiles.complete(directory);

        final String first = Files.readString(ReportPage.write(directory, StrategyParts.ALL));

        assertEquals(first, Files.readString(ReportPage.write(directory, StrategyParts.ALL)));
    }

    @Test
    void shouldAskTheNetworkForNothing() throws IOException {
        ResultFiles.complete(directory);

        final String page = page();

        final String attribute = "(?i)\\b(src|srcset|href|action|poster|data)\\s*=\\s*[\"']?\\s*(https?:|//)";
        assertEquals(List.of(), matches(page, attribute));
        assertEquals(List.of(), matches(page, "@import|\\burl\\(|\\bfetch\\(|XMLHttpRequest|sourceMappingURL"));
        assertEquals(List.of(), matches(page, "<(script|img|iframe|object|embed)[^>]*\\bsrc\\b"));
        assertEquals(
                List.of("https://www.chartjs.org", "https://github.com/kurkle/color#readme"),
                matches(page, "https?://[^\\s\"'<>]+"),
                "only in the libraries' licence notices");
    }

    @Test
    void shouldCarryTheChartLibraryWithItsLicenceNotice() throws IOException {
        ResultFiles.complete(directory);

        final String page = page();

        assertTrue(page.contains("Chart.js v" + ChartLibrary.version()));
        assertTrue(page.contains("Released under the MIT License"));
        assertTrue(page.contains("Charts: Chart.js " + ChartLibrary.version()));
        assertEquals(
                matches(page, "<script\\b").size(), matches(page, "</script>").size());
    }

    @Test
    void shouldHoldTheNumbersInTables() throws IOException {
        ResultFiles.complete(directory);

        final String page = page();

        for (final String cell : List.of(
                "<data value=\"21.5\">21.5\u00A0ns</data>",
                "<data value=\"37650\">37.7\u00A0\u00B5s</data>",
                "<data value=\"1614478205\">1.50\u00A0GiB</data>",
                "<data value=\"0.291\">29.1\u00A0%</data>",
                "<data value=\"8923384\">8.51\u00A0MiB</data>",
                ">1,751\u00A0\u00D7</data>",
                ">1.253</data>",
                "<data value=\"0\">0\u00A0B</data>")) {
            assertTrue(page.contains(cell), cell);
        }
        assertTrue(page.contains("Fastest: <b>tlsf</b>, 21.5\u00A0ns per operation, 1,751\u00A0\u00D7 the speed"));
        assertTrue(page.contains("./outboard malloc-large".replace(" ", "</span> <span>")));
        assertTrue(page.contains("580.65.06"));
    }

    @Test
    void shouldShowTheChartsNumbersInTablesBelowThem() throws IOException {
        ResultFiles.complete(directory);

        final String page = page();

        assertEquals(
                2 * (2 + 4) + 1,
                matches(page, "<canvas role=\"img\" aria-label=\"[^\"]{20,}\"").size());
        assertEquals(2 * (2 + 4) + 2, matches(page, "<details").size(), "one for each chart, and the machine");
        assertTrue(page.contains(
                "<tr><th scope=\"row\">19,800</th><td><data value=\"1288490188\">1.20\u00A0GiB</data></td>"));
    }

    @Test
    void shouldShowAllStrategiesOnAllTracesSideBySide() throws IOException {
        ResultFiles.complete(directory);

        final String page = page();

        final String overview = page.substring(page.indexOf(">All traces</h2>"), page.indexOf(">paper</h2>"));
        assertEquals(2, matches(overview, "<table").size());
        assertEquals(
                2 * 2,
                matches(overview, "<data value=\"21.5\">|<data value=\"37650\">")
                        .size());
        assertEquals(2 * 2, matches(overview, ">1\\.253</data>").size());
    }

    @Test
    void shouldNotRepeatTheOnlyTrace() throws IOException {
        new ResultFiles(directory).strategy("paper", "tlsf", 20);

        assertFalse(
                Files.readString(ReportPage.write(directory, StrategyParts.ALL)).contains("All traces"));
    }

    @Test
    void shouldKeepResultsOfOneTraceAndStrategyApart() throws IOException {
        final String line = "{\"trace\":\"t\",\"strategy\":\"pool\",\"nsPerOp\":1,\"reusePolicy\":";
        new ResultFiles(directory)
                .result(line + "\"STRICT\",\"files\":\"t-pool\"}")
                .result(line + "\"IMMEDIATE\",\"files\":\"t-pool-2\"}")
                .result(line + "\"IMMEDIATE\",\"files\":\"t-pool-3\"}")
                .text("t-pool-free.hgrm", HISTOGRAM + "5 0.0 1 1.0\n7 1.0 2\n")
                .text("t-pool-2-free.hgrm", HISTOGRAM + "50 0.0 1 1.0\n70 1.0 2\n")
                .text("t-pool-3-free.hgrm", HISTOGRAM + "500 0.0 1 1.0\n700 1.0 2\n");

        final String page = page();

        assertEquals(
                List.of("\"y\":[5,7]", "\"y\":[50,70]", "\"y\":[500,700]"), matches(page, "\"y\":\\[[0-9]+,[0-9]+\\]"));
        assertEquals(
                List.of("pool, STRICT", "pool, IMMEDIATE", "pool, IMMEDIATE, 2"),
                matches(page, "(?<=data-series=\")[^\"]+"));
    }

    @Test
    void shouldGiveACurveToOneOfTwoResultsThatShareItsFiles() throws IOException {
        final String line = "{\"trace\":\"t\",\"strategy\":\"s\"}";
        new ResultFiles(directory)
                .result(line)
                .result(line)
                .text("t-s-free.hgrm", HISTOGRAM + "5 0.0 1 1.0\n7 1.0 2\n");

        final String page = page();

        assertEquals(List.of("s"), matches(page, "(?<=data-series=\")[^\"]+"));
    }

    @Test
    void shouldLeaveOutWhatWasNotMeasured() throws IOException {
        new ResultFiles(directory).result("{\"trace\":\"t\",\"strategy\":\"tlsf\",\"nsPerOp\":null,\"hostBytes\":64}");

        final String page = page();

        assertFalse(page.contains("per operation</th>"));
        assertTrue(page.contains("<data value=\"64\">64\u00A0B</data>"));
        for (final String chart : List.of("Latency by", "Memory over time", "<canvas", "Speed over space</h2>")) {
            assertFalse(page.contains(chart), chart);
        }
        assertTrue(page.contains("does not say which machine"));
    }

    @Test
    void shouldSwitchOffARegionThatDwarfsTheTrace() throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf\"}")
                .text("t-tlsf-memory.csv", HEADING + "0,10,12,100,\n1,11,12,100,\n");

        final String page = page();

        assertTrue(page.contains("<button type=\"button\" aria-pressed=\"false\" data-series=\"region\">"));
        assertTrue(page.contains("<button type=\"button\" aria-pressed=\"true\" data-series=\"extent\">"));
        assertTrue(page.contains("switched off in the legend: region."));
    }

    /** The memory between what a pool holds and the live bytes is free. */
    @Test
    void shouldDrawWhatAPoolHoldsThoughARegionDwarfsTheTrace() throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf\"}")
                .text("t-tlsf-memory.csv", HEADING + "0,10,12,100,\n1,11,12,100,\n")
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf pool\",\"reusePolicy\":\"STRICT\","
                        + "\"files\":\"t-pool\"}")
                .text("t-pool-memory.csv", HEADING + "0,10,,13,\n1,11,,14,\n");

        final String page = page();

        assertTrue(page.contains("aria-pressed=\"false\" data-series=\"region\">"));
        assertTrue(page.contains("aria-pressed=\"true\" data-series=\"held\">"));
        assertTrue(page.contains("\"y\":[13,14]"));
    }

    @Test
    void shouldEscapeAHostileTrace() throws IOException {
        final String hostile = "<script>alert('1')<\\/script>\\\"&\\u0000../x";
        new ResultFiles(directory)
                .result("{\"trace\":\"" + hostile + "\",\"strategy\":\"<b>\",\"device\":\"<i>\"}")
                .text("environment.json", "{\"gpu\":\"<u>\",\"</dl>\":\"<s>{{script}}\"}");

        final String page = page();

        assertEquals(List.of(), matches(page, "<script>alert|<b>|<i>|<u>|<s>|&lt;/script&gt;\"|\\u0000"));
        assertTrue(page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;\uFFFD../x"));
        assertTrue(page.contains("{{script}}"), "what is filled in is not filled again");
    }

    @Test
    void shouldEscapeWhatItEmbedsForTheScript() throws IOException {
        final String strategy = "a<!--\u2028b";
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"" + strategy + "\"}")
                .text("t-" + strategy + "-free.hgrm", HISTOGRAM + "5 0.0 1 1.0\n7 1.0 2\n");

        final String page = page();

        assertTrue(page.contains("{\"name\":\"a\\u003c!--\\u2028b\",\"colour\":"));
        assertTrue(page.contains("\"x\":[0,0.301],\"y\":[5,7]}"));
        assertFalse(page.contains("<!--"));
    }

    @Test
    void shouldRefuseAMissingFolder() {
        final Path missing = directory.resolve("missing");

        assertMessage(missing + ": must be a folder with result files", missing);
    }

    /** In old folders, the files ended in .json. */
    @Test
    void shouldReadAnOldFolder() throws IOException {
        ResultFiles.complete(directory);
        final String today = Files.readString(ReportPage.write(directory, StrategyParts.ALL));
        Files.move(directory.resolve("results.jsonl"), directory.resolve("results.json"));

        assertEquals(today, Files.readString(ReportPage.write(directory, StrategyParts.ALL)));
    }

    @Test
    void shouldRefuseAFolderWithoutResults() {
        assertMessage(directory + ": must contain advice.jsonl or results.jsonl or threads.jsonl or", directory);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, textBlock = """
            results.jsonl         | ''                                   | 1: must hold at least one JSON object
            results.jsonl         | {"trace":"t","strategy":"s"}\\n{"a":1 | 2: column 7: a comma or }
            results.jsonl         | {"strategy":"s"}                     | 1: key "trace" must be there
            results.jsonl         | {"trace":"t","strategy":"s","ops":""} | 1: key "ops" must be a number or null
            environment.json     | {\\n"gpu": true}                      | 2: column 8: a value must be a string
            t-s-allocate.hgrm    | 19 0.5 2 2.0                         | 1: must be the heading
            t-s-allocate.hgrm    | HISTOGRAM19 0.5                      | 2: must have 3 or 4 columns, has 2
            t-s-allocate.hgrm    | HISTOGRAM19 x 3                      | 2: x must be a number >= 0
            t-s-allocate.hgrm    | HISTOGRAM19 1.5 3                    | 2: percentile 1.5 must be <= 1
            t-s-allocate.hgrm    | #[Mean = 1]                          | 1: must have the heading
            t-s-free.hgrm        | # a\\nHISTOGRAM19 0.5 3\\n18 1 6       | 4: no column may fall
            t-s-free.hgrm        | HISTOGRAM19 0.5 3                    | 2: the last percentile must be 1
            t-s-memory.csv       | operation,liveBytes                  | 1: must be the heading operation,
            t-s-memory.csv       | # a                                  | 1: must have the heading operation,
            t-s-memory.csv       | HEADING0,1,2,3                       | 2: must have 5 columns, has 4
            t-s-memory.csv       | HEADING0,1.5,2,3,                    | 2: liveBytes=1.5 must be a whole number
            t-s-memory.csv       | HEADING5,1,2,3,\\n4,1,2,3,            | 3: operation must not fall
            """)
    void shouldNameFileLineAndRuleOfAMalformedFile(final String name, final String content, final String message)
            throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"s\"}")
                .text("report.html", "old")
                .text(
                        name,
                        content.replace("\\n", "\n")
                                .replace("HISTOGRAM", HISTOGRAM)
                                .replace("HEADING", HEADING));
        final List<String> before = names();

        assertMessage(directory.resolve(name) + ":" + message, directory);

        assertEquals(before, names());
        assertEquals("old", Files.readString(directory.resolve("report.html")));
    }

    @Test
    void shouldRefuseResultsThatAreNotText() throws IOException {
        Files.write(directory.resolve("results.jsonl"), "{\"trace\":\"\u00FC\"}".getBytes(StandardCharsets.ISO_8859_1));

        assertMessage(directory.resolve("results.jsonl") + ": must be text in UTF-8", directory);
    }

    /** The first screen says what a reader came for; the machine comes after it. */
    @Test
    void shouldSayTheResultFirst() throws IOException {
        ResultFiles.complete(directory);

        final String page = page();

        final String first =
                page.substring(page.indexOf("<div class=\"first\">"), page.indexOf("<dl class=\"environment\">"));
        assertTrue(
                first.contains(
                        "<h1>On trace paper, an allocation with strategy tlsf takes 21.5\u00A0ns at the median, 1,751"
                                + " times faster than cudaMalloc (37.7\u00A0\u00B5s) and 77.2 times faster than cuMemAllocAsync"),
                first.substring(0, 400));
        assertEquals(
                2,
                matches(first, ">p99.9</text>\n<rect[^>]*fill:var\\(--baseline-0\\)")
                        .size(),
                "wide and narrow");
        assertTrue(first.contains("malloc-large"));
        assertFalse(first.contains("580.65.06"));
        assertTrue(page.contains("580.65.06"));
    }

    /** A strategy that fails is quick, because it does nothing. */
    @Test
    void shouldNotPraiseWhatFails() throws IOException {
        final String line =
                "{\"trace\":\"t\",\"strategy\":\"%s\",\"nsPerOp\":%d,\"failures\":%d,\"peakLiveBytes\":10,\"smallestRegionBytes\":11}";
        new ResultFiles(directory)
                .result(line.formatted("bitmask", 1, 7))
                .result(line.formatted("tlsf", 5, 0))
                .result(line.formatted("pooled", 6, 0));

        final String page = page();

        assertTrue(
                page.contains("<h1>On trace t, tlsf is the fastest of 2 strategies"),
                page.substring(page.indexOf("<h1>"), page.indexOf("</h1>")));
        assertTrue(page.contains("Fastest: <b>tlsf</b>"));
        assertFalse(page.contains("\"name\":\"bitmask\""), "no point among those that served");
    }

    /**
     * A curve has a limited number of rows, so a number read off it was once up to 14 % off the number in the results.
     */
    @Test
    void shouldShowOneNumberForAPercentileEverywhere() throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf\",\"allocate\":{\"p50\":10,\"p99\":100,\"p999\":1000}}")
                .text(
                        "t-tlsf-allocate.hgrm",
                        HISTOGRAM + "10 0.5 500 2\n114 0.9906 991 2\n1140 0.9991 999 2\n2000 1.0 1000\n");

        final String page = page();

        assertEquals(List.of("<data value=\"100\">"), matches(page, "<data value=\"1[01][04]\">"));
        assertEquals(List.of("<data value=\"1000\">"), matches(page, "<data value=\"1[01][04]0\">"));
        assertFalse(page.contains("114\u00A0ns"));
    }

    @Test
    void shouldDrawLatencyByOperationNumber() throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf\"}")
                .text(
                        "t-tlsf-operations.csv",
                        "# command: x\noperation,medianNs,maxNs\n1,9000,9000\n2,80,85\n10,40,2000\n");

        final String page = page();

        assertTrue(page.contains("Latency by operation number"));
        assertTrue(page.contains("\"x\":[1,2,10],\"y\":[9000,85,2000]"));
        assertTrue(page.contains("\"x\":[1,2,10],\"y\":[9000,80,40]"));
    }

    /** Before the first operation, only other programs' memory is in use on the device, no live bytes. */
    @Test
    void shouldDrawTheDevicesMemoryLessWhatWasInUseAtTheStart() throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"cudaMalloc\"}")
                .result("{\"trace\":\"t\",\"strategy\":\"cuMemAllocAsync\"}")
                .text("t-cudaMalloc-memory.csv", HEADING + "0,0,,,500\n5,100,,,700\n9,50,,,650\n")
                .text("t-cuMemAllocAsync-memory.csv", HEADING + "5,100,,,700\n9,50,,,650\n");

        final String page = page();

        assertTrue(page.contains("\"x\":[0,5,9],\"y\":[0,200,150]"));
        assertTrue(page.contains("\"x\":[5,9],\"y\":[100,50]"), "as if all but live bytes had been there");
        assertTrue(page.contains("\"x\":[0,5,9],\"y\":[200,200,200]"), "half in use");
    }

    @Test
    void shouldMakeAPictureThatStandsAlone() throws IOException {
        ResultFiles.complete(directory);
        final Path picture = directory.resolve("latency.svg");

        StrategyParts.writePicture(directory, picture);

        final String svg = Files.readString(picture);
        assertTrue(svg.startsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assertTrue(svg.contains("prefers-color-scheme: dark"));
        for (final String text : List.of(
                ">cudaMalloc<", ">cuMemAllocAsync<", ">tlsf<", ">p99.9<", ">37.7\u00A0\u00B5s<", ">1\u00A0\u00B5s<")) {
            assertTrue(svg.contains(text), text);
        }
        assertEquals(
                List.of(),
                matches(svg, "--[a-z0-9-]+(?=\\))").stream()
                        .filter(name -> !svg.contains(name + ": "))
                        .toList());
    }

    @Test
    void shouldRefuseAPictureOfNoLatencies() throws IOException {
        new ResultFiles(directory).result("{\"trace\":\"t\",\"strategy\":\"tlsf\"}");

        final Path picture = directory.resolve("latency.svg");

        assertThrows(IllegalArgumentException.class, () -> StrategyParts.writePicture(directory, picture));
        assertFalse(Files.exists(picture));
    }

    /** Returns the page without the headings of numbers that a phone shows, which each cell repeats. */
    private String page() throws IOException {
        return Files.readString(ReportPage.write(directory, StrategyParts.ALL)).replaceAll(" data-of=\"[^\"]*\"", "");
    }

    private static void assertMessage(final String start, final Path folder) {
        final String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> ReportPage.write(folder, StrategyParts.ALL))
                        .getMessage());
        assertTrue(message.startsWith(start), message);
        assertFalse(message.contains("\n"), message);
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.toFile().getName()).sorted().toList();
        }
    }

    private static List<String> matches(final String text, final String expression) {
        return Pattern.compile(expression)
                .matcher(text)
                .results()
                .map(MatchResult::group)
                .toList();
    }
}
