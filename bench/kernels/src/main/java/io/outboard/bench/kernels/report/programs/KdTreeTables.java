package io.outboard.bench.kernels.report.programs;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.KernelComparison;
import io.outboard.bench.kernels.report.PublishedTable;
import java.util.ArrayList;
import java.util.List;

/**
 * The class makes the tables of the build of k-d trees: tables 3 and 4 of Vinkler and Havran (2014) with our results,
 * and their values beside.
 */
final class KdTreeTables {

    private static final String REFERENCE = "AtomicMalloc";
    private static final String PLENTY = "-200x";
    private static final int THOUSAND = 1000;

    private final List<ProgramResult> shown;
    private final PublishedTable paper = PublishedTable.load("paper-kdtree.csv");

    KdTreeTables(final List<ProgramResult> results) {
        shown = results.stream()
                .filter(result -> result.program().equals("kdtree"))
                .toList();
    }

    String html() {
        if (shown.isEmpty()) {
            return "";
        }
        return KernelComparison.part(
                "k-d trees",
                "Tables 3 and 4 of Vinkler and Havran (2014): a k-d tree built in one kernel, with memory of 200 and of 20 times the"
                        + " root's list; the build of AtomicMalloc in milliseconds, the others as times of it in the same scene."
                        + " The paper's scenes aren't ours: those of the like number of triangles stand beside (Hand Stand,"
                        + " Conference, Sodahall; GTX TITAN Black). Its table 4 has larger scenes and Halloc as the reference:"
                        + " there CMalloc is ahead, CUDA's takes 2.4 to 5.4 times as long. AtomicMalloc and AWMalloc never"
                        + " free; CUDA's malloc has the small scene alone.",
                requests() + builds());
    }

    private List<String> sizes() {
        return shown.stream().map(ProgramResult::size).distinct().toList();
    }

    private String requests() {
        final HtmlTable table = new HtmlTable("Requests of a build", "Scene");
        for (final String heading : List.of(
                "triangles", "references a triangle", "nodes", "depth", "requests", "mean", "deviation", "greatest")) {
            table.column("Ours", heading);
        }
        table.column("The paper's", "requests");
        table.column("The paper's", "mean");
        for (final String size : sizes()) {
            shown.stream()
                    .filter(result -> result.size().equals(size) && !Double.isNaN(result.number("buildMs")))
                    .findFirst()
                    .ifPresent(result -> table.row(
                            Html.escape(size),
                            List.of(
                                    count(result.number("triangles")),
                                    number(result.number("referencesPerTriangle")),
                                    count(result.number("nodes")),
                                    count(result.number("depth")),
                                    count(result.number("requests")),
                                    bytes(result.number("meanBytes")),
                                    bytes(result.number("deviationBytes")),
                                    bytes(result.number("greatestBytes")),
                                    count(paper.number("requests", size) * THOUSAND),
                                    bytes(paper.number("meanBytes", size)))));
        }
        return table.html();
    }

    private String builds() {
        final HtmlTable table = new HtmlTable("Builds of k-d trees", "Allocator");
        for (final String size : sizes()) {
            table.column(size, "ours");
            if (size.endsWith(PLENTY)) {
                table.column(size, "paper");
            }
        }
        final List<String> stores = new ArrayList<>(
                shown.stream().map(ProgramResult::store).distinct().toList());
        List.of("ScatterAlloc", "Halloc").forEach(stores::add);
        for (final String store : stores) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final String size : sizes()) {
                cells.add(build(store, size));
                if (size.endsWith(PLENTY)) {
                    final double value = paper.number(store, size);
                    cells.add(new HtmlTable.Cell(
                            value,
                            Double.isNaN(value)
                                    ? Html.NONE
                                    : paper.text(store, size) + (store.equals(REFERENCE) ? " ms" : "")));
                }
            }
            table.row(Html.escape(store), cells);
        }
        return table.html();
    }

    private HtmlTable.Cell build(final String store, final String size) {
        final double reference = milliseconds(REFERENCE, size.replaceAll("-.*", PLENTY));
        return shown.stream()
                .filter(result -> result.store().equals(store) && result.size().equals(size))
                .map(result -> {
                    final double build = result.number("buildMs");
                    if (Double.isNaN(build)) {
                        return new HtmlTable.Cell(
                                Double.NaN, result.isComplete() ? "refused" : result.text("status"), true);
                    }
                    return store.equals(REFERENCE)
                            ? new HtmlTable.Cell(build, Units.number(build) + " ms")
                            : new HtmlTable.Cell(build / reference, Units.ratio(build / reference));
                })
                .findFirst()
                .orElse(new HtmlTable.Cell(Double.NaN, Html.NONE));
    }

    private double milliseconds(final String store, final String size) {
        return shown.stream()
                .filter(result -> result.store().equals(store) && result.size().equals(size))
                .mapToDouble(result -> result.number("buildMs"))
                .findFirst()
                .orElse(Double.NaN);
    }

    private static HtmlTable.Cell count(final double value) {
        return new HtmlTable.Cell(value, Units.count(value));
    }

    private static HtmlTable.Cell number(final double value) {
        return new HtmlTable.Cell(value, Units.number(value));
    }

    private static HtmlTable.Cell bytes(final double value) {
        return new HtmlTable.Cell(value, Units.bytes(value));
    }
}
