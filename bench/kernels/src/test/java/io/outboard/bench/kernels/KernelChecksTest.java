package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests that the kernels' checks find faults: {@code kernels.cu} itself is compiled for the CPU over a
 * faulty allocator.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class KernelChecksTest {

    /**
     * The tests whose faults show in one launch, by one thread after the other; other faults are left to other tests.
     */
    private static final List<String> SEEN_AFTERWARDS = List.of("AD", "MIX", "ACD");

    private static List<String> lines = List.of();

    @BeforeAll
    static void run(@TempDir final Path folder) throws IOException, InterruptedException {
        lines = new HostProgram(
                        "checks.cpp",
                        folder,
                        "-fsanitize=address,undefined",
                        "-fno-sanitize-recover=all",
                        "-I",
                        "src/test/cuda")
                .run()
                .lines()
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"AD", "MIX", "ADF", "ACD", "OOM", "FILL"})
    void shouldFindNothingWhereNothingIsWrong(final String test) {
        assertEquals(List.of(0, 0, 0, 0), counts("none", test));
    }

    @Test
    void shouldCountWhatTheHeapServes() {
        assertEquals(1 << 20, served("none"));
    }

    /** A thousand threads make ten requests each, and blocks that are served after the first failure count as well. */
    @Test
    void shouldRepeatWhatFails() {
        assertEquals(List.of(10_000, 0), fields("none", "hopeless").subList(5, 7));
        assertEquals(
                List.of(10_000, 10_000), fields("none", "FILL then hopeless").subList(5, 7));
    }

    /** Sizes are 4 bytes to 64 KiB, half of them in the lower seven of fourteen octaves. */
    @Test
    void shouldMixSizes() {
        final List<Integer> sizes = fieldsOf("sizes ", 0);

        assertEquals(4, sizes.get(0));
        assertTrue(sizes.get(1) > 65000 && sizes.get(1) <= 65536, sizes.toString());
        assertTrue(sizes.get(2) > 49_000 && sizes.get(2) < 51_000, sizes.toString());
        assertEquals(List.of(16, 65536), sizes.subList(3, 5));
    }

    /** The numbers are operations, live bytes, their peak, false nulls, other nulls, mismatches. */
    @Test
    void shouldCountWhatIsInUseWhileItChurns() {
        final List<Integer> used = fieldsOf("churn ", 0);
        final List<Integer> drained = fieldsOf("churn ", 1);

        assertTrue(used.get(0) > 1000, "two steps of a thousand threads, the second of them rarer: " + used);
        assertTrue(used.get(1) > 0 && used.get(1) <= used.get(2), used.toString());
        assertEquals(List.of(0, 0, 0), used.subList(3, 6));
        assertEquals(0, drained.get(1), "all freed");
        assertEquals(List.of(0, 0, 0), drained.subList(3, 6));
    }

    /** This heap never reuses what is freed, so it fails though little is in use. */
    @Test
    void shouldTellFalseNullsFromOthers() {
        final List<Integer> missed = fieldsOf("churn missed ", 0);
        final List<Integer> full = fieldsOf("churn full ", 0);

        assertTrue(missed.get(3) > 0, missed.toString());
        assertEquals(0, missed.get(4));
        assertEquals(0, full.get(3), "more than the limit is in use");
        assertEquals(missed.get(3), full.get(4));
    }

    @Test
    void shouldKeepAsMuchInUseAsIsAimedFor() {
        final List<Integer> above = fieldsOf("churn above ", 0);
        final List<Integer> below = fieldsOf("churn missed ", 0);

        assertTrue(above.get(1) < below.get(1) / 2, "aim 1000 bytes: " + above + ", all: " + below);
    }

    @Test
    void shouldFindOverlapsWhenBlocksAreFreed() {
        assertTrue(fieldsOf("churn overlap ", 1).get(5) > 0);
    }

    @Test
    void shouldFindBlocksThatOverlap() {
        for (final String test : SEEN_AFTERWARDS) {
            assertTrue(counts("overlap", test).get(3) > 0, test);
        }
    }

    @Test
    void shouldCountEachPointerThatIsNotAligned() {
        assertEquals(List.of(0, 1000, 0, 0), counts("misaligned", "AD"));
        assertEquals(List.of(0, 1000, 0, 0), counts("misaligned", "ADF"));
        assertEquals(List.of(0, 10_000, 0, 0), counts("misaligned", "ACD"));
        assertTrue(counts("misaligned", "OOM").get(1) > 0);
    }

    @Test
    void shouldCountEachBlockThatLeavesTheHeap() {
        // The first nine blocks of 112 bytes fit into the last 1024 bytes of the heap.
        assertEquals(List.of(0, 0, 991, 0), counts("outside", "AD"));
        assertEquals(List.of(0, 0, 991, 0), counts("outside", "ADF").subList(0, 4));
    }

    @Test
    void shouldActWithProbabilityThreeQuarters() {
        final List<Integer> acted = lines.stream()
                .filter(line -> line.startsWith("acted "))
                .map(line -> Integer.valueOf(line.substring(6)))
                .toList();

        assertEquals(10, acted.size());
        // The counts are of 1000 threads; the standard deviation is 14.
        assertTrue(acted.stream().allMatch(count -> count > 690 && count < 810), acted.toString());
        assertTrue(acted.stream().distinct().count() > 5, "each launch draws anew: " + acted);
    }

    /** Returns the counts of nulls, misaligned, outside and mismatches. */
    private static List<Integer> counts(final String fault, final String test) {
        return fields(fault, test).subList(0, 4);
    }

    private static int served(final String fault) {
        return fields(fault, "OOM").get(4);
    }

    private static List<Integer> fields(final String fault, final String test) {
        return fieldsOf(fault + " " + test + " ", 0);
    }

    /** Returns the numbers of the line that begins with {@code start}, after the first {@code others} ones. */
    private static List<Integer> fieldsOf(final String start, final int others) {
        return lines.stream()
                .filter(line -> line.startsWith(start) && Character.isDigit(line.charAt(start.length())))
                .skip(others)
                .findFirst()
                .map(line -> List.of(line.substring(start.length()).split(" ", -1)).stream()
                        .map(Integer::valueOf)
                        .toList())
                .orElseThrow(() -> new AssertionError(start + "is missing in " + lines));
    }
}
