package io.outboard.bench.cli.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.trace.Trace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ResultFolderWriterTest {

    @TempDir
    private Path folder;

    /** Files were once named by trace and strategy alone, and the second result replaced the first. */
    @Test
    void shouldGiveEveryMeasurementFilesOfItsOwn() throws Exception {
        final List<Measurement> measurements =
                List.of(measurement("a", "b-c", 1), measurement("a-b", "c", 2), measurement("a", "b-c", 3));

        final ResultFolderWriter writer = new ResultFolderWriter(output(), null);
        for (int known = 1; known <= measurements.size(); known++) {
            writer.keep(measurements.get(0).trace(), measurements.subList(0, known), List.of(), "");
        }

        final List<String> lines = Files.readAllLines(folder.resolve("results.jsonl"));
        final List<String> names = List.of("a-b-c", "a-b-c-2", "a-b-c-3");
        for (int i = 0; i < names.size(); i++) {
            assertTrue(lines.get(i).endsWith(",\"files\":\"" + names.get(i) + "\"}"), lines.get(i));
            final String histogram = Files.readString(folder.resolve(names.get(i) + "-allocate.hgrm"));
            assertTrue(histogram.contains("Total count    =            " + (i + 1)), histogram);
            assertTrue(Files.exists(folder.resolve(names.get(i) + "-memory.csv")), names.get(i));
        }
        assertEquals(names.size(), lines.size());
    }

    /** An interrupted run loses the result that is being measured, but none before it. */
    @Test
    void shouldWriteEachResultAsItIsThere() throws Exception {
        final List<Measurement> measurements = List.of(measurement("a", "b", 1), measurement("a", "c", 2));
        final ResultFolderWriter writer = new ResultFolderWriter(output(), null);

        writer.keep(measurements.get(0).trace(), measurements.subList(0, 1), List.of(), "");

        assertEquals(1, Files.readAllLines(folder.resolve("results.jsonl")).size());
        assertTrue(Files.exists(folder.resolve("a-b-allocate.hgrm")));
        assertTrue(Files.exists(folder.resolve("a-b-operations.csv")));
        assertTrue(Files.exists(folder.resolve("environment.json")));
        assertEquals(
                List.of("operation,kind,bytes,ns", "1,allocate,1,30"),
                Files.readAllLines(folder.resolve("a-b-calls.csv")).stream()
                        .filter(line -> !line.startsWith("#"))
                        .toList());

        writer.keep(measurements.get(0).trace(), measurements, List.of(), "");

        assertEquals(2, Files.readAllLines(folder.resolve("results.jsonl")).size());
        try (Stream<Path> files = Files.list(folder)) {
            assertTrue(files.noneMatch(file -> file.toString().endsWith(".tmp")));
        }
    }

    private OutputOptions output() {
        final OutputOptions output = new OutputOptions();
        new CommandLine(CommandLine.Model.CommandSpec.create()
                        .addMixin("output", CommandLine.Model.CommandSpec.forAnnotatedObject(output)))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .parseArgs("--out", folder.toString());
        return output;
    }

    /** Makes a measurement whose histogram has the given number of allocations. */
    private static Measurement measurement(final String trace, final String strategy, final int allocations) {
        final Latencies allocate = new Latencies(0);
        for (int i = 0; i < allocations; i++) {
            allocate.record(10);
        }
        final OperationTimes times = new OperationTimes(0, 1);
        times.record(0, 30);
        return new Measurement(
                new Trace(trace, 1, 4096, new long[] {Trace.allocation(0, 1)}),
                strategy,
                "none",
                "IMMEDIATE",
                1,
                List.of(),
                0,
                1,
                allocate,
                new Latencies(0),
                0,
                0,
                1L,
                null,
                0,
                0,
                1L,
                1,
                0,
                4096L,
                List.of(),
                times);
    }
}
