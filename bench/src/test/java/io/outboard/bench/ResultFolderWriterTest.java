package io.outboard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.common.Latencies;
import io.outboard.bench.measure.Measurement;
import io.outboard.bench.trace.Trace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultFolderWriterTest {

    @TempDir
    private Path folder;

    /** Files were named by trace and strategy alone: the second result took the place of the first. */
    @Test
    void shouldGiveEveryMeasurementFilesOfItsOwn() throws Exception {
        final List<Measurement> measurements =
                List.of(measurement("a", "b-c", 1), measurement("a-b", "c", 2), measurement("a", "b-c", 3));

        ResultFolderWriter.write(
                folder, new Results(measurements.get(0).trace(), measurements, List.of(), null, ""), Map.of(), null);

        final List<String> lines = Files.readAllLines(folder.resolve("results.json"));
        final List<String> names = List.of("a-b-c", "a-b-c-2", "a-b-c-3");
        for (int i = 0; i < names.size(); i++) {
            assertTrue(lines.get(i).endsWith(",\"files\":\"" + names.get(i) + "\"}"), lines.get(i));
            final String histogram = Files.readString(folder.resolve(names.get(i) + "-allocate.hgrm"));
            assertTrue(histogram.contains("Total count    =            " + (i + 1)), histogram);
            assertTrue(Files.exists(folder.resolve(names.get(i) + "-memory.csv")), names.get(i));
        }
        assertEquals(names.size(), lines.size());
    }

    /** With so many allocations in its histogram. */
    private static Measurement measurement(final String trace, final String strategy, final int allocations) {
        final Latencies allocate = new Latencies(0);
        for (int i = 0; i < allocations; i++) {
            allocate.record(10);
        }
        return new Measurement(
                new Trace(trace, 1, 4096, new long[] {Trace.allocation(0, 1)}),
                strategy,
                "none",
                "IMMEDIATE",
                1,
                allocate,
                new Latencies(0),
                0,
                1L,
                null,
                0,
                0,
                1L,
                1,
                0,
                4096L,
                List.of());
    }
}
