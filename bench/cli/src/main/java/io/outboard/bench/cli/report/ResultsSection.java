package io.outboard.bench.cli.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** This class shows a file of figures as one table, with a row for each line and a column for each number. */
public final class ResultsSection implements Section {

    /**
     * A kind says what a file of figures holds.
     *
     * @param fileName name of the file in the folder, which has one JSON object a line
     * @param title what the file shows
     * @param rows keys of the values that distinguish one line from the others
     * @param numbers keys of numbers
     * @param latencies keys of objects with percentiles, in nanoseconds, or with ratios of percentiles
     */
    public record Kind(String fileName, String title, List<String> rows, List<String> numbers, List<String> latencies) {

        /** Returns the part of a page that shows this kind of file. */
        public PagePart part() {
            return PagePart.of(fileName, folder -> new ResultsSection(folder, this));
        }
    }

    private final ResultFolder folder;
    private final Kind kind;

    private ResultsSection(final ResultFolder folder, final Kind kind) {
        this.folder = folder;
        this.kind = kind;
    }

    @Override
    public String title() {
        return kind.title();
    }

    @Override
    public String html() throws IOException {
        final HtmlTable table = new HtmlTable(kind.title(), String.join(", ", kind.rows()));
        kind.numbers().forEach(key -> table.column(" ", key));
        kind.latencies()
                .forEach(key -> Percentile.OF_RESULTS.forEach(
                        percentile -> table.column(key.replace("Ratio", ""), percentile.title())));
        for (final JsonObject line : folder.results(kind.fileName(), JsonReader::read)) {
            table.row(Html.escape(heading(line)), cells(line));
        }
        return table.html();
    }

    private String heading(final JsonObject line) {
        return kind.rows().stream()
                .map(line::text)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
    }

    private List<HtmlTable.Cell> cells(final JsonObject line) {
        final List<HtmlTable.Cell> cells = new ArrayList<>();
        for (final String key : kind.numbers()) {
            final double number = line.number(key);
            cells.add(new HtmlTable.Cell(number, text(key, number)));
        }
        for (final String key : kind.latencies()) {
            final JsonObject latencies = line.object(key);
            for (final Percentile percentile : Percentile.OF_RESULTS) {
                final double number = latencies.number(percentile.key());
                cells.add(
                        new HtmlTable.Cell(number, key.endsWith("Ratio") ? Units.factor(number) : Units.time(number)));
            }
        }
        return cells;
    }

    private static String text(final String key, final double number) {
        if (key.endsWith("Bytes") || key.endsWith("BytesOfOne") || key.endsWith("BytesPerOp")) {
            return Units.bytes(number);
        }
        if (key.endsWith("Ns")) {
            return Units.time(number);
        }
        return number == Math.rint(number) ? Units.count(number) : Units.number(number);
    }
}
