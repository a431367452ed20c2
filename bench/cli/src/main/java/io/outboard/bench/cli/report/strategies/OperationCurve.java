package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.ResultFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * An operation curve tells how long operations took by their number, from the first call on, as median and slowest of
 * each stretch of operations.
 */
final class OperationCurve {

    /** The ending of the names of such files. */
    static final String SUFFIX = "-operations.csv";

    /** The numbers of operations that a table shows. */
    static final List<Double> DECADES = List.of(1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7);

    private static final String HEADING = "operation,medianNs,maxNs";
    private static final double SMALLEST_DRAWN_NS = 1;

    private final List<double[]> rows;

    private OperationCurve(final List<double[]> rows) {
        this.rows = rows;
    }

    /**
     * Reads a file.
     *
     * @param folder the folder that contains the file
     * @param name name of the file
     * @throws IllegalArgumentException if a line breaks a rule; names file, line and rule
     * @throws IOException if the file can't be read
     */
    static OperationCurve read(final ResultFolder folder, final String name) throws IOException {
        final List<double[]> rows = new ArrayList<>();
        for (final ResultFolder.DataLine line : folder.dataLines(name, HEADING::equals, HEADING)) {
            if (!line.text().matches("[0-9]{1,18},[0-9]{1,18},[0-9]{1,18}")) {
                throw new IllegalArgumentException(line.where() + ": must be three whole numbers, " + HEADING);
            }
            final String[] cells = line.text().split(",", -1);
            final double[] row = {
                Double.parseDouble(cells[0]), Double.parseDouble(cells[1]), Double.parseDouble(cells[2])
            };
            if (row[0] < 1 || (!rows.isEmpty() && row[0] <= rows.get(rows.size() - 1)[0])) {
                throw new IllegalArgumentException(
                        line.where() + ": operation must be >= 1 and grow from one line to the next");
            }
            rows.add(row);
        }
        return new OperationCurve(rows);
    }

    /** Returns the number of the last operation of each stretch. */
    double[] operations() {
        return column(0);
    }

    double[] mediansNs() {
        return column(1);
    }

    double[] slowestNs() {
        return column(2);
    }

    /** Returns the time of the slowest operation between a tenth of a number and the number; NaN if there is none. */
    double slowestNs(final double to) {
        return rows.stream()
                .filter(row -> row[0] <= to && row[0] > to / 10)
                .mapToDouble(row -> row[2])
                .max()
                .orElse(Double.NaN);
    }

    /** Returns the median time of the last stretch between a tenth of a number and the number; NaN if there is none. */
    double medianNs(final double to) {
        return rows.stream()
                .filter(row -> row[0] <= to && row[0] > to / 10)
                .mapToDouble(row -> row[1])
                .reduce(Double.NaN, (first, last) -> last);
    }

    private double[] column(final int column) {
        return rows.stream()
                .mapToDouble(row -> column == 0 ? row[0] : Math.max(SMALLEST_DRAWN_NS, row[column]))
                .toArray();
    }
}
