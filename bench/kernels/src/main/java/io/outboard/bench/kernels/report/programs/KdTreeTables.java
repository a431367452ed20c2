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

    private static final String PLENTY = "-200x";
    private static final int THOUSAND = 1000;
    private static final List<String> PUBLISHED =
            List.of("ScatterAlloc 4096", "ScatterAlloc 8192", "ScatterAlloc 16384", "Halloc");

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
                        "What one build asks its heap for: a list for each child, by one thread of the warp that divides the node;"
                                + " longer lists than of 16,384 references aren't the heap's. The paper's scenes aren't ours:"
                                + " those of the like number of triangles stand beside (GTX TITAN Black). Of its greatest request it"
                                + " prints nothing; at most: what its mean and deviation leave room for.",
                        requests())
                + builds(
                        "Table 3: builds of k-d trees",
                        "With memory of 200 times the root's list; the build of AtomicMalloc in milliseconds, the others as times of"
                                + " it in the same scene. AtomicMalloc and AWMalloc never free; arena: a WarpArena for each warp,"
                                + " as FDGMalloc, which the paper leaves out, since it can only free at the end. CUDA's malloc"
                                + " has small scenes alone.",
                        true,
                        "AtomicMalloc")
                + builds(
                        "Table 4: builds of k-d trees in little memory",
                        "With memory of 20 times the root's list; the build of CMalloc in milliseconds, the others as times of it in"
                                + " the same scene. The paper prints times of Halloc's build; here they are times of its CMalloc's.",
                        false,
                        "CMalloc");
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
        for (final String heading :
                List.of("scene", "references a triangle", "requests", "mean", "deviation", "greatest, at most")) {
            table.column("The paper's", heading);
        }
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
                                    new HtmlTable.Cell(Double.NaN, paper.text("scene", size)),
                                    number(paper.number("referencesPerTriangle", size)),
                                    count(paper.number("requests", size) * THOUSAND),
                                    bytes(paper.number("meanBytes", size)),
                                    bytes(paper.number("deviationBytes", size)),
                                    bytes(mostBytes(size)))));
        }
        return table.html();
    }

    /** Returns the size of a request at which all others would be 0: the sum of all squares is no more. */
    private double mostBytes(final String size) {
        final double requests = paper.number("requests", size) * THOUSAND;
        return Math.sqrt(requests) * Math.hypot(paper.number("meanBytes", size), paper.number("deviationBytes", size));
    }

    private String builds(final String title, final String note, final boolean plenty, final String reference) {
        final List<String> sizes =
                sizes().stream().filter(size -> size.endsWith(PLENTY) == plenty).toList();
        final List<String> stores = new ArrayList<>(shown.stream()
                .filter(result -> sizes.contains(result.size()))
                .map(ProgramResult::store)
                .distinct()
                .toList());
        if (stores.isEmpty()) {
            return "";
        }
        final HtmlTable table = new HtmlTable(title, "Allocator");
        for (final String size : sizes) {
            table.column(size, "ours");
            if (hasPaper(size)) {
                table.column(size, "paper");
            }
        }
        stores.addAll(PUBLISHED);
        for (final String store : stores) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final String size : sizes) {
                cells.add(build(store, size, reference));
                if (hasPaper(size)) {
                    cells.add(paperCell(store, size, plenty, reference));
                }
            }
            table.row(Html.escape(store), cells);
        }
        return KernelComparison.part(title, note, table.html());
    }

    private boolean hasPaper(final String size) {
        return !paper.text("scene", size).isEmpty();
    }

    private HtmlTable.Cell paperCell(
            final String store, final String size, final boolean plenty, final String reference) {
        if (plenty) {
            final double value = paper.number(store, size);
            return new HtmlTable.Cell(
                    value,
                    Double.isNaN(value) ? Html.NONE : paper.text(store, size) + (store.equals(reference) ? " ms" : ""));
        }
        // Table 4 has seconds for Halloc, and times of that for the others.
        final double halloc = paper.number("Halloc", size);
        final double ratio = store.equals("Halloc") ? 1 : paper.number(store, size);
        final double own = paper.number(reference, size);
        return store.equals(reference)
                ? new HtmlTable.Cell(halloc * own * THOUSAND, Units.number(halloc * own * THOUSAND) + " ms")
                : new HtmlTable.Cell(ratio / own, Double.isNaN(ratio) ? Html.NONE : Units.ratio(ratio / own));
    }

    private HtmlTable.Cell build(final String store, final String size, final String reference) {
        final double whole = milliseconds(reference, size);
        return shown.stream()
                .filter(result -> result.store().equals(store) && result.size().equals(size))
                .map(result -> {
                    final double build = result.number("buildMs");
                    if (Double.isNaN(build)) {
                        return new HtmlTable.Cell(
                                Double.NaN, result.isComplete() ? "refused" : result.text("status"), true);
                    }
                    return store.equals(reference)
                            ? new HtmlTable.Cell(build, Units.number(build) + " ms")
                            : new HtmlTable.Cell(build / whole, Units.ratio(build / whole));
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
