package io.outboard.bench.kernels.report.programs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.report.ReportPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramsSectionTest {

    private static final String WATOR =
            "{\"program\":\"wator\",\"store\":\"%s\",\"size\":\"256x256\",\"mode\":\"TIME\","
                    + "\"steps\":500,\"status\":\"ok\",\"stepUs\":%s,\"enumerationUs\":10,\"workUs\":90,\"objects\":7,\"liveBytes\":1000,"
                    + "\"heldBytes\":1210,\"mismatches\":%d,\"picture\":\"%s\"}";

    @TempDir
    private Path folder;

    @Test
    void shouldShowTimesMemoryAndAPicture() throws IOException {
        final String page = page(
                String.format(WATOR, "ObjectHeap", "100", 0, "iVBORw0K"),
                String.format(WATOR, "BitMalloc", "150", 0, ""),
                "{\"program\":\"wator\",\"store\":\"ObjectHeap\",\"size\":\"256x256\",\"mode\":\"MEMORY\",\"status\":\"ok\","
                        + "\"leastHeapOverLive\":1.4}");

        assertTrue(page.contains("3 runs, every check passed"));
        assertTrue(page.contains("src=\"data:image/png;base64,iVBORw0K\""));
        assertTrue(page.contains(">1.50\u00A0\u00D7</data>"), "of ObjectHeap's");
        assertTrue(page.contains(">1.210</data>"), "held over live");
        assertTrue(page.contains(">1.400</data>"), "least heap over live");
    }

    @Test
    void shouldShowTheLargestProblemOfEachStore() throws IOException {
        final String largest = "{\"program\":\"wator\",\"store\":\"%s\",\"size\":\"largest\",\"mode\":\"LARGEST\","
                + "\"heapBytes\":268435456,\"steps\":50,\"status\":\"ok\",\"elements\":%d}";

        final String page =
                page(String.format(largest, "ObjectHeap", 4_000_000), String.format(largest, "BitmapAlloc", 2_000_000));

        assertTrue(
                page.contains("wator in 256\u00A0MiB</th><td><data value=\"4000000\">4,000,000</data></td><td><data"
                        + " value=\"2000000\">2,000,000</data>"),
                page);
    }

    @Test
    void shouldCompareTheSameStepsAlone() throws IOException {
        final String page = page(
                String.format(WATOR, "ObjectHeap", "100", 0, ""),
                String.format(WATOR, "ObjectHeap", "200", 0, "").replace("500", "20"),
                String.format(WATOR, "CudaMalloc", "600", 0, "").replace("500", "20"));

        assertTrue(page.contains("wator 256x256, 500 steps") && page.contains("wator 256x256, 20 steps"), page);
        assertTrue(page.contains(">3.00\u00A0\u00D7</data>"), "of ObjectHeap's with as many steps");
        assertFalse(page.contains(">6.00\u00A0\u00D7</data>"), "of ObjectHeap's with more steps");
    }

    @Test
    void shouldTellWhatIsRefusedFromWhatIsWrong() throws IOException {
        final String page = page(
                "{\"program\":\"kdtree\",\"store\":\"CMalloc\",\"size\":\"20k-20x\",\"mode\":\"TIME\","
                        + "\"status\":\"refused\",\"message\":\"the heap isn't enough for the tree\",\"refused\":4,\"leaked\":0}");

        assertTrue(page.contains("1 runs, every check passed; 1 were refused memory"), page);
        assertTrue(page.contains("kdtree 20k-20x: refused: the heap isn"), page);
        assertTrue(page.contains("remarkable none\">refused</td>"), page);
    }

    @Test
    void shouldSayWhichChecksFailed() throws IOException {
        final String page = page(
                String.format(WATOR, "ObjectHeap", "100", 3, "not base64!"),
                "{\"program\":\"life\",\"store\":\"CudaMalloc\",\"size\":\"8x8\",\"mode\":\"TIME\",\"status\":\"hang\","
                        + "\"message\":\"not done after 320 s\"}");

        assertTrue(page.contains("2 runs, 2 of them failed a check"));
        assertTrue(page.contains("<li>ObjectHeap, wator 256x256: 3 mismatches</li>"));
        assertTrue(page.contains("<li>CudaMalloc, life 8x8: hang: not done after 320 s</li>"));
        assertFalse(page.contains("not base64!"), "only base64 gets into the page");
    }

    @Test
    void shouldShowBuildsBesideThePapers() throws IOException {
        final String build =
                "{\"program\":\"kdtree\",\"store\":\"%s\",\"size\":\"20k-200x\",\"mode\":\"TIME\",\"status\":\"ok\","
                        + "\"buildMs\":%s,\"requests\":21026,\"meanBytes\":115,\"refused\":%d}";
        final String page = page(
                String.format(build, "AtomicMalloc", "1.5", 0),
                String.format(build, "CFMMalloc", "1.8", 0),
                String.format(build, "CMalloc", "null", 4));

        assertTrue(page.contains(">1.200</data></td><td><data value=\"1.27\">1.27</data>"), page);
        assertTrue(page.contains("remarkable none\">refused</td><td><data value=\"1.48\">"), page);
    }

    /** The paper's table 4 has times of Halloc's build: 0.61 for CFMMalloc and 0.63 for CMalloc of 8.45 seconds. */
    @Test
    void shouldShowBuildsInLittleMemoryAsTimesOfCMalloc() throws IOException {
        final String build = "{\"program\":\"kdtree\",\"store\":\"%s\",\"size\":\"12.7M-20x\",\"mode\":\"TIME\","
                + "\"status\":\"ok\",\"buildMs\":%s,\"requests\":21026,\"meanBytes\":115,\"refused\":0}";

        final String page = page(String.format(build, "CMalloc", "400"), String.format(build, "CFMMalloc", "300"));

        final String table = page.substring(page.indexOf("<h3>Table 4"));
        assertFalse(page.contains("<h3>Table 3"), "no result of it");
        assertTrue(table.contains(">400 ms</data>") && table.contains(">5,323 ms</data>"), table);
        assertTrue(table.contains(">0.750</data></td><td><data value=\"0.968"), table);
        assertTrue(table.contains(">Halloc</th>") && table.contains(">1.587</data>"), table);
        // The root of 15 million requests' squares of 144.3 and 799.8 bytes.
        assertTrue(page.contains(">3.00\u00A0MiB</data>"), page);
    }

    @Test
    void shouldDrawXMallocsFigures() throws IOException {
        final String page = page(
                use("CudaMalloc", "2 5", 1024, 1, 0, 900),
                use("CudaMalloc", "2 5 workers", 1024, 32, 0, 1200),
                use("XMalloc", "2", 1024, 1, 0, 300),
                use("XMalloc", "2 workers", 1024, 32, 0, 25),
                use("CudaMalloc coalesced", "5", 1024, 1, 0, 1000),
                use("CudaMalloc coalesced", "5", 1024, 32, 0, 30),
                use("CudaMalloc coalesced", "6", 512, 1, 0, 800),
                use("CudaMalloc coalesced", "6", 512, 32, 0, 31),
                use("XMalloc", "6 filled", 512, 1, 0, 100),
                use("XMalloc", "6 filled", 512, 32, 0, 26),
                use("XMalloc", "workers", 10, 32, 0, 500),
                use("CudaMalloc", "filled", 512, 32, 131072, 7000),
                use("XMalloc", "filled", 512, 32, 131072, 1000));

        assertTrue(line(page, "XMalloc, figure 2", "XMalloc").contains("\"x\":[1,32],\"y\":[300,25]"), page);
        assertTrue(line(page, "XMalloc, figure 5", "CudaMalloc coalesced").contains("\"y\":[1000,30]"), page);
        assertTrue(line(page, "XMalloc, figure 6", "XMalloc").contains("\"y\":[100,832]"), "of a warp's request");
        assertTrue(
                line(page, "XMalloc, numbers of workers", "XMalloc").contains("\"x\":[10,1024],\"y\":[500,25]"), page);
        assertFalse(line(page, "XMalloc, figure 2", "CudaMalloc").contains("7000"), "of a heap that was filled");
        for (final String claim : List.of("900", "25", "48", "40", "8", "7")) {
            assertTrue(page.contains("<data value=\"" + claim + "\">"), claim);
        }
        final String rest = page.substring(page.indexOf("<h3>XMalloc, filled heap"));
        final String filled = rest.substring(0, rest.indexOf("</table>"));
        assertTrue(
                filled.matches(
                        "(?s).*row\">XMalloc</th><td[^>]*><data value=\"100\">[^<]*</data></td><td class=\"none\">[^<]*</td>"
                                + "<td[^>]*><data value=\"26\">[^<]*</data></td><td><data value=\"1000\">.*"),
                filled);
    }

    private static String use(
            final String store,
            final String figures,
            final long workers,
            final long lanes,
            final long blocksBefore,
            final long ns) {
        return String.format(
                "{\"program\":\"xmalloc\",\"store\":\"%s\",\"size\":\"T%d-%d\",\"mode\":\"TIME\",\"status\":\"ok\","
                        + "\"figures\":\"%s\",\"workers\":%d,\"lanes\":%d,\"blocksBefore\":%d,\"nsPerRequest\":%d,\"nsPerWarp\":%d}",
                store, workers, lanes, figures, workers, lanes, blocksBefore, ns, ns * lanes);
    }

    /** Returns the data of a line of a figure. */
    private static String line(final String page, final String figure, final String name) {
        final String data = page.substring(page.indexOf("<h3>" + figure));
        final String line = data.substring(data.indexOf("{\"name\":\"" + name + "\""));
        return line.substring(0, line.indexOf('}'));
    }

    @Test
    void shouldTellThatLongRunsComeToDifferentResults() throws IOException {
        final String run = "{\"program\":\"wator\",\"store\":\"ObjectHeap\",\"size\":\"8x8\",\"mode\":\"LONG\","
                + "\"status\":\"ok\",\"steps\":300000,\"checksum\":%d}";

        assertFalse(page(String.format(run, 7), String.format(run, 7)).contains("differs"));
        assertTrue(page(String.format(run, 7), String.format(run, 8)).contains("remarkable none\">7: differs"));
    }

    @Test
    void shouldNameALineThatIsNone() {
        final IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> page("{\"program\":\"wator\"}"));

        assertTrue(String.valueOf(failure.getMessage()).contains("programs.jsonl:1"), failure.getMessage());
    }

    private String page(final String... lines) throws IOException {
        Files.write(folder.resolve("programs.jsonl"), List.of(lines));
        // Each cell repeats the heading of its column, which a phone shows beside the number.
        return Files.readString(ReportPage.write(folder, List.of(ProgramsSection.PART)))
                .replaceAll(" data-of=\"[^\"]*\"", "");
    }
}
