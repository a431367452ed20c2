package io.outboard.bench.cli.paper;

import io.outboard.bench.cli.device.DriverAllocators;
import io.outboard.bench.cli.measurement.MeasureOptions;
import io.outboard.bench.cli.measurement.MeasurementRun;
import io.outboard.bench.cli.report.HtmlTable.Cell;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The paper of Bell et al. (2024), section VI: its segregated fit beside CUDA's allocator on blocks of 1 KiB to 16 MiB,
 * "several thousand times", and as many as our own figures have.
 */
public final class BellPaper implements Paper {

    private static final String SEGREGATED = "segregated-fit";
    private static final String TLSF = "tlsf";

    /** The strategies of section VI and, for the table of section III-D, one of each other kind of list. */
    private static final List<String> STRATEGIES =
            List.of(SEGREGATED, "segregated-fit-paper", TLSF, "hal-best-fit", "bitmask");

    private static final String PROFILE = "paper";
    private static final int THOUSANDS = 4000;
    private static final int MOST_ROWS = 64;

    /** The bytes of the smallest block in the table of section III-D, and of our granules. */
    private static final double WORD = 8;

    private static final double GRANULE = 256;
    private static final double PAPER_OUTLIER_NS = 2e6;
    private static final double PAPER_FACTOR = 100;
    private static final double PAPER_FRAGMENTATION = 0.5;
    private static final double PAPER_HALS = 0.5;
    private static final double PAPER_BITMASKS = 0.015;
    private static final double PAPER_HASH_TABLE = 0.87;

    private static final PaperOutput.Chart LATENCY =
            new PaperOutput.Chart("operations", "operation, logarithmic", "time of an operation, logarithmic");
    private static final PaperOutput.Chart MEMORY = new PaperOutput.Chart("memory", "operation", "bytes");

    /** Numbers of operations, by the names of the folders that have their results. */
    private final Map<String, Integer> runs = new LinkedHashMap<>();

    /** {@link java.util.ServiceLoader} calls this constructor. */
    public BellPaper() {
        this(THOUSANDS, Profiles.DEFAULT_OPERATIONS);
    }

    BellPaper(final int few, final int many) {
        runs.put("thousands", few);
        runs.put("million", many);
    }

    @Override
    public String name() {
        return "bell";
    }

    @Override
    public String title() {
        return "O. Bell, A. Kumar and C. Gill, Host-Based Allocators for Device Memory (2024)";
    }

    @Override
    public List<PaperOutput> outputs() {
        final List<PaperOutput> outputs = new ArrayList<>();
        outputs.add(new PaperOutput(
                "bell/table-overheads",
                "Section III-D: host memory in the worst case, of host memory and block together",
                false,
                "The paper counts what a block of 8 bytes takes. Ours is the host memory of a strategy whose tables are"
                        + " full, for each block and 8 bytes of memory; the bitmask's for each boundary of granules.",
                null,
                BellPaper::overheads));
        runs.keySet().forEach(run -> {
            final String suffix = run.equals("thousands") ? "" : "-" + run;
            final String times = run.equals("thousands") ? "the paper's several thousand" : "a million";
            outputs.add(new PaperOutput(
                    "bell/figure-3" + suffix,
                    "Latency of malloc and free, " + times + " operations",
                    false,
                    "The paper's figure has no numbers in its text. Each point is the median of a stretch of operations,"
                            + " the first ones apart; the file of operations has the slowest of each stretch, too.",
                    LATENCY,
                    results -> latencies(results.within(run))));
            outputs.add(new PaperOutput(
                    "bell/figure-4" + suffix,
                    "Memory during the benchmark, " + times + " operations",
                    false,
                    "Ours is the distance from the region's start to the end of the last block in use, in the smallest"
                            + " region that serves all; the paper's is what the process has of the device.",
                    MEMORY,
                    results -> memory(results.within(run))));
        });
        outputs.add(new PaperOutput(
                "bell/claim-two-orders",
                "\"Outperforms the default CUDA allocator by 2 orders of magnitude\": times faster, by medians",
                true,
                "Strategies are called from Java, without a device call; CUDA's allocator through JCuda.",
                null,
                this::orders));
        outputs.add(new PaperOutput(
                "bell/claim-outliers",
                "\"Some outliers during program initialization ... upwards of 2ms\": the slowest calls",
                false,
                "Ours are measured after some passes over the trace, except for figure 3, which has first calls.",
                null,
                this::outliers));
        outputs.add(new PaperOutput(
                "bell/claim-50-percent",
                "\"A roughly 50% fragmentation ratio\": share of the smallest region that isn't live at the peak",
                false,
                "segregated-fit also looks at its request's own list, so it needs less than the paper's form; where there"
                        + " is segregated-fit-paper, that one doesn't.",
                null,
                this::fragmentation));
        return List.copyOf(outputs);
    }

    @Override
    public List<String> measure(final PaperRun run) throws IOException {
        final List<String> known =
                Strategies.all().stream().map(StrategyProvider::name).toList();
        final List<String> strategies =
                STRATEGIES.stream().filter(known::contains).toList();
        final Path folder = Objects.requireNonNull(run.output().out());
        final PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        for (final Map.Entry<String, Integer> one : runs.entrySet()) {
            final MeasureOptions options =
                    new MeasureOptions(strategies, run.device(), run.output().within(folder.resolve(one.getKey())));
            options.check();
            new MeasurementRun(Profiles.named(PROFILE, one.getValue()), options, nowhere, nowhere).run();
        }
        return List.of();
    }

    private static PaperTable overheads(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        final String column = "host memory";
        table.paper("HALs", column, share(PAPER_HALS));
        table.paper("Bitmasks", column, share(PAPER_BITMASKS));
        table.paper("Hash Table", column, share(PAPER_HASH_TABLE));
        for (final JsonObject line : lines(results.within("thousands"))) {
            final double bytes = line.number("hostBytesPerBlock");
            switch (line.text("strategy")) {
                case "hal-best-fit" -> table.ours("HALs", column, share(bytes / (bytes + WORD)));
                case SEGREGATED -> table.ours("Hash Table", column, share(bytes / (bytes + WORD)));
                case "bitmask" -> {
                    final double each = line.number("hostBytes") / (line.number("regionBytes") / GRANULE);
                    table.ours("Bitmasks", column, share(each / (each + WORD)));
                }
                default -> {}
            }
        }
        return table;
    }

    private static PaperTable latencies(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        for (final JsonObject line : measured(results)) {
            for (final double[] row : results.rows(line.text("files") + "-operations.csv")) {
                final String column = Units.count(row[0]);
                table.at(column, row[0]).ours(line.text("strategy"), column, time(row[1]));
            }
        }
        return table;
    }

    private static PaperTable memory(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        for (final JsonObject line : measured(results)) {
            final List<double[]> rows = results.rows(line.text("files") + "-memory.csv");
            final boolean isDriver = isDriver(line);
            final double start = rows.isEmpty() ? 0 : rows.get(0)[4] - rows.get(0)[1];
            for (int i = 0; i < rows.size(); i += Math.max(1, rows.size() / MOST_ROWS)) {
                final double[] row = rows.get(i);
                final String column = Units.count(row[0]);
                table.at(column, row[0])
                        .ours("live bytes", column, bytes(row[1]))
                        .ours(line.text("strategy"), column, bytes(isDriver ? Math.max(0, row[4] - start) : row[2]));
            }
        }
        return table;
    }

    private PaperTable orders(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        for (final String run : runs.keySet()) {
            final List<JsonObject> lines = measured(results.within(run));
            final Optional<JsonObject> cuda = lines.stream()
                    .filter(line -> line.text("strategy").equals(DriverAllocators.CUDA_MALLOC))
                    .findFirst();
            for (final String operation : List.of("allocate", "free")) {
                final String column = operation + ", " + run;
                table.paper(SEGREGATED, column, factor(PAPER_FACTOR));
                for (final JsonObject line : lines) {
                    if (cuda.isPresent() && !isDriver(line)) {
                        table.ours(
                                line.text("strategy"),
                                column,
                                factor(median(cuda.get(), operation) / median(line, operation)));
                    }
                }
            }
        }
        return table;
    }

    private static double median(final JsonObject line, final String operation) {
        return line.object(operation).number(Percentile.P50.key());
    }

    private PaperTable outliers(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        for (final String run : runs.keySet()) {
            final PaperResults some = results.within(run);
            for (final JsonObject line : measured(some)) {
                final double first = some.rows(line.text("files") + "-operations.csv").stream()
                        .mapToDouble(row -> row[2])
                        .max()
                        .orElse(Double.NaN);
                final String column = "first pass, " + run;
                table.ours(line.text("strategy"), column, time(first));
                for (final String operation : List.of("allocate", "free")) {
                    table.ours(
                            line.text("strategy"),
                            operation + ", " + run,
                            time(line.object(operation).number(Percentile.MAX.key())));
                }
                if (line.text("strategy").equals(SEGREGATED)) {
                    table.paper(SEGREGATED, column, time(PAPER_OUTLIER_NS));
                }
            }
        }
        return table;
    }

    private PaperTable fragmentation(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        for (final String run : runs.keySet()) {
            table.paper(SEGREGATED, run, share(PAPER_FRAGMENTATION));
            for (final JsonObject line : measured(results.within(run))) {
                final double region = line.number("smallestRegionBytes");
                if (!isDriver(line)) {
                    table.ours(
                            line.text("strategy"),
                            run,
                            Double.isNaN(region)
                                    ? new Cell(Double.NaN, "none serves")
                                    : share(1 - line.number("peakLiveBytes") / region));
                }
            }
        }
        return table;
    }

    private static List<JsonObject> lines(final PaperResults results) throws IOException {
        return results.read(ResultFolder.RESULTS, JsonReader::read);
    }

    /** Returns the results of the allocators that the paper's section VI is about, and CUDA's. */
    private static List<JsonObject> measured(final PaperResults results) throws IOException {
        return lines(results).stream()
                .filter(line -> line.text("strategy").startsWith(SEGREGATED)
                        || line.text("strategy").equals(TLSF)
                        || isDriver(line))
                .toList();
    }

    private static boolean isDriver(final JsonObject line) {
        return DriverAllocators.names().contains(line.text("strategy"));
    }

    private static Cell share(final double value) {
        return new Cell(value, Units.percent(value));
    }

    private static Cell time(final double ns) {
        return new Cell(ns, Units.time(ns));
    }

    private static Cell bytes(final double value) {
        return new Cell(value, Units.bytes(value));
    }

    private static Cell factor(final double value) {
        return new Cell(value, Units.factor(value));
    }
}
