package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether the kernels' checks find faults: {@code kernels.cu} itself, compiled for the CPU over a faulty allocator. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class KernelChecksTest {

    private static final Path SOURCES = Path.of("src/test/cuda");

    /** What can't be seen in one launch by one thread after the other is left to other tests. */
    private static final List<String> SEEN_AFTERWARDS = List.of("AD", "MIX", "ACD");

    private static List<String> lines = List.of();

    @BeforeAll
    static void run(@TempDir final Path folder) throws IOException, InterruptedException {
        assumeTrue(Files.exists(SOURCES), "skipped, needs the sources");
        final Path program = folder.resolve("checks");
        try {
            output(
                    "g++",
                    "-std=c++17",
                    "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all",
                    "-I",
                    SOURCES.toString(),
                    SOURCES.resolve("checks.cpp").toString(),
                    "-o",
                    program.toString());
        } catch (final IOException e) {
            assumeTrue(false, "skipped, needs g++: " + e.getMessage());
        }
        lines = output(program.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"AD", "MIX", "ADF", "ACD", "OOM"})
    void shouldFindNothingWhereNothingIsWrong(final String test) {
        assertEquals(List.of(0, 0, 0, 0), counts("none", test));
    }

    @Test
    void shouldCountWhatTheHeapServes() {
        assertEquals(1 << 20, served("none"));
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
        // The first nine of 112 bytes fit into the last 1024 of the heap.
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
        // Of 1000 threads; the standard deviation is 14.
        assertTrue(acted.stream().allMatch(count -> count > 690 && count < 810), acted.toString());
        assertTrue(acted.stream().distinct().count() > 5, "each launch draws anew: " + acted);
    }

    /** Nulls, misaligned, outside, mismatches. */
    private static List<Integer> counts(final String fault, final String test) {
        return fields(fault, test).subList(0, 4);
    }

    private static int served(final String fault) {
        return fields(fault, "OOM").get(4);
    }

    private static List<Integer> fields(final String fault, final String test) {
        final String start = fault + " " + test + " ";
        return lines.stream()
                .filter(line -> line.startsWith(start))
                .findFirst()
                .map(line -> List.of(line.substring(start.length()).split(" ", -1)).stream()
                        .map(Integer::valueOf)
                        .toList())
                .orElseThrow(() -> new AssertionError(start + "is missing in " + lines));
    }

    private static List<String> output(final String... command) throws IOException, InterruptedException {
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), text);
        return text.lines().toList();
    }
}
