package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.Template;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A table has numbers that others published or that published code was measured at, from a small file of
 * comma-separated values beside this class: a heading, then a row on each line, its name first. Immutable, so safe for
 * any number of threads.
 */
public final class PublishedTable {

    /** The folder of such files. */
    static final String FOLDER = "/io/outboard/bench/kernels/report/";

    private final List<String> columns;
    private final Map<String, List<String>> rows;

    private PublishedTable(final List<String> columns, final Map<String, List<String>> rows) {
        this.columns = columns;
        this.rows = Collections.unmodifiableMap(rows);
    }

    public static PublishedTable load(final String resource) {
        List<String> columns = List.of();
        final Map<String, List<String>> rows = new LinkedHashMap<>();
        for (final String line : Template.load(FOLDER + resource).lines().toList()) {
            final List<String> cells = List.of(line.split(",", -1));
            if (line.startsWith("#")) {
                continue;
            }
            if (columns.isEmpty()) {
                columns = cells.subList(1, cells.size());
            } else if (cells.size() == columns.size() + 1) {
                rows.put(cells.get(0), cells.subList(1, cells.size()));
            } else {
                throw new IllegalStateException(
                        resource + ": line " + line + " must have " + (columns.size() + 1) + " cells, as its heading");
            }
        }
        return new PublishedTable(columns, rows);
    }

    public List<String> columns() {
        return columns;
    }

    public List<String> rows() {
        return new ArrayList<>(rows.keySet());
    }

    /** Returns a cell as it stands in the file; empty if there is none. */
    public String text(final String row, final String column) {
        final List<String> cells = rows.get(row);
        final int index = columns.indexOf(column);
        return cells == null || index < 0 ? "" : cells.get(index);
    }

    /** Returns a cell's number; for {@code allocate/free}, the sum; NaN if there is no cell, or the cell is a word. */
    public double number(final String row, final String column) {
        final String text = text(row, column).replace("!", "");
        double sum = 0;
        for (final String part : text.split("/", -1)) {
            if (!part.matches("[0-9]+(\\.[0-9]+)?")) {
                return Double.NaN;
            }
            sum += Double.parseDouble(part);
        }
        return sum;
    }
}
