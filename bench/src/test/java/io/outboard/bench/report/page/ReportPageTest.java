package io.outboard.bench.report.page;

import static org.junit.jupiter.api.Assertions.*;

import io.outboard.bench.report.ResultFiles;
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

        final Path page = ReportPage.write(directory);

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

        ReportPage.write(directory);

        assertTrue(Files.readString(directory.resolve("report.html")).startsWith("<!DOCTYPE html>"));
    }

    @Test
    void shouldMakeTheSamePageOfTheSameResults() throws IOException {
        ResultFiles.complete(directory);

        final String first = Files.readString(ReportPage.write(directory));

        assertEquals(first, Files.readString(ReportPage.write(directory)));
    }

    @Test
    void shouldAskTheNetworkForNothing() throws IOException {
        ResultFiles.complete(directory);

        final String page = Files.readString(ReportPage.write(directory));

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

        final String page = Files.readString(ReportPage.write(directory));

        assertTrue(page.contains("Chart.js v" + ChartLibrary.version()));
        assertTrue(page.contains("Released under the MIT License"));
        assertTrue(page.contains("Charts: Chart.js " + ChartLibrary.version()));
        assertEquals(
                matches(page, "<script\\b").size(), matches(page, "</script>").size());
    }

    @Test
    void shouldHoldTheNumbersInTables() throws IOException {
        ResultFiles.complete(directory);

        final String page = Files.readString(ReportPage.write(directory));

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
        assertTrue(page.contains("Fastest: <b>tlsf</b>, 21.5\u00A0ns an operation, 1,751\u00A0\u00D7 the speed"));
        assertTrue(page.contains("./outboard malloc-large".replace(" ", "</span> <span>")));
        assertTrue(page.contains("580.65.06"));
    }

    @Test
    void shouldShowTheChartsNumbersInTablesBelowThem() throws IOException {
        ResultFiles.complete(directory);

        final String page = Files.readString(ReportPage.write(directory));

        assertEquals(
                2 * (2 + 4),
                matches(page, "<canvas role=\"img\" aria-label=\"[^\"]{20,}\"").size());
        assertEquals(2 * (2 + 4), matches(page, "<details").size());
        assertTrue(page.contains(
                "<tr><th scope=\"row\">19,800</th><td><data value=\"1288490188\">1.20\u00A0GiB</data></td>"));
    }

    @Test
    void shouldShowAllStrategiesOnAllTracesSideBySide() throws IOException {
        ResultFiles.complete(directory);

        final String page = Files.readString(ReportPage.write(directory));

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

        assertFalse(Files.readString(ReportPage.write(directory)).contains("All traces"));
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

        final String page = Files.readString(ReportPage.write(directory));

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

        final String page = Files.readString(ReportPage.write(directory));

        assertEquals(List.of("s"), matches(page, "(?<=data-series=\")[^\"]+"));
    }

    @Test
    void shouldLeaveOutWhatWasNotMeasured() throws IOException {
        new ResultFiles(directory).result("{\"trace\":\"t\",\"strategy\":\"tlsf\",\"nsPerOp\":null,\"hostBytes\":64}");

        final String page = Files.readString(ReportPage.write(directory));

        assertFalse(page.contains("an operation</th>"));
        assertTrue(page.contains("<data value=\"64\">64\u00A0B</data>"));
        assertTrue(page.contains("no latency histograms"));
        assertTrue(page.contains("no memory samples"));
        assertTrue(page.contains("does not say which machine"));
    }

    @Test
    void shouldSwitchOffARegionThatDwarfsTheTrace() throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf\"}")
                .text("t-tlsf-memory.csv", HEADING + "0,10,12,100,\n1,11,12,100,\n");

        final String page = Files.readString(ReportPage.write(directory));

        assertTrue(page.contains("<button type=\"button\" aria-pressed=\"false\" data-series=\"region\">"));
        assertTrue(page.contains("<button type=\"button\" aria-pressed=\"true\" data-series=\"extent\">"));
        assertTrue(page.contains("switched off in the legend: region."));
    }

    /** What lies between it and the live bytes is free. */
    @Test
    void shouldDrawWhatAPoolHoldsThoughARegionDwarfsTheTrace() throws IOException {
        new ResultFiles(directory)
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf\"}")
                .text("t-tlsf-memory.csv", HEADING + "0,10,12,100,\n1,11,12,100,\n")
                .result("{\"trace\":\"t\",\"strategy\":\"tlsf pool\",\"reusePolicy\":\"STRICT\","
                        + "\"files\":\"t-pool\"}")
                .text("t-pool-memory.csv", HEADING + "0,10,,13,\n1,11,,14,\n");

        final String page = Files.readString(ReportPage.write(directory));

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

        final String page = Files.readString(ReportPage.write(directory));

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

        final String page = Files.readString(ReportPage.write(directory));

        assertTrue(page.contains("{\"name\":\"a\\u003c!--\\u2028b\",\"colour\":\"--colour-0\",\"dash\":\"--dash-0\","
                + "\"x\":[0,0.301],\"y\":[5,7]}"));
        assertFalse(page.contains("<!--"));
    }

    @Test
    void shouldRefuseAMissingFolder() {
        final Path missing = directory.resolve("missing");

        assertMessage(missing + ": must be a folder with result files", missing);
    }

    @Test
    void shouldRefuseAFolderWithoutResults() {
        assertMessage(directory + ": must contain results.json or kernels.json", directory);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = true, textBlock = """
            results.json         | ''                                   | 1: must hold at least one JSON object
            results.json         | {"trace":"t","strategy":"s"}\\n{"a":1 | 2: column 7: a comma or }
            results.json         | {"strategy":"s"}                     | 1: key "trace" must be there
            results.json         | {"trace":"t","strategy":"s","ops":""} | 1: key "ops" must be a number or null
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
        Files.write(directory.resolve("results.json"), "{\"trace\":\"\u00FC\"}".getBytes(StandardCharsets.ISO_8859_1));

        assertMessage(directory.resolve("results.json") + ": must be text in UTF-8", directory);
    }

    private static void assertMessage(final String start, final Path folder) {
        final String message =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> ReportPage.write(folder))
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
