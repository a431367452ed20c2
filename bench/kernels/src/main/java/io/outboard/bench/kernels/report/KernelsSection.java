package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Section;
import io.outboard.bench.cli.report.Units;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The section shows what allocators in kernels do: tables of every case.
 */
public final class KernelsSection implements Section {

    /** The name of the file in the folder: one JSON object a line. */
    public static final String FILE_NAME = "kernels.jsonl";

    /** The section of result pages that shows the file. */
    public static final PagePart PART = PagePart.of(FILE_NAME, KernelsSection::new);

    private final ResultFolder folder;

    private KernelsSection(final ResultFolder folder) {
        this.folder = folder;
    }

    @Override
    public String title() {
        return "In-kernel heaps";
    }

    @Override
    public Optional<Headline> headline() throws IOException {
        return Optional.of(new KernelHeadline(read()).headline());
    }

    @Override
    public String html() throws IOException {
        final List<KernelResult> results = read();
        return checks(results)
                + new KernelComparison(results).html()
                + PeerComparison.of(results).stream().map(PeerComparison::html).collect(Collectors.joining())
                + new KernelEndurance(results).html();
    }

    private List<KernelResult> read() throws IOException {
        return folder.results(FILE_NAME, KernelResult::parse);
    }

    private static String checks(final List<KernelResult> results) {
        final List<KernelResult> failed = results.stream()
                .filter(result -> !result.isComplete() || !result.failedChecks().isEmpty())
                .toList();
        final String lead = "<p class=\"lead\">" + Units.count(results.size()) + " cases, "
                + (failed.isEmpty() ? "every check passed" : failed.size() + " of them failed") + ".</p>\n"
                + "<p class=\"note\">Checked: 16-byte alignment, bounds, no overlap (every block is filled with a tag of its"
                + " own and read back), no chunk in use after all is freed, no misuse counted. T: every thread allocates;"
                + " W: one thread of each warp, as in the paper.</p>\n";
        return failed.isEmpty()
                ? lead
                : lead
                        + failed.stream()
                                .map(result -> "<li>" + Html.escape(description(result)) + "</li>\n")
                                .collect(Collectors.joining("", "<ul class=\"note\">\n", "</ul>\n"));
    }

    private static String description(final KernelResult result) {
        final String what =
                result.isComplete() ? result.failedChecks() : result.text("status") + ": " + result.text("message");
        return result.contender() + ", " + result.name() + ": " + what;
    }
}
