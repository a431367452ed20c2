package io.outboard.bench.cli.common;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * This class prints a table on a terminal, with names to the left and numbers to the right. Columns that don't fit the
 * width of the terminal are printed below, with the names again.
 *
 * @param <T> what a row shows
 */
public final class TextTable<T> {

    /** The legend of the mark at the best value. */
    public static final String BEST = "* the best of its column";

    private static final int USUAL_COLUMNS = 80;
    private static final int LEAST_COLUMNS = 40;
    private static final int MOST_COLUMNS = 1000;
    private static final String GAP = "  ";

    /**
     * A column has a {@code measure} by which its best value is chosen, the lower the better, or null if nothing is
     * marked.
     */
    private record Column<T>(
            String group,
            String title,
            Function<T, String> cell,
            @Nullable ToDoubleFunction<T> measure) {

        /** Returns the heading; only the first column of a group that is printed in a block names the group. */
        String heading(final boolean first) {
            return first && !group.isEmpty() ? group + " " + title : title;
        }
    }

    private final List<Column<T>> columns = new ArrayList<>();
    private String group = "";
    private int names = 1;

    /** Makes a table without columns. */
    public TextTable() {}

    /**
     * Adds a column to the right; the first column holds names.
     *
     * @param title heading of the column
     * @param cell gives the text for a row
     * @return this
     */
    public TextTable<T> column(final String title, final Function<T, String> cell) {
        columns.add(new Column<>(group, title, row -> plain(cell.apply(row)), null));
        return this;
    }

    /**
     * Adds a column whose best value is marked if there is more than one value to compare.
     *
     * @param title heading of the column
     * @param cell gives the text for a row
     * @param measure gives a number for a row, the lower the better; NaN if the row can't be the best
     * @return this
     */
    public TextTable<T> column(final String title, final Function<T, String> cell, final ToDoubleFunction<T> measure) {
        columns.add(new Column<>(group, title, row -> plain(cell.apply(row)), measure));
        return this;
    }

    /**
     * Puts the columns that follow into a group. The first column of a group has the group's name before its heading.
     *
     * @param name of the group; empty for none
     * @return this
     */
    public TextTable<T> group(final String name) {
        group = name;
        return this;
    }

    /**
     * Makes all columns so far names of rows.
     *
     * @return this
     */
    public TextTable<T> names() {
        names = columns.size();
        return this;
    }

    /**
     * Prints the headings and a line for each row, no wider than the terminal.
     *
     * @param rows from the top
     * @param out where to
     */
    public void print(final List<T> rows, final PrintWriter out) {
        print(rows, out, terminalColumns());
    }

    void print(final List<T> rows, final PrintWriter out, final int most) {
        final List<List<String>> heads = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            heads.add(cells(columns.get(i), i == 0 || !sameGroup(i), rows));
        }
        List<List<String>> block = new ArrayList<>(heads);
        for (int i = names; i < columns.size(); i++) {
            List<String> next = cells(columns.get(i), block.size() == names || !sameGroup(i), rows);
            final boolean full = width(block) + GAP.length() + next.get(0).length() > most;
            if (block.size() > names && (full || (!sameGroup(i) && belongsBelow(i, block, heads, rows, most)))) {
                printBlock(block, out);
                out.println();
                block = new ArrayList<>(heads);
                next = cells(columns.get(i), true, rows);
            }
            block.add(next);
        }
        printBlock(block, out);
    }

    /** Tells whether a group doesn't fit beside the columns of this block, but fits below them. */
    private boolean belongsBelow(
            final int from,
            final List<List<String>> block,
            final List<List<String>> heads,
            final List<T> rows,
            final int most) {
        if (columns.get(from).group.isEmpty()) {
            return false;
        }
        int width = 0;
        for (int i = from; i < columns.size() && (i == from || sameGroup(i)); i++) {
            width +=
                    GAP.length() + cells(columns.get(i), i == from, rows).get(0).length();
        }
        return width(block) + width > most && width(heads) + width <= most;
    }

    /** Tells whether a column continues the group of the one before it. */
    private boolean sameGroup(final int i) {
        return columns.get(i).group.equals(columns.get(i - 1).group);
    }

    private static int width(final List<List<String>> block) {
        return block.stream()
                        .mapToInt(cells -> cells.get(0).length() + GAP.length())
                        .sum()
                - GAP.length();
    }

    private static void printBlock(final List<List<String>> block, final PrintWriter out) {
        for (int line = 0; line < block.get(0).size(); line++) {
            final StringBuilder text = new StringBuilder();
            for (final List<String> cells : block) {
                text.append(text.isEmpty() ? "" : GAP).append(cells.get(line));
            }
            out.println(text.toString().stripTrailing());
        }
    }

    /** Formats the heading and each row's cell, all of one length. */
    private List<String> cells(final Column<T> column, final boolean first, final List<T> rows) {
        final ToDoubleFunction<T> measure = column.measure;
        final double best = measure == null ? Double.NaN : best(rows, measure);
        final List<String> cells = new ArrayList<>();
        cells.add(column.heading(first) + (Double.isNaN(best) ? "" : " "));
        for (final T row : rows) {
            final boolean marked = measure != null && measure.applyAsDouble(row) == best;
            cells.add(column.cell.apply(row) + (Double.isNaN(best) ? "" : marked ? "*" : " "));
        }
        final int width = cells.stream().mapToInt(String::length).max().orElse(0);
        final String format = (column.equals(columns.get(0)) ? "%-" : "%") + width + "s";
        cells.replaceAll(cell -> String.format(Locale.ROOT, format, cell));
        return cells;
    }

    /** Returns the lowest value; NaN if there are fewer than two to compare. */
    private static <T> double best(final List<T> rows, final ToDoubleFunction<T> measure) {
        final double[] measures = rows.stream()
                .mapToDouble(measure)
                .filter(Double::isFinite)
                .sorted()
                .toArray();
        return measures.length < 2 ? Double.NaN : measures[0];
    }

    /**
     * Finds the width of the terminal: from the variable {@code COLUMNS}, else from what the launcher found out, else
     * 80.
     *
     * @return characters, 40 to 1000
     */
    public static int terminalColumns() {
        return columns(System.getenv("COLUMNS"), System.getProperty("outboard.columns"));
    }

    static int columns(final @Nullable String variable, final @Nullable String property) {
        for (final String text : new String[] {variable, property}) {
            if (text != null && text.matches("[0-9]{1,6}") && Integer.parseInt(text) > 0) {
                return Math.max(LEAST_COLUMNS, Math.min(Integer.parseInt(text), MOST_COLUMNS));
            }
        }
        return USUAL_COLUMNS;
    }

    /**
     * Replaces non-breaking spaces, because terminals treat them like common ones.
     *
     * @param text any text
     * @return the same with common spaces
     */
    public static String plain(final String text) {
        return text.replace('\u00A0', ' ');
    }
}
