package io.outboard.bench.kernels.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class PeerComparisonTest {

    @Test
    void shouldCompareNetOfTheEmptyKernelOfEachHarness() {
        final List<PeerComparison> comparisons = PeerComparison.of(results(
                times("Empty", "AD T10k 16 B", 3.4, 2.7, 0),
                times("BitMalloc", "AD T10k 16 B", 4.2, 3.5, 0),
                times("Empty", "P T1k 256 B", 14, Double.NaN, 0),
                times("BitMalloc", "P T1k 256 B", 69, Double.NaN, 0)));

        assertEquals(1, comparisons.size());
        assertEquals("BitMalloc", comparisons.get(0).contender());
        assertEquals(
                List.of(
                        List.of("AD T10k 16 B", "4.2/3.5", "0.8/0.8", "Halloc", "6.9/7.0", "1.0/1.1", "0.76"),
                        List.of("P T1k 256 B", "69", "55", "Gallatin", "80", "52", "1.06 trails")),
                comparisons.get(0).cells());
        assertEquals(
                "ahead in 1 of 2 cases (allocate + free, net); allocate behind by at most 1.06 times (P T1k 256 B,"
                        + " 55.0 \u00B5s over 51.7)",
                comparisons.get(0).summary());
    }

    /** CUDA's events have a resolution of half a microsecond. */
    @Test
    void shouldNotTellTimesApartThatEventsCannot() {
        final PeerComparison comparison = PeerComparison.of(results(
                        times("Empty", "AD T10k 16 B", 3.4, 2.7, 0),
                        times("BitMalloc coalesced", "AD T10k 16 B", 3.41, 2.6, 0)))
                .get(0);

        assertEquals("0.24", comparison.cells().get(0).get(6));
        assertEquals("ahead in 1 of 1 cases (allocate + free, net); allocate behind in none", comparison.summary());
    }

    @Test
    void shouldTrailWhereRequestsFailedOrTheCaseDidNotEnd() {
        final List<KernelResult> results = new ArrayList<>(results(
                times("Empty", "AD T10k 16 B", 3.4, 2.7, 0),
                times("Empty", "AD T100k 16 B", 3.4, 2.7, 0),
                times("CFMMalloc coalesced", "AD T10k 16 B", 3.5, 2.8, 7)));
        results.add(KernelResult.parse(
                "sample",
                1,
                "{\"name\":\"AD T100k 16 B\",\"allocator\":\"CFMMalloc\",\"coalesced\":\"yes\",\"case\":\"AD\","
                        + "\"status\":\"hang\"}"));

        final PeerComparison comparison = PeerComparison.of(results).get(0);

        assertEquals("3.5/2.8!", comparison.cells().get(0).get(1));
        assertTrue(comparison.cells().get(0).get(6).endsWith(" trails"));
        assertEquals("hang", comparison.cells().get(1).get(1));
        assertTrue(comparison.cells().get(1).get(6).endsWith(" trails"));
        assertTrue(comparison.summary().startsWith("ahead in 0 of 2 cases"), comparison.summary());
    }

    @Test
    void shouldLeaveOutWhatHasNoPeerOrNoEmptyKernel() {
        assertEquals(List.of(), PeerComparison.of(results(times("BitMalloc", "AD T10k 16 B", 4, 3, 0))));
        assertEquals(
                List.of(),
                PeerComparison.of(results(
                        times("Empty", "AD T10k 16 B, 8 GiB heap", 4, 3, 0),
                        times("BitMalloc", "AD T10k 16 B, 8 GiB heap", 4, 3, 0))));
        assertEquals(
                List.of(),
                PeerComparison.of(
                        results(times("Empty", "AD T10k 16 B", 3, 2, 0), times("CMalloc", "AD T10k 16 B", 4, 3, 0))),
                "the family has a table of its own");
    }

    private static List<KernelResult> results(final String... lines) {
        final List<KernelResult> results = new ArrayList<>();
        for (final String line : lines) {
            results.add(KernelResult.parse("sample", 1, line));
        }
        return results;
    }

    private static String times(
            final String contender, final String name, final double allocate, final double free, final int nulls) {
        return String.format(
                Locale.ROOT,
                "{\"name\":\"%s\",\"allocator\":\"%s\",\"coalesced\":\"%s\",\"case\":\"AD\",\"status\":\"ok\","
                        + "\"allocateUs\":%.2f,\"freeUs\":%s,\"nulls\":%d}",
                name,
                contender.replace(" coalesced", ""),
                contender.endsWith("coalesced") ? "yes" : "no",
                allocate,
                Double.isNaN(free) ? "null" : String.format(Locale.ROOT, "%.2f", free),
                nulls);
    }
}
