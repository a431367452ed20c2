package io.outboard.bench.cli.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A file of figures as one table: a row for each line, a column for each number. */
public final class FiguresSection implements Section {

    /**
     * What a file of figures holds.
     *
     * @param fileName its name in the folder: one JSON object a line
     * @param title what it shows
     * @param rows keys of what tells one line from the others
     * @param numbers keys of numbers
     * @param latencies keys of objects with percentiles, in nanoseconds, or ratios of these
     */
    public record Kind(
            String fileName, String title, List<String> rows, List<String> numbers, List<String> latencies) {}

    /** All that there are, in the order of the page. */
    public static final List<Kind> KINDS = List.of(
            new Kind(
                    "ratios.jsonl",
                    "Times faster than the driver",
                    List.of("strategy", "reusePolicy", "baseline"),
                    List.of(),
                    List.of("allocateRatio", "freeRatio")),
            new Kind(
                    "thread-profiles.jsonl",
                    "Thread profiles",
                    List.of("profile", "strategy", "allocator", "reusePolicy", "threads", "others", "launchers"),
                    List.of(
                            "opsPerSecond",
                            "ratio",
                            "cpuNsPerOp",
                            "bareOpsPerSecond",
                            "gcBytesPerOp",
                            "heldBytes",
                            "peakHeldBytes",
                            "peakLiveBytes"),
                    List.of("allocate", "free")),
            new Kind(
                    "thread-memory.jsonl",
                    "Memory by threads",
                    List.of("trace", "mode", "strategy", "reusePolicy", "slackBytes", "threads"),
                    List.of("heldBytes", "peakLiveBytes", "heldBytesOfOne", "ratio"),
                    List.of()),
            new Kind(
                    "sweep.jsonl",
                    "Latency by size",
                    List.of("sizeBytes", "strategy", "allocator", "reusePolicy", "threads"),
                    List.of(),
                    List.of("allocate", "free")),
            new Kind(
                    "smallest.jsonl",
                    "Smallest regions over seeds",
                    List.of("profile", "strategy"),
                    List.of(
                            "seeds",
                            "firstServedMean",
                            "firstServedWorst",
                            "lastRefusedMean",
                            "lastRefusedWorst",
                            "unserved"),
                    List.of()),
            new Kind(
                    "tail.jsonl",
                    "Tail latency",
                    List.of("profile", "strategy", "beside"),
                    List.of("ops", "p50Ns", "p999Ns", "p9999Ns", "p99999Ns", "maxNs", "pauses", "seconds", "failures"),
                    List.of()),
            new Kind(
                    "soak.jsonl",
                    "Soak",
                    List.of("reusePolicy", "threads", "device"),
                    List.of(
                            "seconds",
                            "operations",
                            "violations",
                            "peakLiveBytes",
                            "peakHeldBytes",
                            "heldBytes",
                            "peakLimboBytes",
                            "heldOverLive",
                            "synchronizations"),
                    List.of()));

    private final ResultFolder folder;
    private final Kind kind;

    /** The section of a folder that has the kind's file. */
    public FiguresSection(final ResultFolder folder, final Kind kind) {
        this.folder = folder;
        this.kind = kind;
    }

    @Override
    public String title() {
        return kind.title();
    }

    @Override
    public String html() throws IOException {
        final HtmlTable table = new HtmlTable(kind.title(), String.join(", ", kind.rows()));
        kind.numbers().forEach(key -> table.column(" ", key));
        kind.latencies()
                .forEach(key -> Percentile.OF_RESULTS.forEach(
                        percentile -> table.column(key.replace("Ratio", ""), percentile.title())));
        final List<String> lines = folder.lines(kind.fileName());
        for (int i = 0; i < lines.size(); i++) {
            if (!lines.get(i).isBlank()) {
                final JsonObject line = JsonReader.read(folder.path(kind.fileName()), i + 1, lines.get(i));
                table.row(Html.escape(heading(line)), cells(line));
            }
        }
        return table.html();
    }

    private String heading(final JsonObject line) {
        return kind.rows().stream()
                .map(line::text)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
    }

    private List<HtmlTable.Cell> cells(final JsonObject line) {
        final List<HtmlTable.Cell> cells = new ArrayList<>();
        for (final String key : kind.numbers()) {
            final double number = line.number(key);
            cells.add(new HtmlTable.Cell(number, text(key, number)));
        }
        for (final String key : kind.latencies()) {
            final JsonObject latencies = line.object(key);
            for (final Percentile percentile : Percentile.OF_RESULTS) {
                final double number = latencies.number(percentile.key());
                cells.add(
                        new HtmlTable.Cell(number, key.endsWith("Ratio") ? Units.factor(number) : Units.time(number)));
            }
        }
        return cells;
    }

    private static String text(final String key, final double number) {
        if (key.endsWith("Bytes") || key.endsWith("BytesOfOne") || key.endsWith("BytesPerOp")) {
            return Units.bytes(number);
        }
        if (key.endsWith("Ns")) {
            return Units.time(number);
        }
        return number == Math.rint(number) ? Units.count(number) : Units.number(number);
    }
}
