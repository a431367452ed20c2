package io.outboard.bench.cli.report;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A chart group has charts of one kind that share a legend and a vertical scale, so that they can be compared at a
 * glance. Each chart has its numbers in a table below it. The look of a kind (axes, units) is defined in
 * {@code report.js}.
 */
public final class ChartGroup {

    private final String kind;
    private final String xTitle;
    private final String yTitle;
    private final Map<String, Series> legend = new LinkedHashMap<>();
    private final StringBuilder figures = new StringBuilder();
    private final StringBuilder lines = new StringBuilder();

    /**
     * Makes an empty group.
     *
     * @param kind name of the kind in {@code report.js}
     * @param xTitle what the axis from left to right shows, with its unit
     * @param yTitle what the axis from bottom to top shows, with its unit
     */
    public ChartGroup(final String kind, final String xTitle, final String yTitle) {
        this.kind = kind;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
    }

    public boolean isEmpty() {
        return figures.isEmpty();
    }

    /** Adds a line to the figure that {@link #figure} closes next; NaN is a gap. */
    public void line(final Series series, final double[] x, final double[] y) {
        line(series, x, y, false);
    }

    /** Adds single points that were measured elsewhere, like {@link #line} but joined across gaps. */
    public void points(final Series series, final double[] x, final double[] y) {
        line(series, x, y, true);
    }

    private void line(final Series series, final double[] x, final double[] y, final boolean points) {
        legend.putIfAbsent(series.name(), series);
        lines.append(lines.isEmpty() ? "" : ",\n")
                .append("{\"name\":")
                .append(Html.json(series.name()))
                .append(",\"colour\":")
                .append(Html.json(series.colour()))
                .append(",\"dash\":")
                .append(Html.json(series.dash()))
                .append(points ? ",\"points\":true" : "")
                .append(",\"x\":")
                .append(Html.json(x))
                .append(",\"y\":")
                .append(Html.json(y))
                .append('}');
    }

    /**
     * Makes a figure of the lines added since the last figure.
     *
     * @param title what the figure shows
     * @param label what the figure shows, for those who cannot see it
     * @param tableTitle what the table holds
     * @param table the same numbers
     * @param open whether the table is short enough to be open from the start
     */
    public void figure(
            final String title,
            final String label,
            final String tableTitle,
            final HtmlTable table,
            final boolean open) {
        figures.append(Template.fill(
                "figure.html",
                Map.of(
                        "title", Html.escape(title),
                        "label", Html.escape(label),
                        "data", "[" + lines + "]",
                        "tableTitle", Html.escape(tableTitle),
                        "open", open ? " open" : "",
                        "table", table.html())));
        lines.setLength(0);
    }

    public String html() {
        final StringBuilder buttons = new StringBuilder();
        for (final Series series : legend.values()) {
            buttons.append("<li><button type=\"button\" aria-pressed=\"")
                    .append(!series.hidden())
                    .append("\" data-series=\"")
                    .append(Html.escape(series.name()))
                    .append("\">")
                    .append(series.html())
                    .append("</button></li>\n");
        }
        return Template.fill(
                "charts.html",
                Map.of(
                        "kind",
                        kind,
                        "x",
                        Html.escape(xTitle),
                        "y",
                        Html.escape(yTitle),
                        "legend",
                        buttons.toString(),
                        "figures",
                        figures.toString()));
    }
}
