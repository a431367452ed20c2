package io.outboard.bench.measure.check;

import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Section;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** The section shows what {@code outboard check} found, in a table with a row for each strategy. */
final class CheckSection implements Section {

    private static final double NS_A_SECOND = 1e9;

    private final ResultFolder folder;

    /** Reads the section from a folder that has the file. */
    CheckSection(final ResultFolder folder) {
        this.folder = folder;
    }

    @Override
    public String title() {
        return "Checked operations";
    }

    @Override
    public Optional<Headline> headline() throws IOException {
        return Optional.of(new Headline(summary(read()), List.of()));
    }

    @Override
    public String html() throws IOException {
        final List<JsonObject> lines = read();
        final HtmlTable table = new HtmlTable(title(), "Strategy");
        for (final String heading : List.of("operations", "violations", "shards", "seed", "per operation", "time")) {
            table.column("", heading);
        }
        for (final JsonObject line : lines) {
            final double violations = line.number("violations");
            table.row(
                    Series.of(line.requiredText("strategy")).html(),
                    List.of(
                            count(line, "operations"),
                            new HtmlTable.Cell(violations, Units.count(violations), violations > 0),
                            count(line, "shards"),
                            new HtmlTable.Cell(line.number("seed"), line.text("seed")),
                            new HtmlTable.Cell(line.number("nsPerOp"), Units.time(line.number("nsPerOp"))),
                            new HtmlTable.Cell(
                                    line.number("seconds"), Units.time(line.number("seconds") * NS_A_SECOND))));
        }
        return "<p class=\"lead\">" + Html.escape(summary(lines)) + "</p>\n<p class=\"note\">Random operations, every"
                + " answer compared with a model of what is taken. The time is that of all threads together, the model's"
                + " included: it says nothing of a strategy's speed.</p>\n"
                + table.html();
    }

    private static HtmlTable.Cell count(final JsonObject line, final String key) {
        return new HtmlTable.Cell(line.number(key), Units.count(line.number(key)));
    }

    private static String summary(final List<JsonObject> lines) {
        final double operations =
                lines.stream().mapToDouble(line -> line.number("operations")).sum();
        final double violations =
                lines.stream().mapToDouble(line -> line.number("violations")).sum();
        return Units.count(operations) + " random operations on " + lines.size()
                + (lines.size() == 1 ? " strategy" : " strategies") + ", each compared with a model: "
                + (violations == 0
                        ? "no violation."
                        : Units.count(violations) + (violations == 1 ? " violation." : " violations."));
    }

    private List<JsonObject> read() throws IOException {
        return folder.results(CheckCommand.FILE_NAME, JsonReader::read);
    }
}
