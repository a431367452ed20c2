package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.ChartGroup;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Section;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * This class shows how many operations several threads do on one pool, with a line for each pool and a column for each
 * number of threads.
 */
final class ThreadsSection implements Section {

    /** The name of the file in the folder, which has one JSON object a line. */
    static final String FILE_NAME = "threads.jsonl";

    private final ResultFolder folder;

    /**
     * Makes the section of a folder that has the file.
     *
     * @param folder the folder
     */
    ThreadsSection(final ResultFolder folder) {
        this.folder = folder;
    }

    @Override
    public String title() {
        return "Threads that share a pool";
    }

    @Override
    public String html() throws IOException {
        final Map<String, Map<Integer, Double>> curves = read();
        final TreeSet<Integer> counts = new TreeSet<>();
        curves.values().forEach(curve -> counts.addAll(curve.keySet()));
        final HtmlTable table = new HtmlTable("Operations per second of all threads together", "Pool");
        counts.forEach(count -> table.column("Threads", String.valueOf(count)));
        final ChartGroup group = new ChartGroup("threads", "threads", "operations per second, all threads together");
        final List<Series> looks = Series.ofStrategies(List.copyOf(curves.keySet()));
        for (final Series look : looks) {
            final Map<Integer, Double> curve = curves.getOrDefault(look.name(), Map.of());
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final int count : counts) {
                final double rate = curve.getOrDefault(count, Double.NaN);
                cells.add(new HtmlTable.Cell(rate, Units.count(rate)));
            }
            table.row(look.html(), cells);
            group.line(
                    look,
                    counts.stream().mapToDouble(count -> count).toArray(),
                    counts.stream()
                            .mapToDouble(count -> curve.getOrDefault(count, Double.NaN))
                            .toArray());
        }
        group.figure(
                "Operations per second",
                "Line chart of the operations per second of all threads together, by their number. The table below it"
                        + " holds the numbers.",
                "Operations per second in numbers",
                table,
                true);
        return group.html();
    }

    private Map<String, Map<Integer, Double>> read() throws IOException {
        final Map<String, Map<Integer, Double>> curves = new LinkedHashMap<>();
        for (final JsonObject line : folder.results(FILE_NAME, JsonReader::read)) {
            final String name = line.requiredText("strategy") + ", " + line.requiredText("reusePolicy") + ", "
                    + line.requiredText("trace");
            curves.computeIfAbsent(name, ignored -> new LinkedHashMap<>())
                    .put((int) line.number("threads"), line.number("opsPerSecond"));
        }
        return curves;
    }
}
