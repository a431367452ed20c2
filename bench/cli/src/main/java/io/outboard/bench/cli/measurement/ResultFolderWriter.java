package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.cuda.CudaDevice;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * This class writes the folder of {@code --out}. Each result is written as soon as it is known, so that an interrupted
 * run loses only the result that was being measured. The files are {@code results.jsonl}, {@code threads.jsonl},
 * {@code ratios.jsonl}, {@code environment.json}, and for each result a latency histogram for each kind of operation,
 * times by operation number, single calls, and memory over time. Confined to one thread.
 */
final class ResultFolderWriter {

    private static final int TICKS_A_HALF = 5;

    private final OutputOptions output;
    private final @Nullable CudaDevice gpu;
    private final Set<String> names = new LinkedHashSet<>();

    ResultFolderWriter(final OutputOptions output, final @Nullable CudaDevice gpu) {
        this.output = output;
        this.gpu = gpu;
    }

    /**
     * Writes the results that are new since the last call, if a folder is wanted; the lists only grow between calls.
     */
    void keep(
            final Trace trace,
            final List<Measurement> measurements,
            final List<ThreadRate> rates,
            final String baselines)
            throws IOException {
        if (output.out() == null) {
            return;
        }
        final Map<String, String> environment = Environment.facts(gpu, baselines);
        final String heading = environment.entrySet().stream()
                .map(fact -> "# " + fact.getKey() + ": " + fact.getValue() + "\n")
                .collect(Collectors.joining());
        for (final Measurement measurement : measurements.subList(names.size(), measurements.size())) {
            final String name = newName(measurement);
            output.write(
                    name + "-memory.csv",
                    heading
                            + lines(
                                    MemorySample.HEADER,
                                    measurement.memory().stream().map(MemorySample::line)));
            if (measurement.hasLatencies()) {
                output.write(name + "-allocate.hgrm", heading + histogram(measurement.allocate()));
                output.write(name + "-free.hgrm", heading + histogram(measurement.free()));
                output.write(
                        name + "-operations.csv",
                        heading
                                + lines(
                                        OperationTimes.Stretch.HEADER,
                                        measurement.operations().stretches().stream()
                                                .map(OperationTimes.Stretch::line)));
                output.write(name + "-calls.csv", heading + calls(measurement));
            }
        }
        final String device = gpu == null ? null : gpu.toString();
        final List<String> files = List.copyOf(names);
        final List<String> lines = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) {
            lines.add(
                    measurements.get(i).json(device).put("files", files.get(i)).toString());
        }
        output.writeLines(ResultFolder.RESULTS, lines);
        if (!rates.isEmpty()) {
            output.writeLines(
                    "threads.jsonl",
                    rates.stream().map(rate -> rate.json(trace).toString()).toList());
        }
        final List<DriverRatio> ratios = DriverRatio.of(measurements);
        if (!ratios.isEmpty()) {
            output.writeLines(
                    "ratios.jsonl",
                    ratios.stream().map(ratio -> ratio.json().toString()).toList());
        }
        output.write("environment.json", Environment.json(gpu, baselines) + "\n");
    }

    /**
     * Returns the first part of the names of a measurement's files: trace, strategy, reuse policy of a pool, and a
     * number if the name is taken already. The name doesn't depend on what is measured later.
     */
    private String newName(final Measurement measurement) {
        final boolean isPool = measurement.strategy().contains(" ");
        final String base = measurement.trace().name() + "-"
                + measurement.strategy().replace(' ', '-')
                + (isPool && measurement.reusePolicy() != null ? "-" + measurement.reusePolicy() : "");
        String name = base;
        for (int number = 2; !names.add(name); number++) {
            name = base + "-" + number;
        }
        return name;
    }

    private static String calls(final Measurement measurement) {
        final long[] operations = measurement.trace().operations();
        return lines(
                "operation,kind,bytes,ns",
                measurement.operations().calls().stream().map(call -> {
                    final long operation = operations[(int) call.operation() - 1];
                    return call.operation() + "," + (Trace.isFree(operation) ? "free" : "allocate") + ","
                            + Trace.bytes(operation) + "," + call.ns();
                }));
    }

    private static String lines(final String heading, final Stream<String> lines) {
        return heading + "\n" + lines.map(line -> line + "\n").collect(Collectors.joining());
    }

    private static String histogram(final Latencies latencies) {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8)) {
            latencies.histogram().outputPercentileDistribution(out, TICKS_A_HALF, 1.0);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
