package io.outboard.bench.cli.paper;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Section;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** This section shows the outputs of a paper, with the paper's values beside ours. */
final class PaperSection implements Section {

    /** The file of a folder that has the values, one a line. */
    static final String FILE_NAME = "paper.jsonl";

    static final String TITLE = "Tables, figures and claims of the paper";

    private final ResultFolder folder;

    PaperSection(final ResultFolder folder) {
        this.folder = folder;
    }

    static PagePart part() {
        return PagePart.of(FILE_NAME, PaperSection::new);
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public String html() throws IOException {
        final Map<String, PaperTable> tables = new LinkedHashMap<>();
        final Map<String, String> leftOut = new LinkedHashMap<>();
        for (final JsonObject line : folder.results(FILE_NAME, JsonReader::read)) {
            final String output = line.requiredText("output");
            if (line.text("leftOut").isEmpty()) {
                tables.computeIfAbsent(output, key -> new PaperTable()).add(line);
            } else {
                leftOut.put(output, line.text("leftOut"));
            }
        }
        return html(tables, leftOut);
    }

    /** Shows outputs of all papers, each with its values or the reason why it has none. */
    static String html(final Map<String, PaperTable> tables, final Map<String, String> leftOut) {
        final StringBuilder html = new StringBuilder();
        for (final Paper paper : Paper.all()) {
            final List<PaperOutput> outputs = paper.outputs().stream()
                    .filter(output -> tables.containsKey(output.name()) || leftOut.containsKey(output.name()))
                    .toList();
            if (!outputs.isEmpty()) {
                html.append("<p class=\"lead\">" + Html.escape(paper.title()) + "</p>\n");
            }
            outputs.forEach(output -> html.append("<h3>" + Html.escape(output.name() + ": " + output.title())
                    + "</h3>\n"
                    + Optional.ofNullable(tables.get(output.name()))
                            .map(table -> note(output.deviation()) + table.html(output))
                            .orElseGet(() -> note("Left out: " + leftOut.get(output.name())))
                    + "\n"));
        }
        return html.toString();
    }

    private static String note(final String text) {
        return "<p class=\"note\">" + Html.escape(text) + "</p>\n";
    }
}
