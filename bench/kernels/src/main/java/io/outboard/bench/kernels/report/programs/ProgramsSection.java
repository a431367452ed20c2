package io.outboard.bench.kernels.report.programs;

import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Section;
import io.outboard.bench.cli.report.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The section shows programs whose kernels allocate: pictures of their results, times and memory.
 */
public final class ProgramsSection implements Section {

    /** The name of the file in the folder: one JSON object a line. */
    public static final String FILE_NAME = "programs.jsonl";

    /** The section of result pages that shows the file. */
    public static final PagePart PART = PagePart.of(FILE_NAME, ProgramsSection::new);

    private final ResultFolder folder;

    private ProgramsSection(final ResultFolder folder) {
        this.folder = folder;
    }

    @Override
    public String title() {
        return "Programs that allocate in kernels";
    }

    @Override
    public Optional<Headline> headline() throws IOException {
        final List<ProgramResult> results = read();
        return Optional.of(new ProgramHeadline(results).headline(summary(results)));
    }

    @Override
    public String html() throws IOException {
        final List<ProgramResult> results = read();
        return checks(results)
                + pictures(results)
                + new SimulationTables(results).html()
                + new RequestTables(results).html();
    }

    private List<ProgramResult> read() throws IOException {
        return folder.results(FILE_NAME, ProgramResult::parse);
    }

    private static String checks(final List<ProgramResult> results) {
        final List<ProgramResult> told =
                results.stream().filter(result -> !result.failure().isEmpty()).toList();
        final String lead = "<p class=\"lead\">" + summary(results)
                + "</p>\n<p class=\"note\">Checked: what a simulation comes to, number by number, against the same computed on the"
                + " CPU; a k-d tree by its leaves and by rays against brute force; each block of the others by a tag; where the"
                + " heap can tell, that nothing is left when all is destroyed and no misuse is counted. Refused: requests that"
                + " got no memory.</p>\n";
        return told.isEmpty()
                ? lead
                : lead
                        + told.stream()
                                .map(result -> "<li>"
                                        + Html.escape(result.store() + ", " + result.program() + " " + result.size()
                                                + ": " + result.failure())
                                        + "</li>\n")
                                .collect(Collectors.joining("", "<ul class=\"note\">\n", "</ul>\n"));
    }

    private static String summary(final List<ProgramResult> results) {
        final List<ProgramResult> told =
                results.stream().filter(result -> !result.failure().isEmpty()).toList();
        final long failed = told.stream().filter(ProgramResult::hasFailed).count();
        final long refused = told.stream().filter(ProgramResult::isRefused).count();
        return Units.count(results.size()) + " runs, "
                + (failed == 0 ? "every check passed" : Units.count((double) failed) + " of them failed a check")
                + (refused == 0 ? "" : "; " + Units.count((double) refused) + " were refused memory") + ".";
    }

    /** Returns one picture of each program, of the smallest size that has one. */
    private static String pictures(final List<ProgramResult> results) {
        final List<String> programs = new ArrayList<>();
        final StringBuilder html = new StringBuilder();
        for (final ProgramResult result : results) {
            final String picture = result.text("picture");
            if (picture.matches("[A-Za-z0-9+/]+=*") && !programs.contains(result.program())) {
                programs.add(result.program());
                html.append("<figure><img alt=\"What ")
                        .append(Html.escape(result.program()))
                        .append(" came to\" src=\"data:image/png;base64,")
                        .append(picture)
                        .append("\"><figcaption>")
                        .append(Html.escape(result.program() + " " + result.size()))
                        .append("</figcaption></figure>\n");
            }
        }
        return html.isEmpty() ? "" : "<div class=\"pictures\">\n" + html + "</div>\n";
    }
}
