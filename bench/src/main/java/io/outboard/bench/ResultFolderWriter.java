package io.outboard.bench;

import io.outboard.bench.common.Latencies;
import io.outboard.bench.measure.DriverRatio;
import io.outboard.bench.measure.Measurement;
import io.outboard.bench.measure.MemorySample;
import io.outboard.bench.report.JsonLine;
import io.outboard.bench.report.page.ReportPage;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Writes what {@code --out} asks for: {@code results.json}, {@code threads.json}, {@code ratios.json}, {@code environment.json}, a latency histogram for each kind
 * of operation, memory over time, and the page. Files of the same names are replaced.
 */
final class ResultFolderWriter {

    private static final int TICKS_A_HALF = 5;

    private ResultFolderWriter() {}

    /** Writes all files and returns the page. */
    static Path write(
            final Path folder, final Results results, final Map<String, String> environment, final @Nullable String gpu)
            throws IOException {
        Files.createDirectories(folder);
        final List<Measurement> measurements = results.measurements();
        final List<String> names = fileNames(measurements);
        final List<String> lines = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            lines.add(measurements.get(i).json(gpu).put("files", names.get(i)).toString());
        }
        Files.write(folder.resolve("results.json"), lines);
        if (!results.rates().isEmpty()) {
            Files.write(
                    folder.resolve("threads.json"),
                    results.rates().stream()
                            .map(rate -> rate.json(results.trace()).toString())
                            .toList());
        }
        final List<DriverRatio> ratios = DriverRatio.of(measurements);
        if (!ratios.isEmpty()) {
            Files.write(
                    folder.resolve("ratios.json"),
                    ratios.stream().map(ratio -> ratio.json().toString()).toList());
        }
        writeEnvironment(folder, environment);
        final String heading = environment.entrySet().stream()
                .map(fact -> "# " + fact.getKey() + ": " + fact.getValue() + "\n")
                .collect(Collectors.joining());
        for (int i = 0; i < names.size(); i++) {
            final Measurement measurement = measurements.get(i);
            final String name = names.get(i);
            writeHistogram(folder.resolve(name + "-allocate.hgrm"), heading, measurement.allocate());
            writeHistogram(folder.resolve(name + "-free.hgrm"), heading, measurement.free());
            final String samples = measurement.memory().stream()
                    .map(sample -> sample.line() + "\n")
                    .collect(Collectors.joining());
            Files.writeString(folder.resolve(name + "-memory.csv"), heading + MemorySample.HEADER + "\n" + samples);
        }
        return ReportPage.write(folder);
    }

    /** Writes results that are one JSON object a line, and returns the page. */
    static Path writeLines(
            final Path folder, final String name, final List<String> lines, final Map<String, String> environment)
            throws IOException {
        Files.createDirectories(folder);
        Files.write(folder.resolve(name), lines);
        writeEnvironment(folder, environment);
        return ReportPage.write(folder);
    }

    private static void writeEnvironment(final Path folder, final Map<String, String> environment) throws IOException {
        final JsonLine facts = new JsonLine();
        environment.forEach(facts::put);
        Files.writeString(folder.resolve("environment.json"), facts + "\n");
    }

    /** What the files of each measurement begin with: trace, strategy, reuse policy of a pool, a number where that is taken. */
    private static List<String> fileNames(final List<Measurement> measurements) {
        final Set<String> names = new LinkedHashSet<>();
        for (final Measurement measurement : measurements) {
            final String base = measurement.trace().name() + "-"
                    + measurement.label(measurements).replaceAll("[ ,]+", "-");
            String name = base;
            for (int number = 2; !names.add(name); number++) {
                name = base + "-" + number;
            }
        }
        return List.copyOf(names);
    }

    private static void writeHistogram(final Path file, final String heading, final Latencies latencies)
            throws IOException {
        final Histogram histogram = latencies.histogram();
        try (PrintStream out = new PrintStream(Files.newOutputStream(file), false, StandardCharsets.UTF_8)) {
            out.print(heading);
            histogram.outputPercentileDistribution(out, TICKS_A_HALF, 1.0);
            if (out.checkError()) {
                throw new IOException(file + " can't be written");
            }
        }
    }
}
