package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Result;
import io.outboard.bench.cli.report.Section;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/**
 * This class shows all strategies on all traces in one table, with a line for each strategy and a column for each
 * trace.
 */
final class OverviewSection implements Section {

    private final Map<String, List<Result>> resultsByTrace;
    private final Map<String, Series> series;

    /**
     * Makes the section of a whole folder.
     *
     * @param resultsByTrace results of the folder
     * @param series the looks of results, by name
     */
    OverviewSection(final Map<String, List<Result>> resultsByTrace, final Map<String, Series> series) {
        this.resultsByTrace = resultsByTrace;
        this.series = series;
    }

    @Override
    public String title() {
        return "All traces";
    }

    @Override
    public String html() {
        return table("Time per operation", result -> result.number("nsPerOp"), Units::time)
                + table("Smallest region \u00F7 peak live", Result::regionOverLive, Units::ratio);
    }

    /** Returns a table with a line for each strategy that has such a number; nothing if no strategy has one. */
    private String table(
            final String title, final ToDoubleFunction<Result> measure, final DoubleFunction<String> format) {
        final HtmlTable table = new HtmlTable(title + " on every trace", "Strategy");
        resultsByTrace.keySet().forEach(trace -> table.column("", trace));
        boolean empty = true;
        for (final Series look : series.values()) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final List<Result> results : resultsByTrace.values()) {
                final double value = results.stream()
                        .filter(result -> result.name().equals(look.name()))
                        .mapToDouble(measure)
                        .findFirst()
                        .orElse(Double.NaN);
                cells.add(new HtmlTable.Cell(value, format.apply(value)));
            }
            if (cells.stream().anyMatch(cell -> !Double.isNaN(cell.exact()))) {
                table.row(look.html(), cells);
                empty = false;
            }
        }
        return empty ? "" : "<h3>" + Html.escape(title) + "</h3>\n" + table.html() + "\n";
    }
}
