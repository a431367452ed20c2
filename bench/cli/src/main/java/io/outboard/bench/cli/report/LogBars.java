package io.outboard.bench.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/**
 * This class is a chart of bars over a logarithmic axis, with several bars for each name and its number behind each
 * bar. The chart is an SVG image that needs no script, inside a page or as a file of its own. Its colours are those of
 * {@code report.css}, in light and dark. Confined to one thread.
 */
public final class LogBars {

    private static final double CHARACTER = 7.6;
    private static final double SMALL_CHARACTER = 6.4;
    private static final int WIDE = 560;
    private static final int AXIS = 40;
    private static final int MANY = 7;

    /**
     * A bar shows one value of the chart.
     *
     * @param tag what distinguishes the bar from others of its name
     * @param value length of the bar; if it isn't > 0, the bar is drawn as the shortest
     * @param text the number, for people
     */
    public record Bar(String tag, double value, String text) {}

    private record Row(Series look, String name, List<Bar> bars) {}

    private final String title;
    private final String axis;
    private final double shortest;
    private final DoubleFunction<String> tick;
    private final List<Row> rows = new ArrayList<>();

    /**
     * Makes a chart without bars.
     *
     * @param title what is shown
     * @param axis title of the axis, with its unit
     * @param shortest lower values are drawn as this one, since a logarithmic axis has no zero
     * @param tick formats a number of the axis for people
     */
    public LogBars(final String title, final String axis, final double shortest, final DoubleFunction<String> tick) {
        this.title = title;
        this.axis = axis;
        this.shortest = shortest;
        this.tick = tick;
    }

    /** Adds bars of one name. Bars without a value are left out; so is a name without bars. */
    public void row(final Series look, final String name, final List<Bar> bars) {
        final List<Bar> measured =
                bars.stream().filter(bar -> !Double.isNaN(bar.value())).toList();
        if (!measured.isEmpty()) {
            rows.add(new Row(look, name, measured));
        }
    }

    public boolean isEmpty() {
        return rows.isEmpty();
    }

    /** Returns the chart for a page, once wide and once for a phone; the style sheet shows the one that fits. */
    public String html() {
        return "<div class=\"logbars\">\n<p>" + Html.escape(title) + "</p>\n" + svg(620, "wide", "")
                + svg(390, "narrow", "") + "</div>\n";
    }

    /** Returns the chart as a file of its own. */
    public String file() {
        final String css = Template.load("report.css");
        final String colours = css.substring(css.indexOf(":root"), css.indexOf("* {"));
        return svg(
                        860,
                        "file",
                        "<style>\n" + colours + "svg { font-family: ui-sans-serif, system-ui, \"Segoe UI\", Roboto,"
                                + " \"Liberation Sans\", sans-serif; }\n</style>\n<rect width=\"100%\" height=\"100%\""
                                + " rx=\"6\" style=\"fill:var(--paper)\"/>\n")
                + "\n";
    }

    private String svg(final int width, final String kind, final String style) {
        final boolean beside = width >= WIDE;
        final int bar = rows.size() > MANY ? 10 : 15;
        final int margin = style.isEmpty() ? 0 : 14;
        final double names = beside
                ? CHARACTER
                                * rows.stream()
                                        .mapToInt(row -> row.name().length())
                                        .max()
                                        .orElse(0)
                        + 12
                : 0;
        final double tags = SMALL_CHARACTER
                        * rows.stream()
                                .flatMap(row -> row.bars().stream())
                                .mapToInt(b -> b.tag().length())
                                .max()
                                .orElse(0)
                + 8;
        final double texts = SMALL_CHARACTER
                        * rows.stream()
                                .flatMap(row -> row.bars().stream())
                                .mapToInt(b -> b.text().length())
                                .max()
                                .orElse(0)
                + 10;
        final int low = (int) Math.floor(Math.log10(least()) - 1e-9);
        // The first number of the axis stands centred below the start of the bars.
        final double firstTick = SMALL_CHARACTER * tick.apply(Math.pow(10, low)).length() / 2;
        final double left = margin + Math.max(names + tags, firstTick);
        final double right = width - margin - texts;
        final int high = Math.max(low + 1, (int) Math.ceil(Math.log10(most()) - 1e-9));
        final StringBuilder body = new StringBuilder();
        double y = style.isEmpty() ? 4 : margin + 28;
        final double top = y;
        final StringBuilder bars = new StringBuilder();
        for (final Row row : rows) {
            final double height = bar * row.bars().size();
            if (!beside) {
                y += bar > 10 ? 15 : 17;
            }
            bars.append(text(margin, beside ? y + height / 2 + 4 : y - 5, "start", "ink", 13, row.name()));
            double opacity = 1;
            for (final Bar one : row.bars()) {
                final double end = left
                        + Math.max(
                                2, (right - left) * (Math.log10(Math.max(shortest, one.value())) - low) / (high - low));
                bars.append(text(left - 5, y + bar - 4, "end", "soft", bar > 10 ? 11 : 9, one.tag()))
                        .append(String.format(
                                Locale.ROOT,
                                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" style=\"fill:var(%s)\""
                                        + " fill-opacity=\"%.2f\"/>\n",
                                left,
                                y + 1,
                                end - left,
                                bar - 3,
                                row.look().colour(),
                                opacity))
                        .append(text(end + 5, y + bar - 4, "start", "ink", bar > 10 ? 11 : 10, one.text()));
                opacity -= 0.25;
                y += bar;
            }
            y += bar > 10 ? 9 : 6;
        }
        for (int power = low; power <= high; power++) {
            final double x = left + (right - left) * (power - low) / (high - low);
            body.append(String.format(
                    Locale.ROOT, "<path d=\"M%.1f %.1fV%.1f\" style=\"stroke:var(--rule)\"/>\n", x, top - 2, y));
            body.append(text(x, y + 14, "middle", "soft", 11, tick.apply(Math.pow(10, power))));
        }
        body.append(bars).append(text((left + right) / 2, y + 32, "middle", "soft", 11, axis));
        final double height = y + AXIS + margin;
        return String.format(
                        Locale.ROOT,
                        "<svg%s class=\"%s\" viewBox=\"0 0 %d %.0f\" width=\"%d\""
                                + " height=\"%.0f\" role=\"img\" aria-label=\"%s\">%n",
                        style.isEmpty() ? "" : " xmlns=\"http://www.w3.org/2000/svg\"",
                        kind,
                        width,
                        height,
                        width,
                        height,
                        Html.escape(label()))
                + style
                + (style.isEmpty() ? "" : text(margin, margin + 12, "start", "ink", 15, title))
                + body
                + "</svg>";
    }

    private static String text(
            final double x,
            final double y,
            final String anchor,
            final String colour,
            final int size,
            final String text) {
        return String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" style=\"fill:var(--%s)\">%s</text>%n",
                x,
                y,
                anchor,
                size,
                colour,
                Html.escape(text));
    }

    /** Returns the numbers, for those who can't see the bars. */
    private String label() {
        final StringBuilder label = new StringBuilder(title).append(". ");
        for (final Row row : rows) {
            label.append(row.name()).append(": ");
            row.bars()
                    .forEach(bar -> label.append(bar.tag())
                            .append(' ')
                            .append(bar.text())
                            .append("; "));
        }
        return label.toString().strip();
    }

    private double least() {
        return rows.stream()
                .flatMap(row -> row.bars().stream())
                .mapToDouble(bar -> Math.max(shortest, bar.value()))
                .min()
                .orElse(1);
    }

    private double most() {
        return rows.stream()
                .flatMap(row -> row.bars().stream())
                .mapToDouble(bar -> Math.max(shortest, bar.value()))
                .max()
                .orElse(10);
    }
}
