package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** The class makes the tables of what in-kernel heaps do where there is little or no room left, and in the long run. */
final class KernelEndurance {

    /** The text that says how heaps are aged: {@code Ageing} of the bench. */
    private static final String RECIPE =
            "Microseconds on a heap after a thousand launches of 20,480 threads, or two seconds of"
                    + " them (then their number stands behind), and how many times those on a fresh heap they are. In each launch a"
                    + " thread acts with probability 0.75: if it holds nothing it allocates 4 bytes to 64 KiB, as many in each octave,"
                    + " else it frees. At the end all is freed.";

    private final List<KernelResult> results;

    KernelEndurance(final List<KernelResult> results) {
        this.results = results;
    }

    String html() {
        return part(
                        "Aged heaps",
                        RECIPE,
                        result -> !Double.isNaN(result.number("agedRatio")),
                        result -> result.number("agedRatio"),
                        KernelResult::agedCell)
                + part(
                        "Hopeless requests",
                        "Of the kernel that exhausts the heap: the time until each thread has its first null. Then each"
                                + " repeats the request that failed, a hundred times: what one takes, over all threads.",
                        result -> !Double.isNaN(result.number("hopelessNs")),
                        result -> result.number("hopelessNs"),
                        KernelResult::hopelessCell)
                + part(
                        "A heap that only fills",
                        "Microseconds of the first 200 of 2,400 rounds and of the last 200, and how many times longer these"
                                + " take. In a round each thread allocates, and nothing is freed; at the end 1.5 of 2 GiB are in"
                                + " use.",
                        result -> result.test().equals("FILL"),
                        result -> result.number("lastOverFirst"),
                        KernelResult::fillCell)
                + churn();
    }

    /** Makes a table with a row for each result, since what a result says doesn't fit into a cell. */
    private String churn() {
        final List<KernelResult> shown =
                results.stream().filter(result -> result.test().equals("CHURN")).toList();
        final HtmlTable table = new HtmlTable("Churn", "Allocator");
        List.of("case", "operations a second", "most in use", "false nulls", "other nulls")
                .forEach(heading -> table.column("In all", heading));
        List.of("in use", "after all is freed").forEach(heading -> table.column("External fragmentation", heading));
        table.column("Largest request", "bytes");
        table.column("Largest request", "served again");
        for (final KernelResult result : shown) {
            final double falseNulls = result.number("falseNulls");
            final String served = result.isComplete() ? result.text("largestServed") : result.text("status");
            table.row(
                    Html.escape(result.contender()),
                    List.of(
                            new HtmlTable.Cell(Double.NaN, result.name()),
                            cell(result.operationsPerSecond(), Units::count),
                            cell(result.number("peak"), Units::percent),
                            new HtmlTable.Cell(falseNulls, Units.count(falseNulls), falseNulls > 0),
                            cell(result.number("otherNulls"), Units::count),
                            cell(result.number("fullExternalFragmentation"), Units::percent),
                            cell(result.number("externalFragmentation"), Units::percent),
                            cell(result.number("largestBytes"), Units::bytes),
                            new HtmlTable.Cell(Double.NaN, served, !served.equals("true"))));
        }
        return shown.isEmpty()
                ? ""
                : KernelComparison.part(
                        "Churn",
                        "Mallocs and frees at once of 4 bytes to 64 KiB, as many in each octave, and of one in 256 above, up to 1"
                                + " MiB; whole warps and groups of some of their threads in turn; every block filled, and"
                                + " compared before it is freed. A quarter of the time each, half of the heap is kept in use,"
                                + " 95 %, a fifth, and 95 % again. False nulls: of requests up to 64 KiB while, these included,"
                                + " no more than 95 % were in use. External fragmentation: equation 3, before and after all is"
                                + " freed; then one more request, for the largest that the fresh heap served of a half, a"
                                + " quarter and so on.",
                        table.html());
    }

    private static HtmlTable.Cell cell(final double value, final DoubleFunction<String> format) {
        return new HtmlTable.Cell(value, format.apply(value));
    }

    /** Makes a table with a row for each case and a column for each allocator; empty without a case. */
    private String part(
            final String title,
            final String note,
            final Predicate<KernelResult> filter,
            final ToDoubleFunction<KernelResult> exact,
            final Function<KernelResult, String> text) {
        final List<KernelResult> shown = results.stream().filter(filter).toList();
        if (shown.isEmpty()) {
            return "";
        }
        final List<String> contenders =
                shown.stream().map(KernelResult::contender).distinct().toList();
        final HtmlTable table = new HtmlTable(title, "Case");
        contenders.forEach(contender -> table.column("", contender));
        for (final String name :
                shown.stream().map(KernelResult::name).distinct().toList()) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final String contender : contenders) {
                cells.add(shown.stream()
                        .filter(result ->
                                result.name().equals(name) && result.contender().equals(contender))
                        .map(result -> new HtmlTable.Cell(
                                exact.applyAsDouble(result), text.apply(result), KernelComparison.isBad(result)))
                        .findFirst()
                        .orElse(new HtmlTable.Cell(Double.NaN, Html.NONE)));
            }
            table.row(Html.escape(name), cells);
        }
        return KernelComparison.part(title, note, table.html());
    }
}
