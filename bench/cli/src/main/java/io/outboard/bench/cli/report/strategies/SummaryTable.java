package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Result;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/**
 * This class shows all results of one trace, a line each, in two tables that fit a page: time per operation, and
 * memory. Percentiles are shown below their curves instead. Columns without any measured value are left out.
 */
final class SummaryTable {

    private record Column(
            String group, String heading, ToDoubleFunction<Result> value, DoubleFunction<String> format) {}

    private SummaryTable() {}

    /**
     * Makes the tables.
     *
     * @param trace name of the trace
     * @param results results of the trace
     * @param series the looks of strategies, by name
     * @return HTML
     */
    static String html(final String trace, final List<Result> results, final Map<String, Series> series) {
        return table("Speed on " + trace, speed(results), results, series)
                + table("Memory on " + trace, memory(), results, series);
    }

    private static String table(
            final String label,
            final List<Column> columns,
            final List<Result> results,
            final Map<String, Series> series) {
        columns.removeIf(
                column -> results.stream().allMatch(result -> Double.isNaN(column.value.applyAsDouble(result))));
        if (columns.isEmpty()) {
            return "";
        }
        final HtmlTable table = new HtmlTable(label, "Strategy");
        columns.forEach(column -> table.column(column.group, column.heading));
        for (final Result result : results) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final Column column : columns) {
                final double value = column.value.applyAsDouble(result);
                final boolean remarkable = column.heading.equals("failures") && value > 0;
                cells.add(new HtmlTable.Cell(value, column.format.apply(value), remarkable));
            }
            table.row(heading(result, results, series), cells);
        }
        return table.html();
    }

    /** Returns how many times faster an operation is than the driver's; NaN unless both were measured. */
    static double speedUp(final Result result, final List<Result> results) {
        return results.stream()
                        .filter(other -> other.strategy().equals(Result.CUDA_MALLOC))
                        .mapToDouble(other -> other.number("nsPerOp"))
                        .findFirst()
                        .orElse(Double.NaN)
                / result.number("nsPerOp");
    }

    private static List<Column> speed(final List<Result> results) {
        final List<Column> columns = new ArrayList<>();
        columns.add(new Column("Speed", "per operation", r -> r.number("nsPerOp"), Units::time));
        columns.add(new Column("Speed", "times cudaMalloc", r -> speedUp(r, results), Units::factor));
        columns.add(new Column("Result", "failures", r -> r.number("failures"), Units::count));
        return columns;
    }

    private static List<Column> memory() {
        final List<Column> columns = new ArrayList<>();
        columns.add(new Column("Device", "region", r -> r.number("regionBytes"), Units::bytes));
        columns.add(new Column("Device", "peak extent", r -> r.number("peakExtentBytes"), Units::bytes));
        columns.add(new Column("Device", "smallest region", r -> r.number("smallestRegionBytes"), Units::bytes));
        columns.add(new Column("Device", "smallest \u00F7 peak live", Result::regionOverLive, Units::ratio));
        columns.add(new Column("Fragmentation", "external", r -> r.number("externalFragmentation"), Units::percent));
        columns.add(new Column("Fragmentation", "internal", r -> r.number("internalFragmentation"), Units::percent));
        columns.add(new Column("Host", "memory", r -> r.number("hostBytes"), Units::bytes));
        columns.add(new Column("Host", "bytes per block", r -> r.number("hostBytesPerBlock"), Units::number));
        columns.add(new Column("Host", "garbage per operation", r -> r.number("gcBytesPerOp"), Units::bytes));
        return columns;
    }

    /**
     * Returns the result's name, with reuse policy and device if results differ in them and the name doesn't say so.
     */
    private static String heading(final Result result, final List<Result> results, final Map<String, Series> series) {
        final Series look = series.get(result.name());
        final StringBuilder html = new StringBuilder(look == null ? Html.escape(result.name()) : look.html());
        if (!result.name().equals(result.strategy())) {
            return html.toString();
        }
        for (final String key : List.of("reusePolicy", "device")) {
            final String text = result.values().text(key);
            final long kinds = results.stream()
                    .map(other -> other.values().text(key))
                    .filter(other -> !other.isEmpty())
                    .distinct()
                    .count();
            if (kinds > 1 && !text.isEmpty()) {
                html.append("<small>").append(Html.escape(text)).append("</small>");
            }
        }
        return html.toString();
    }
}
