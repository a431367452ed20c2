package io.outboard.bench.common;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * Columns as people read them on a terminal: names to the left, numbers to the right.
 *
 * @param <T> what a row shows
 */
public final class TextTable<T> {

    private record Column<T>(String title, Function<T, String> cell) {}

    private final List<Column<T>> columns = new ArrayList<>();

    /** No columns yet. */
    public TextTable() {}

    /**
     * Adds a column to the right; the first one holds names.
     *
     * @param title its heading
     * @param cell what it shows of a row
     * @return this
     */
    public TextTable<T> column(final String title, final Function<T, String> cell) {
        columns.add(new Column<>(title, row -> plain(cell.apply(row))));
        return this;
    }

    /**
     * Prints the headings and a line for each row.
     *
     * @param rows from the top
     * @param out where to
     */
    public void print(final List<T> rows, final PrintWriter out) {
        final List<StringBuilder> lines = new ArrayList<>();
        for (int i = 0; i <= rows.size(); i++) {
            lines.add(new StringBuilder());
        }
        for (int i = 0; i < columns.size(); i++) {
            final Column<T> column = columns.get(i);
            final int width = rows.stream()
                    .mapToInt(row -> column.cell.apply(row).length())
                    .reduce(column.title.length(), Math::max);
            final String format = i == 0 ? "%-" + width + "s" : "  %" + width + "s";
            lines.get(0).append(String.format(Locale.ROOT, format, column.title));
            for (int row = 0; row < rows.size(); row++) {
                lines.get(row + 1).append(String.format(Locale.ROOT, format, column.cell.apply(rows.get(row))));
            }
        }
        lines.forEach(line -> out.println(line.toString().stripTrailing()));
    }

    /**
     * Terminals know no difference between a space and one that doesn't break.
     *
     * @param text any
     * @return the same with common spaces
     */
    public static String plain(final String text) {
        return text.replace('\u00A0', ' ');
    }
}
