package io.outboard.bench.kernels.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

class KernelsSectionTest {

    @TempDir
    private Path folder;

    @Test
    void shouldMakeAPageOfKernelsAlone() throws IOException {
        final String page = page(KernelResultFiles.sample());

        assertTrue(page.contains(">In-kernel heaps</h2>"));
        assertTrue(page.contains("2 of them failed"));
        assertTrue(page.contains("<li>CudaMalloc, MIX T1M 4..1024: hang: not done after 20 s</li>"));
        assertTrue(page.contains("<li>CFMMalloc, OOM T10k 1 KiB: mismatches 3</li>"));
    }

    @Test
    void shouldShowPublishedFiguresBesideOurs() throws IOException {
        final String page = page(KernelResultFiles.sample());

        final String times = between(page, "Microseconds for allocate/free", "<h3>");
        assertTrue(
                times.contains("<data value=\"1104\">600/504</data></td><td><data value=\"128\">111/17</data>"), times);
        assertTrue(times.contains(">Gallatin</th>"), times);
        assertTrue(times.contains("remarkable none\">hang</td>"), times);
        final String speedUps = between(page, "<h3>Times faster than CUDA malloc", "<h3>");
        // The speedup is 11040 us over 1104 us; the published one is 3728 us over 128 us.
        assertTrue(speedUps.contains(">10.0\u00A0\u00D7</data>"), speedUps);
        assertTrue(speedUps.contains(">29.1\u00A0\u00D7</data>"), speedUps);
        assertTrue(between(page, "<h3>Out of memory", "<h3>").contains(">0.98?</data>"));
    }

    @Test
    void shouldShowRegistersOverThoseOfNoAllocator() throws IOException {
        final String page = page(KernelResultFiles.sample());

        final String registers = between(page, "<h3>Registers", "<h3>");
        assertTrue(
                registers.contains(
                        "<th scope=\"row\">CFMMalloc</th><td class=\"start\"><data value=\"14\">14</data></td>"
                                + "<td><data value=\"4\">4</data></td>"),
                registers);
    }

    @Test
    void shouldShowHopelessRequestsAndHeapsThatOnlyFill() throws IOException {
        final String page = page(KernelResultFiles.sample());

        final String hopeless = between(page, "<h3>Hopeless requests", "<h3>");
        assertTrue(hopeless.contains("<data value=\"12.34\">5.70\u00A0ms, 12.3\u00A0ns</data>"), hopeless);
        final String fill = between(page, "<h3>A heap that only fills", "<h3>");
        assertTrue(fill.contains("<data value=\"1.25\">812/1015, 1.25</data>"), fill);
        assertFalse(between(page, "Microseconds for allocate/free", "<h3>").contains("FILL"), "a table of its own");
    }

    @Test
    void shouldShowAgedHeapsAndChurn() throws IOException {
        final String page = page(KernelResultFiles.sample());

        final String aged = between(page, "<h3>Aged heaps", "<h3>");
        assertTrue(aged.contains("a thousand launches of 20,480 threads"), aged);
        assertTrue(aged.contains("<data value=\"1.1\">66/22, 1.10 (310)</data>"), aged);
        final String churn = between(page, "<h3>Churn", "</section>");
        assertTrue(churn.contains(">2,600,000</data>"), churn);
        assertTrue(churn.contains("<data value=\"0\">0</data></td><td><data value=\"17\">17</data>"), churn);
        assertTrue(churn.contains("remarkable none\">false</td>"), churn);
    }

    @Test
    void shouldShowThePeersBesideOurs() throws IOException {
        final String page = page(KernelResultFiles.sample());

        final String peers = between(page, "<h3>CFMMalloc coalesced beside the best published", "<h3>");
        assertTrue(peers.contains("an independent harness, November 2026"), peers);
        assertTrue(peers.contains("ahead in 0 of 1 cases (allocate + free, net)"), peers);
        assertTrue(
                peers.contains("<td class=\"none\">2026-11, an independent harness</td>")
                        || peers.contains(">2026-11, an independent harness</td>"),
                peers);
        assertTrue(peers.contains("remarkable\"><data value=\""), peers);
        assertTrue(peers.contains(">32.84 trails</data>"), peers);
    }

    @Test
    void shouldSayTheResultFirst() throws IOException {
        final String page = page(KernelResultFiles.sample());

        final String first = between(page, "<h1>", "</h1>");
        assertTrue(first.contains(" times as fast as CUDA&#39;s own malloc"), first);
    }

    @Test
    void shouldLeaveOutWhatWasNotMeasured() throws IOException {
        final String page = page(KernelResultFiles.sample().subList(1, 2));

        for (final String part : List.of("Registers", "Out of memory", "Times faster")) {
            assertFalse(page.contains("<h3>" + part), part);
        }
        assertTrue(page.contains("1 cases, every check passed."));
    }

    @Test
    void shouldNameTheLineThatIsMalformed() throws IOException {
        final String file = folder.resolve("kernels.jsonl").toString();

        final IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> page(List.of("{\"name\":\"AD\"}")));

        assertEquals(file + ":1: key \"allocator\" must be there and must not be empty", failure.getMessage());
    }

    private String page(final List<String> lines) throws IOException {
        Files.write(folder.resolve("kernels.jsonl"), lines);
        // Each cell repeats the heading of its column, which a phone shows beside the number.
        return Files.readString(ReportPage.write(folder, List.of(KernelsSection.PART)))
                .replaceAll(" data-of=\"[^\"]*\"", "");
    }

    private static String between(final String text, final String start, final String end) {
        final int from = text.indexOf(start);
        assertTrue(from >= 0, start);
        return text.substring(from, text.indexOf(end, from + start.length()));
    }
}
