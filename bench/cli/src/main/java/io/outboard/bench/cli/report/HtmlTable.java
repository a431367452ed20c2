package io.outboard.bench.cli.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A table of numbers has a heading for every row and column, and its columns are in named groups if there are several
 * kinds. On a phone, or with more columns than fit a page, every row becomes a block with its name and, below it, its
 * numbers with their headings. The page also holds every number in full, for programs and for copying.
 */
public final class HtmlTable {

    /**
     * A cell holds a number.
     *
     * @param exact the number in full; NaN if it was not measured, or if the text is no number
     * @param text the number as people read it, or a text in its place
     * @param remarkable whether the cell stands out
     */
    public record Cell(double exact, String text, boolean remarkable) {

        public Cell(final double exact, final String text) {
            this(exact, text, false);
        }

        private String html(final boolean groupStart, final String heading) {
            final String styles = (groupStart ? "start " : "")
                    + (remarkable ? "remarkable " : "")
                    + (Double.isNaN(exact) ? "none " : "");
            final String attribute = styles.isEmpty() ? "" : " class=\"" + styles.strip() + "\"";
            final String content = Double.isNaN(exact)
                    ? Html.escape(text)
                    : "<data value=\"" + Html.number(exact) + "\">" + Html.escape(text) + "</data>";
            // A cell with a dash has no heading, so that a phone omits the cell.
            final String of = text.equals(Html.NONE) ? "" : " data-of=\"" + Html.escape(heading) + "\"";
            return "<td" + attribute + of + ">" + content + "</td>";
        }
    }

    private static final int MOST_COLUMNS = 12;

    private final String label;
    private final String corner;
    private final List<String> groups = new ArrayList<>();
    private final List<String> headings = new ArrayList<>();
    private final StringBuilder body = new StringBuilder();

    /**
     * Makes an empty table.
     *
     * @param label what the table shows, for those who hear it
     * @param corner heading of the row headings
     */
    public HtmlTable(final String label, final String corner) {
        this.label = label;
        this.corner = corner;
    }

    /**
     * Adds a column. Adjacent columns of one group share its heading; if no column has a group, the line of groups is
     * omitted.
     */
    public void column(final String group, final String heading) {
        groups.add(group);
        headings.add(heading);
    }

    /** Adds a row, its heading in HTML, with a cell for every column. */
    public void row(final String headingHtml, final List<Cell> cells) {
        body.append("<tr><th scope=\"row\">").append(headingHtml).append("</th>");
        for (int i = 0; i < cells.size(); i++) {
            body.append(cells.get(i).html(startsGroup(i), (groups.get(i) + " " + headings.get(i)).strip()));
        }
        body.append("</tr>\n");
    }

    public String html() {
        final StringBuilder head = new StringBuilder();
        final boolean grouped = groups.stream().anyMatch(group -> !group.isEmpty());
        if (grouped) {
            head.append("<tr><th scope=\"col\" rowspan=\"2\">")
                    .append(Html.escape(corner))
                    .append("</th>");
            for (int i = 0; i < groups.size(); i = groupEnd(i)) {
                head.append("<th scope=\"colgroup\" class=\"start\" colspan=\"")
                        .append(groupEnd(i) - i)
                        .append("\">")
                        .append(Html.escape(groups.get(i)))
                        .append("</th>");
            }
            head.append("</tr>\n<tr>");
        } else {
            head.append("<tr><th scope=\"col\">").append(Html.escape(corner)).append("</th>");
        }
        for (int i = 0; i < headings.size(); i++) {
            head.append(startsGroup(i) ? "<th scope=\"col\" class=\"start\">" : "<th scope=\"col\">")
                    .append(Html.escape(headings.get(i)))
                    .append("</th>");
        }
        final String name = Html.escape(label);
        // A table that is longer than a screen is folded until the reader opens it.
        final boolean isFolded = headings.size() > MOST_COLUMNS;
        return (isFolded
                        ? "<details><summary>" + name + ", in numbers</summary>\n<div class=\"scroll many\""
                        : "<div class=\"scroll\"")
                + " role=\"region\" tabindex=\"0\" aria-label=\"" + name + "\">\n<table aria-label=\"" + name
                + "\">\n<thead>" + head + "</tr></thead>\n<tbody>" + body + "</tbody>\n</table>\n</div>"
                + (isFolded ? "</details>" : "");
    }

    private boolean startsGroup(final int column) {
        return !groups.get(column).isEmpty()
                && (column == 0 || !groups.get(column).equals(groups.get(column - 1)));
    }

    private int groupEnd(final int start) {
        int end = start + 1;
        while (end < groups.size() && groups.get(end).equals(groups.get(start))) {
            end++;
        }
        return end;
    }
}
