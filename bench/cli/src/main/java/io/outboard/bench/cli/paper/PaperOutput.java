package io.outboard.bench.cli.paper;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * An output is a table, a figure or a claim of a paper. Results become its values when they are shown, so that an
 * output can be made again of the results of an earlier run.
 *
 * @param name the paper's name, a slash, and a name within the paper, such as {@code vinkler/table-1}
 * @param title what the output shows, in words
 * @param needsGpu whether there is nothing to show without a GPU
 * @param deviation in what our measurement differs from the paper's, a sentence or more
 * @param chart how the values are drawn, null for a table
 * @param composer makes the values
 */
public record PaperOutput(
        String name,
        String title,
        boolean needsGpu,
        String deviation,
        @Nullable Chart chart,
        Composer composer) {

    /**
     * A chart has a line for each row of the output.
     *
     * @param kind name of the kind in {@code report.js}
     * @param xTitle what the axis from left to right shows, with its unit
     * @param yTitle what the axis from bottom to top shows, with its unit
     */
    public record Chart(String kind, String xTitle, String yTitle) {}

    /** A composer makes an output's values of results. */
    @FunctionalInterface
    public interface Composer {

        /**
         * Makes the values.
         *
         * @param results of one run
         * @return rows without our values if the results have nothing for this output
         * @throws IOException if a file of results can't be read
         * @throws IllegalArgumentException if a line of a file breaks a rule; names file, line and rule
         */
        PaperTable compose(PaperResults results) throws IOException;
    }
}
