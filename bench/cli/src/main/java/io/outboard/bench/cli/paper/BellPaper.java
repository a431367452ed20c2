package io.outboard.bench.cli.paper;

import io.outboard.bench.cli.device.DriverAllocators;
import io.outboard.bench.cli.measurement.MeasureOptions;
import io.outboard.bench.cli.measurement.MeasurementRun;
import io.outboard.bench.cli.report.HtmlTable.Cell;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.cli.trace.Profiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The paper of Bell et al. (2024), section VI: its segregated fit beside CUDA's allocator on blocks of 1 KiB to 16 MiB,
 * "several thousand times", and as many as our own figures have.
 */
public final class BellPaper implements Paper {

    private static final String SEGREGATED = "segregated-fit";
    private static final String SEGREGATED_PAPER = "segregated-fit-paper";
    private static final String TLSF = "tlsf";

    /** The strategies of section VI and, for the table of section III-D, one of each other kind of list. */
    private static final List<String> STRATEGIES =
            List.of(SEGREGATED, SEGREGATED_PAPER, TLSF, "hal-best-fit", "bitmask");

    private static final String CALLS = "operation,kind,bytes,ns";
    private static final Pattern CALL = Pattern.compile("[0-9]{1,18},(?:allocate|free),[0-9]{1,18},[0-9]{1,18}");

    private static final String PROFILE = "paper";
    private static final int THOUSANDS = 4000;
    private static final int MOST_ROWS = 64;
    private static final int SLOWEST = 10;

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
            outputs.add(new PaperOutput(
                    "bell/slowest-calls" + suffix,
                    "The slowest calls of the first pass, " + times + " operations",
                    false,
                    "The paper shows such outliers as points of figure 3. Each has its kind and its number in the trace;"
                            + " the file of calls has every call of a trace of at most 10,000 operations, and of a longer"
                            + " one the slowest hundred. The Java virtual machine's own pauses are among them.",
                    null,
                    results -> slowest(results.within(run))));
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
                "\"A roughly 50% fragmentation ratio\": share of the memory had so far that isn't live, on average, as in"
                        + " figure 4; and share of the smallest region that isn't live at the peak",
                false,
                "segregated-fit also looks at its request's own list, so it needs less than the paper's policy, which is"
                        + " segregated-fit-paper. Much of the average isn't lost: live bytes lie below their peak most of the"
                        + " time, and no allocator gives back what they needed then.",
                null,
                this::fragmentation));
        return List.copyOf(outputs);
    }

    @Override
    public List<String> measure(final PaperRun run) throws IOException {
        final Path folder = Objects.requireNonNull(run.output().out());
        final List<String> faults = new ArrayList<>();
        final PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        for (final Map.Entry<String, Integer> one : runs.entrySet()) {
            final MeasureOptions options = new MeasureOptions(
                    STRATEGIES,
                    run.device(),
                    MeasureOptions.SMALLEST,
                    run.output().within(folder.resolve(one.getKey())));
            options.check();
            if (new MeasurementRun(Profiles.named(PROFILE, one.getValue()), options, nowhere, nowhere).run() != 0) {
                faults.add(one.getKey() + ": nothing was served");
            }
        }
        return faults;
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
            for (int i = 0; i < rows.size(); i += Math.max(1, rows.size() / MOST_ROWS)) {
                final double[] row = rows.get(i);
                final String column = Units.count(row[0]);
                table.at(column, row[0])
                        .ours(Series.LIVE_BYTES, column, bytes(row[1]))
                        .ours(line.text("strategy"), column, bytes(hadBytes(rows, row, isDriver)));
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
                table.paper(SEGREGATED_PAPER, column, factor(PAPER_FACTOR));
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
                if (line.text("strategy").equals(SEGREGATED_PAPER)) {
                    table.paper(SEGREGATED_PAPER, column, time(PAPER_OUTLIER_NS));
                }
            }
        }
        return table;
    }

    private PaperTable fragmentation(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        for (final String run : runs.keySet()) {
            final String average = "average, " + run;
            table.paper(SEGREGATED_PAPER, average, share(PAPER_FRAGMENTATION));
            for (final JsonObject line : measured(results.within(run))) {
                final String strategy = line.text("strategy");
                table.ours(strategy, average, share(notLive(results.within(run), line)));
                if (!isDriver(line)) {
                    final double region = line.number("smallestRegionBytes");
                    table.ours(
                            strategy,
                            "peak, " + run,
                            Double.isNaN(region)
                                    ? new Cell(Double.NaN, "none serves")
                                    : share(1 - line.number("peakLiveBytes") / region));
                }
            }
        }
        return table;
    }

    /** Returns the share of the memory that isn't live, over all samples: what was had once is never given back. */
    private static double notLive(final PaperResults results, final JsonObject line) throws IOException {
        final List<double[]> rows = results.rows(line.text("files") + "-memory.csv");
        double live = 0;
        double had = 0;
        double most = 0;
        for (final double[] row : rows) {
            most = Math.max(most, hadBytes(rows, row, isDriver(line)));
            live += row[1];
            had += most;
        }
        return 1 - live / had;
    }

    /** Returns the bytes that a sample tells an allocator has: the extent, or what the device has given the driver. */
    private static double hadBytes(final List<double[]> rows, final double[] row, final boolean isDriver) {
        final double[] first = rows.get(0);
        return isDriver ? Math.max(0, row[4] - (first[4] - first[1])) : row[2];
    }

    private static PaperTable slowest(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        for (final JsonObject line : measured(results)) {
            final List<String[]> calls = calls(results, line.text("files") + "-calls.csv").stream()
                    .sorted(Comparator.comparingLong((String[] call) -> -Long.parseLong(call[3])))
                    .limit(SLOWEST)
                    .toList();
            for (int i = 0; i < calls.size(); i++) {
                final String[] call = calls.get(i);
                final double ns = Double.parseDouble(call[3]);
                final String text = Units.time(ns) + ", " + call[1] + " " + Units.count(Double.parseDouble(call[0]));
                table.ours(line.text("strategy"), (i + 1) + ".", new Cell(ns, text));
            }
        }
        return table;
    }

    /** Reads the cells of each line: number of the operation, kind, bytes, nanoseconds. */
    private static List<String[]> calls(final PaperResults results, final String file) throws IOException {
        final List<String> lines = results.read(file, (name, number, line) -> {
            if (!line.startsWith("#")
                    && !line.equals(CALLS)
                    && !CALL.matcher(line).matches()) {
                throw new IllegalArgumentException(name + ":" + number + ": " + line + " must be " + CALLS);
            }
            return line;
        });
        return lines.stream()
                .filter(line -> CALL.matcher(line).matches())
                .map(line -> line.split(",", -1))
                .toList();
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
