package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.report.KernelResultFiles;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class KernelTablesTest {

    @Test
    void shouldPrintARowACaseAndAColumnAnAllocator() {
        final List<String> lines = print(KernelResultFiles.sample());

        assertEquals("NVIDIA H200", lines.get(0));
        assertEquals("case Empty CFMalloc CFMMalloc CudaMalloc", squeezed(lines, "case"));
        assertEquals("AD T10k 16 B 6.0/5.0 60/50 600/504 6000/5040", squeezed(lines, "AD T10k 16 B"));
        assertEquals("MIX T1M 4..1024 - - - hang", squeezed(lines, "MIX"));
        assertEquals("OOM T10k 1 KiB 0.98?", squeezed(lines, "OOM"));
    }

    @Test
    void shouldPrintWhatOneClaimAWarpDoesApart() {
        final List<String> lines = print(KernelResultFiles.sample());

        assertTrue(
                lines.stream().anyMatch(line -> line.replaceAll(" +", " ").equals("AD T10k 16 B 60/20")),
                lines.toString());
    }

    @Test
    void shouldPrintHopelessRequestsAndHeapsThatOnlyFill() {
        final List<String> lines = print(KernelResultFiles.sample());

        assertTrue(
                lines.stream()
                        .anyMatch(line -> line.replaceAll("[ \u00A0]+", " ").equals("OOM T10k 1 KiB 5.70 ms, 12.3 ns")),
                lines.toString());
        assertEquals("FILL T10k 64 B 812/1015, 1.25", squeezed(lines, "FILL"));
    }

    @Test
    void shouldPrintAgedHeapsAndChurn() {
        final String churn = "CFMMalloc coalesced CHURN T10k 4..1048576 ";
        final List<String> lines = print(KernelResultFiles.sample());

        assertTrue(
                lines.stream().anyMatch(line -> line.replaceAll(" +", " ").equals("AD T10k 16 B 66/22, 1.10 (310)")),
                lines.toString());
        // The table is wider than a terminal, so it goes on below.
        assertEquals(
                "2,600,000 96.1 % 0 17 0.85 0.25 1.00 GiB false",
                lines.stream()
                        .map(line -> line.replaceAll(" +", " "))
                        .filter(line -> line.startsWith(churn))
                        .map(line -> line.substring(churn.length()))
                        .collect(Collectors.joining(" ")));
    }

    /**
     * Our allocator takes 60 and 20 microseconds, and our empty kernel 6 and 5.04; the peer takes 6.9 and 7.0, and the
     * empty kernel of its harness 5.9 and 5.9.
     */
    @Test
    void shouldPrintThePeersBesideOurs() {
        final List<String> lines = print(KernelResultFiles.sample());

        assertEquals(
                "AD T10k 16 B 60/20 54/15 Halloc 6.9/7.0 1.0/1.1 32.84 trails",
                lines.stream()
                        .filter(line -> line.contains("Halloc"))
                        .findFirst()
                        .orElseThrow()
                        .replaceAll(" +", " "));
        assertTrue(
                lines.contains(
                        "CFMMalloc coalesced: ahead in 0 of 1 cases (allocate + free, net); allocate behind by at most"
                                + " 54.00 times (AD T10k 16 B, 54.0 \u00B5s over 1.0)"),
                lines.toString());
    }

    @Test
    void shouldPrintFragmentationAndRegisters() {
        final List<String> lines = print(KernelResultFiles.sample());

        assertTrue(
                lines.stream()
                        .anyMatch(line ->
                                line.replaceAll(" +", " ").startsWith("AD W30k 4 0.38 0.20 0.90 0.75 0.40 0.80")),
                lines.toString());
        assertEquals("CudaMalloc 16 6 23 3", squeezed(lines, "CudaMalloc  "));
    }

    @Test
    void shouldNameWhatFailed() {
        final List<String> lines = print(KernelResultFiles.sample());

        assertEquals(
                List.of(
                        "CudaMalloc, MIX T1M 4..1024: hang: not done after 20 s",
                        "CFMMalloc, OOM T10k 1 KiB: mismatches 3"),
                lines.subList(lines.size() - 2, lines.size()));
    }

    @Test
    void shouldSayThatNothingFailed() {
        final List<String> lines = print(KernelResultFiles.sample().subList(0, 2));

        assertEquals(
                "Every check passed: alignment, bounds, no overlap, nothing left behind.", lines.get(lines.size() - 1));
    }

    @Test
    void shouldMarkRequestsThatFailed() {
        final String line = KernelResultFiles.sample().get(1).replace("\"nulls\":0", "\"nulls\":3");

        assertEquals("6.0/5.0!", KernelResult.parse("sample", 1, line).cell());
    }

    private static List<String> print(final List<String> lines) {
        final StringWriter out = new StringWriter();
        final List<KernelResult> results = lines.stream()
                .map(line -> KernelResult.parse("sample", 1, line))
                .toList();
        try (PrintWriter writer = new PrintWriter(out)) {
            new KernelTables(results, "NVIDIA H200").print(writer);
        }
        return out.toString().lines().toList();
    }

    /** Returns the first line that begins with {@code start}, with runs of spaces reduced to one. */
    private static String squeezed(final List<String> lines, final String start) {
        return lines.stream()
                .filter(line -> line.startsWith(start))
                .findFirst()
                .orElseThrow()
                .replaceAll(" +", " ");
    }
}
