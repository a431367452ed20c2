package io.outboard.bench.cli.paper;

import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.report.ChartGroup;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.Series;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The values of an output, in rows and columns: what the paper prints, and ours beside. A column may have a place on an
 * axis, for a chart. Confined to one thread.
 */
public final class PaperTable {

    private static final String PAPER = "paper";
    private static final String OURS = "ours";
    private static final String ELSEWHERE = "elsewhere";

    /** A chart with more places than these has a folded table on the page, and some of its numbers on the terminal. */
    private static final int MOST_PLACES = 16;

    private final Map<String, Double> columns = new LinkedHashMap<>();
    private final Map<String, Map<String, Pair>> rows = new LinkedHashMap<>();
    private final Set<String> elsewhere = new HashSet<>();

    private record Pair(HtmlTable.@Nullable Cell paper, HtmlTable.@Nullable Cell ours) {

        private static final Pair NONE = new Pair(null, null);
    }

    /** Makes a table without rows. */
    public PaperTable() {}

    /**
     * Adds what the paper prints.
     *
     * @param row heading of the row
     * @param column heading of the column
     * @param value the number, and the text for people; NaN if the text is no number
     * @return this
     */
    public PaperTable paper(final String row, final String column, final HtmlTable.Cell value) {
        return put(row, column, new Pair(value, pair(row, column).ours));
    }

    /**
     * Adds what we measured.
     *
     * @param row heading of the row
     * @param column heading of the column
     * @param value as for {@link #paper}
     * @return this
     */
    public PaperTable ours(final String row, final String column, final HtmlTable.Cell value) {
        return put(row, column, new Pair(pair(row, column).paper, value));
    }

    /**
     * Adds what was measured before, with another harness. In a chart these are points, under the look of the name
     * before the comma.
     *
     * @param row heading of the row: a name, a comma, and whose it is
     * @param column heading of the column
     * @param value as for {@link #paper}
     * @return this
     */
    public PaperTable elsewhere(final String row, final String column, final HtmlTable.Cell value) {
        elsewhere.add(row);
        return ours(row, column, value);
    }

    /**
     * Gives a column its place on the axis of a chart.
     *
     * @param column heading of the column
     * @param x the place
     * @return this
     */
    public PaperTable at(final String column, final double x) {
        columns.put(column, x);
        return this;
    }

    private PaperTable put(final String row, final String column, final Pair pair) {
        columns.putIfAbsent(column, Double.NaN);
        rows.computeIfAbsent(row, key -> new LinkedHashMap<>()).put(column, pair);
        return this;
    }

    private Pair pair(final String row, final String column) {
        return rows.getOrDefault(row, Map.of()).getOrDefault(column, Pair.NONE);
    }

    /**
     * Tells whether anything of ours is known; without, the output is left out.
     *
     * @return false if all values are the paper's
     */
    public boolean hasOurs() {
        return rows.values().stream()
                .flatMap(row -> row.values().stream())
                .map(Pair::ours)
                .anyMatch(cell -> cell != null && !cell.text().equals(Html.NONE));
    }

    /** Returns one object for each value, to which facts about the run can be added. */
    List<JsonLine> lines(final String output) {
        final List<JsonLine> lines = new ArrayList<>();
        rows.forEach((row, values) -> values.forEach((column, pair) -> {
            final JsonLine line =
                    new JsonLine().put("output", output).put("row", row).put("column", column);
            put(line, "x", columns.getOrDefault(column, Double.NaN));
            put(line, PAPER, pair.paper);
            put(line, OURS, pair.ours);
            if (elsewhere.contains(row)) {
                line.put(ELSEWHERE, "yes");
            }
            lines.add(line);
        }));
        return lines;
    }

    private static void put(final JsonLine line, final String key, final HtmlTable.@Nullable Cell cell) {
        if (cell != null) {
            put(line, key, cell.exact());
            line.put(key + "Text", cell.text());
        }
    }

    private static void put(final JsonLine line, final String key, final double value) {
        if (!Double.isNaN(value)) {
            line.put(key, value, value == Math.rint(value) ? 0 : 6);
        }
    }

    /** Adds the value that a line holds. */
    void add(final JsonObject line) {
        final String column = line.text("column");
        put(line.text("row"), column, new Pair(cell(line, PAPER), cell(line, OURS)));
        if (!line.text(ELSEWHERE).isEmpty()) {
            elsewhere.add(line.text("row"));
        }
        if (!Double.isNaN(line.number("x"))) {
            at(column, line.number("x"));
        }
    }

    private static HtmlTable.@Nullable Cell cell(final JsonObject line, final String key) {
        final String text = line.text(key + "Text");
        return text.isEmpty() ? null : new HtmlTable.Cell(line.number(key), text);
    }

    /** Prints the values for people; of a long curve, some that are evenly spread. */
    void print(final PrintWriter out) {
        final TextTable<String> table = new TextTable<String>().column("", row -> row);
        final List<String> all = List.copyOf(columns.keySet());
        final int step = 1 + (all.size() - 1) / MOST_PLACES;
        for (int i = 0; i < all.size(); i += step) {
            final String column = all.get(i);
            table.group(isOursAlone() ? "" : column);
            if (hasPaper(column)) {
                table.column(PAPER, row -> text(pair(row, column).paper));
            }
            if (hasOurs(column)) {
                table.column(isOursAlone() ? column : OURS, row -> text(pair(row, column).ours));
            }
        }
        table.print(List.copyOf(rows.keySet()), out);
    }

    /** Tells whether the paper prints none of the values, so that a heading needn't say whose they are. */
    private boolean isOursAlone() {
        return columns.keySet().stream().noneMatch(this::hasPaper);
    }

    private boolean hasPaper(final String column) {
        return rows.keySet().stream().anyMatch(row -> pair(row, column).paper != null);
    }

    private boolean hasOurs(final String column) {
        return rows.keySet().stream().anyMatch(row -> pair(row, column).ours != null);
    }

    private static String text(final HtmlTable.@Nullable Cell cell) {
        return cell == null ? Html.NONE : cell.text();
    }

    /** Returns the values as a table, below the chart if there is one to draw. */
    String html(final PaperOutput output) {
        final HtmlTable table = new HtmlTable(output.title(), "");
        for (final String column : columns.keySet()) {
            if (hasPaper(column)) {
                table.column(column, PAPER);
            }
            if (hasOurs(column)) {
                table.column(isOursAlone() ? "" : column, isOursAlone() ? column : OURS);
            }
        }
        final List<Series> looks = Series.ofStrategies(List.copyOf(rows.keySet()));
        for (final Series look : looks) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final String column : columns.keySet()) {
                final Pair pair = pair(look.name(), column);
                if (hasPaper(column)) {
                    cells.add(shown(pair.paper));
                }
                if (hasOurs(column)) {
                    cells.add(shown(pair.ours));
                }
            }
            table.row(output.chart() == null ? Html.escape(look.name()) : look.html(), cells);
        }
        return Optional.ofNullable(output.chart())
                .filter(chart -> places().length > 1)
                .map(chart -> chart(output, chart, looks, table))
                .orElseGet(table::html);
    }

    private String chart(
            final PaperOutput output, final PaperOutput.Chart chart, final List<Series> looks, final HtmlTable table) {
        final double[] x = places();
        final ChartGroup group = new ChartGroup(chart.kind(), chart.xTitle(), chart.yTitle());
        for (final Series look : looks) {
            final double[] ours = values(look.name(), true);
            final double[] paper = values(look.name(), false);
            if (elsewhere.contains(look.name())) {
                final Series own = Series.of(look.name().replaceFirst(",.*", ""));
                group.points(new Series(look.name(), own.colour(), "--dash-2"), x, ours);
            } else if (!isEmpty(ours)) {
                group.line(look, x, ours);
            }
            if (!isEmpty(paper)) {
                group.points(new Series(look.name() + ", paper", look.colour(), "--dash-2"), x, paper);
            }
        }
        group.figure(
                output.title(),
                "Line chart: " + output.title() + ". The table below it holds the numbers.",
                "In numbers",
                table,
                x.length <= MOST_PLACES);
        return group.html();
    }

    private double[] places() {
        return columns.values().stream()
                .mapToDouble(x -> x)
                .filter(x -> !Double.isNaN(x))
                .sorted()
                .toArray();
    }

    /** Returns the values of a row in the order of their places on the axis. */
    private double[] values(final String row, final boolean ours) {
        return columns.entrySet().stream()
                .filter(column -> !Double.isNaN(column.getValue()))
                .sorted(Map.Entry.comparingByValue())
                .map(column -> pair(row, column.getKey()))
                .map(pair -> ours ? pair.ours : pair.paper)
                .mapToDouble(cell -> cell == null ? Double.NaN : cell.exact())
                .toArray();
    }

    private static boolean isEmpty(final double... values) {
        for (final double value : values) {
            if (!Double.isNaN(value)) {
                return false;
            }
        }
        return true;
    }

    private static HtmlTable.Cell shown(final HtmlTable.@Nullable Cell cell) {
        return cell == null ? new HtmlTable.Cell(Double.NaN, Html.NONE) : cell;
    }
}
