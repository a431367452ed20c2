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
                String.format(WATOR, "BitMalloc", "150", 0, ""));

        assertTrue(page.contains("2 runs, every check passed"));
        assertTrue(page.contains("src=\"data:image/png;base64,iVBORw0K\""));
        assertTrue(page.contains(">1.50\u00A0\u00D7</data>"), "of ObjectHeap's");
        assertTrue(page.contains(">1.210</data>"), "held over live");
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
