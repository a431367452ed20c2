package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.ResultFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** A memory curve has live bytes, extent, region and the device's own figure over the operations of one trace. */
final class MemoryCurve {

    static final int LIVE = 1;
    static final int EXTENT = 2;
    static final int REGION = 3;
    static final int DEVICE = 4;

    private static final String HEADING = "operation,liveBytes,extentBytes,regionBytes,deviceUsedBytes";
    private static final List<String> COLUMNS = List.of(HEADING.split(",", -1));
    private static final int SAMPLES = 12;

    private final List<double[]> rows;

    private MemoryCurve(final List<double[]> rows) {
        this.rows = rows;
    }

    /**
     * Reads a file of memory samples.
     *
     * @param folder the folder that contains the file
     * @param name name of the file
     * @return the samples
     * @throws IllegalArgumentException if a line breaks a rule; names file, line and rule
     * @throws IOException if the file cannot be read
     */
    static MemoryCurve read(final ResultFolder folder, final String name) throws IOException {
        final List<double[]> rows = new ArrayList<>();
        for (final ResultFolder.DataLine line : folder.dataLines(name, HEADING::equals, HEADING)) {
            final double[] row = row(line.where(), line.text());
            if (!rows.isEmpty() && row[0] < rows.get(rows.size() - 1)[0]) {
                throw new IllegalArgumentException(
                        line.where() + ": operation must not fall from one line to the next");
            }
            rows.add(row);
        }
        return new MemoryCurve(rows);
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    /** Returns a column, given by the constants above or 0 for the operation; NaN where the file has no value. */
    double[] column(final int column) {
        return rows.stream().mapToDouble(row -> row[column]).toArray();
    }

    /** Returns the largest value of a column; 0 if the file has no value or only zeros. */
    double peak(final int column) {
        return Arrays.stream(column(column)).filter(value -> value > 0).max().orElse(0);
    }

    /**
     * Returns how much the device has in use since the start. The values are NaN for a region that was taken before the
     * trace began, because all of it counts as in use.
     */
    double[] deviceSinceStart() {
        final double[] device = column(DEVICE);
        if (rows.isEmpty() || peak(EXTENT) > 0) {
            Arrays.fill(device, Double.NaN);
            return device;
        }
        final double start = rows.get(0)[DEVICE] - rows.get(0)[LIVE];
        return Arrays.stream(device).map(used -> Math.max(0, used - start)).toArray();
    }

    /** Returns a dozen rows, evenly spread, including the first, the last, and the row with the most live bytes. */
    List<double[]> sampledRows() {
        final int last = rows.size() - 1;
        final double peak = peak(LIVE);
        final int peakRow = IntStream.rangeClosed(0, last)
                .filter(i -> rows.get(i)[LIVE] == peak)
                .findFirst()
                .orElse(0);
        return IntStream.concat(
                        IntStream.of(peakRow),
                        IntStream.range(0, SAMPLES).map(i -> (int) ((long) last * i / (SAMPLES - 1))))
                .sorted()
                .distinct()
                .mapToObj(rows::get)
                .toList();
    }

    private static double[] row(final String where, final String line) {
        final String[] cells = line.split(",", -1);
        if (cells.length != COLUMNS.size()) {
            throw new IllegalArgumentException(
                    where + ": must have " + COLUMNS.size() + " columns, has " + cells.length);
        }
        final double[] row = new double[cells.length];
        for (int column = 0; column < row.length; column++) {
            if (cells[column].matches("[0-9]{1,18}")) {
                row[column] = Long.parseLong(cells[column]);
            } else if (column > 0 && cells[column].isEmpty()) {
                row[column] = Double.NaN;
            } else {
                throw new IllegalArgumentException(
                        where + ": " + COLUMNS.get(column) + "=" + cells[column] + " must be a whole number >= 0");
            }
        }
        return row;
    }
}
