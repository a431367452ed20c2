package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.ResultFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A percentile curve is one latency distribution as HdrHistogram prints it: the value at each of a rising list of
 * percentiles, the last of which is the maximum.
 */
final class PercentileCurve {

    private static final Pattern BLANK = Pattern.compile("\\s+");
    private static final String HEADING = "Value Percentile TotalCount";
    /** The lowest value that is drawn, for latencies below the clock's unit, because a logarithmic axis has no zero. */
    private static final double SMALLEST_DRAWN_NS = 1;

    private final double[] valuesNs;
    private final double[] percentiles;
    private final double totalCount;

    private PercentileCurve(final List<double[]> rows) {
        this.valuesNs = rows.stream().mapToDouble(row -> row[0]).toArray();
        this.percentiles = rows.stream().mapToDouble(row -> row[1]).toArray();
        this.totalCount = rows.isEmpty() ? 0 : rows.get(rows.size() - 1)[2];
    }

    /**
     * Reads a file of HdrHistogram's percentile output, values in nanoseconds.
     *
     * @param folder the folder that contains the file
     * @param name name of the file
     * @return the distribution
     * @throws IllegalArgumentException if a line breaks a rule; names file, line and rule
     * @throws IOException if the file cannot be read
     */
    static PercentileCurve read(final ResultFolder folder, final String name) throws IOException {
        final List<double[]> rows = new ArrayList<>();
        String where = "";
        for (final ResultFolder.DataLine line : folder.dataLines(name, PercentileCurve::isHeading, HEADING)) {
            where = line.where();
            final double[] row = row(where, line.text());
            if (!rows.isEmpty()) {
                final double[] previous = rows.get(rows.size() - 1);
                for (int column = 0; column < row.length; column++) {
                    check(row[column] >= previous[column], where, "no column may fall from one line to the next");
                }
            }
            rows.add(row);
        }
        // An empty histogram is printed as a heading without rows.
        check(rows.isEmpty() || rows.get(rows.size() - 1)[1] == 1, where, "the last percentile must be 1");
        return new PercentileCurve(rows);
    }

    boolean isEmpty() {
        return totalCount == 0;
    }

    /**
     * Returns log10(1 / (1 - percentile)) of every row, for the chart; the maximum is drawn where one operation of all
     * would be.
     */
    double[] axis() {
        final double[] axis = new double[percentiles.length];
        double rightmost = Math.log10(Math.max(1, totalCount));
        for (int row = 0; row < axis.length; row++) {
            if (percentiles[row] < 1) {
                axis[row] = Math.rint(Math.log10(1 / (1 - percentiles[row])) * 1e4) / 1e4;
                rightmost = Math.max(rightmost, axis[row]);
            } else {
                axis[row] = Math.rint(rightmost * 1e4) / 1e4;
            }
        }
        return axis;
    }

    /** Returns the value of every row for the chart, in nanoseconds. */
    double[] drawnValuesNs() {
        final double[] drawn = valuesNs.clone();
        for (int row = 0; row < drawn.length; row++) {
            drawn[row] = Math.max(SMALLEST_DRAWN_NS, drawn[row]);
        }
        return drawn;
    }

    private static double[] row(final String where, final String line) {
        final String[] cells = BLANK.split(line, -1);
        check(cells.length == 3 || cells.length == 4, where, "must have 3 or 4 columns, has " + cells.length);
        final double[] row = new double[3];
        for (int column = 0; column < row.length; column++) {
            try {
                row[column] = Double.parseDouble(cells[column]);
            } catch (final NumberFormatException e) {
                row[column] = Double.NaN;
            }
            check(row[column] >= 0 && row[column] < Double.MAX_VALUE, where, cells[column] + " must be a number >= 0");
        }
        check(row[1] <= 1, where, "percentile " + cells[1] + " must be <= 1");
        return row;
    }

    private static boolean isHeading(final String line) {
        return BLANK.matcher(line).replaceAll(" ").startsWith(HEADING);
    }

    private static void check(final boolean holds, final String where, final String rule) {
        if (!holds) {
            throw new IllegalArgumentException(where + ": " + rule);
        }
    }
}
