package io.outboard.bench.cli.report;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Random;
import org.HdrHistogram.Histogram;

/** This class writes small folders of results, in the shape in which the command line leaves them. */
public final class ResultFiles {

    static final long PEAK_LIVE_BYTES = 1_288_490_188L;

    private static final int OPERATIONS = 20_000;
    private static final int SAMPLES = 100;

    private final Path directory;

    public ResultFiles(final Path directory) {
        this.directory = directory;
    }

    /** Writes two traces, two strategies, two baselines and an environment. */
    public static ResultFiles complete(final Path directory) throws IOException {
        final ResultFiles files = new ResultFiles(directory).environment();
        for (final String trace : new String[] {"paper", "resnet50-train.csv.gz"}) {
            files.strategy(trace, "tlsf", 21.5)
                    .strategy(trace, "hal-best-fit", 1_340)
                    .strategy(trace, "cudaMalloc", 37_650)
                    .strategy(trace, "cuMemAllocAsync", 1_660);
        }
        return files;
    }

    public ResultFiles environment() throws IOException {
        return text("environment.json", """
                {"command": "./outboard malloc-large --profile paper", "date": "2026-11-20 14:03 UTC",
                 "gpu": "NVIDIA H200", "driver": "580.65.06", "cuda": "12.6", "jdk": "17.0.15", "flags": "-Xmx2g",
                 "os": "Linux 6.8.0", "cpu": "Xeon", "commit": "ede39e9f0123"}
                """);
    }

    /** Writes one line of results and the files that belong to it. */
    public ResultFiles strategy(final String trace, final String strategy, final double ns) throws IOException {
        final boolean baseline = Result.isBaseline(strategy);
        result(String.format(
                Locale.ROOT,
                "{\"trace\":\"%s\",\"strategy\":\"%s\",\"device\":\"0\",\"reusePolicy\":%s,\"ops\":%d,\"nsPerOp\":%s,"
                        + "\"allocate\":{\"mean\":%s,\"p50\":%s,\"p99\":95,\"p999\":238,\"p9999\":668,\"max\":3070},"
                        + "\"free\":null,\"gcBytesPerOp\":0.0,\"peakLiveBytes\":%d,\"peakLiveBlocks\":812,"
                        + "\"peakExtentBytes\":%s,\"smallestRegionBytes\":%s,\"externalFragmentation\":0.291,"
                        + "\"internalFragmentation\":0.013,\"hostBytes\":8923384,\"failures\":0,\"jdk\":\"17.0.15\","
                        + "\"gpu\":\"NVIDIA H200\",\"commit\":\"ede39e9f0123\",\"regionBytes\":%s}",
                trace,
                strategy,
                baseline ? "null" : "\"IMMEDIATE\"",
                OPERATIONS,
                ns,
                ns,
                ns,
                PEAK_LIVE_BYTES,
                baseline ? "null" : "1614478205",
                baseline ? "null" : "1614478205",
                baseline ? "null" : "4294967296"));
        final Random random = new Random(42);
        for (final String operation : new String[] {"allocate", "free"}) {
            final Histogram histogram = new Histogram(3);
            for (int i = 0; i < OPERATIONS; i++) {
                histogram.recordValue((long) (ns * (0.9 + 0.1 / (1 - random.nextDouble()))));
            }
            final Path file = directory.resolve(trace + "-" + strategy + "-" + operation + ".hgrm");
            try (PrintStream output = new PrintStream(file.toFile(), StandardCharsets.UTF_8)) {
                output.println("# gpu NVIDIA H200");
                histogram.outputPercentileDistribution(output, 1.0);
            }
        }
        final StringBuilder memory = new StringBuilder("# gpu NVIDIA H200\n")
                .append("operation,liveBytes,extentBytes,regionBytes,deviceUsedBytes\n");
        for (int i = 0; i < SAMPLES; i++) {
            final long live = PEAK_LIVE_BYTES * Math.min(i, 50) / 50;
            memory.append((long) i * OPERATIONS / SAMPLES)
                    .append(',')
                    .append(live)
                    .append(',');
            memory.append(baseline ? ",," : live * 5 / 4 + ",4294967296,").append(baseline ? live + 500_000_000 : "");
            memory.append('\n');
        }
        return text(trace + "-" + strategy + "-memory.csv", memory.toString());
    }

    /** Adds a line to the results. */
    public ResultFiles result(final String line) throws IOException {
        Files.writeString(
                directory.resolve("results.jsonl"), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return this;
    }

    public ResultFiles text(final String name, final String content) throws IOException {
        Files.writeString(directory.resolve(name), content);
        return this;
    }
}
