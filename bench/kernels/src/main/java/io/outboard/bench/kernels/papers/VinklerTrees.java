package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.paper.PaperOutput;
import io.outboard.bench.cli.paper.PaperResults;
import io.outboard.bench.cli.paper.PaperTable;
import io.outboard.bench.cli.report.HtmlTable.Cell;
import io.outboard.bench.kernels.report.PublishedTable;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import io.outboard.bench.kernels.report.programs.ProgramsSection;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The class has tables 3 and 4 of Vinkler and Havran (2014): builds of k-d trees. */
final class VinklerTrees {

    private static final String ATOMIC = "AtomicMalloc";
    private static final String C_MALLOC = "CMalloc";
    private static final String HALLOC = "Halloc";
    private static final String TRIANGLES = "triangles";
    private static final double THOUSAND = 1000;

    /** Scenes whose numbers of triangles differ by less than this factor stand in one column. */
    private static final double LIKE = 1.1;

    /** The rows of a scene, with our keys. */
    private static final Map<String, String> PROPERTIES = Map.of(
            TRIANGLES,
            "triangles",
            "references a triangle",
            "referencesPerTriangle",
            "requests",
            "requests",
            "mean",
            "meanBytes",
            "deviation",
            "deviationBytes");

    private VinklerTrees() {}

    static List<PaperOutput> outputs() {
        final String scenes =
                " Scenes are generated, with about as many triangles as the paper's in whose column they stand.";
        return List.of(
                new PaperOutput(
                        "vinkler/table-3",
                        "Builds of k-d trees with memory of 200 times the root: AtomicMalloc's time, and times of that",
                        true,
                        "ScatterAlloc and Halloc aren't in our tree." + scenes,
                        null,
                        results -> builds(results, "paper-table-3.csv", "-200x", ATOMIC)),
                new PaperOutput(
                        "vinkler/table-4",
                        "Builds of k-d trees with memory of 20 times the root: CMalloc's time, and times of that",
                        true,
                        "The paper's reference is Halloc, which isn't in our tree; its numbers are converted to times of CMalloc."
                                + scenes,
                        null,
                        results -> builds(results, "paper-table-4.csv", "-20x", C_MALLOC)));
    }

    private static PaperTable builds(
            final PaperResults results, final String resource, final String suffix, final String reference)
            throws IOException {
        final PublishedTable paper = PublishedTable.load(resource);
        final PaperTable table = new PaperTable();
        for (final String row : paper.rows()) {
            paper.columns().forEach(scene -> table.paper(row, scene, paperCell(paper, row, scene, reference)));
            if (row.equals("deviation")) {
                paper.columns().forEach(scene -> table.paper("greatest", scene, mostBytes(paper, scene)));
            }
        }
        final List<ProgramResult> shown = results.read(ProgramsSection.FILE_NAME, ProgramResult::parse).stream()
                .filter(result ->
                        result.program().equals("kdtree") && result.size().endsWith(suffix))
                .toList();
        for (final ProgramResult result : shown) {
            final String scene = scene(paper, shown, result);
            if (!Double.isNaN(result.number(TRIANGLES))) {
                PROPERTIES.forEach((row, key) -> table.ours(row, scene, property(row, result.number(key))));
            }
            table.ours(result.store(), scene, build(shown, result, reference));
        }
        return table;
    }

    private static Cell paperCell(
            final PublishedTable paper, final String row, final String scene, final String reference) {
        final double value = paper.number(row, scene);
        if (PROPERTIES.containsKey(row)) {
            final boolean isInThousands = row.equals(TRIANGLES) || row.equals("requests");
            return property(row, isInThousands ? value * THOUSAND : value);
        }
        if (reference.equals(ATOMIC)) {
            return row.equals(ATOMIC) ? Cells.ms(value) : Cells.factor(value);
        }
        final double seconds = paper.number(HALLOC, scene);
        final double own = paper.number(reference, scene);
        return row.equals(reference)
                ? Cells.ms(seconds * own * THOUSAND)
                : Cells.factor((row.equals(HALLOC) ? 1 : value) / own);
    }

    /** Returns the size of a request at which all others would be 0: the sum of all squares is no more. */
    private static Cell mostBytes(final PublishedTable paper, final String scene) {
        final double requests = paper.number("requests", scene) * THOUSAND;
        final double bytes =
                Math.sqrt(requests) * Math.hypot(paper.number("mean", scene), paper.number("deviation", scene));
        return Cells.words("at most " + Cells.bytes(bytes).text());
    }

    private static Cell property(final String row, final double value) {
        return switch (row) {
            case TRIANGLES, "requests" -> Cells.count(value);
            case "mean", "deviation", "greatest" -> Cells.bytes(value);
            default -> Cells.number(value);
        };
    }

    /** Returns our time as times of the reference's in the same scene; as a time where there is none. */
    private static Cell build(final List<ProgramResult> shown, final ProgramResult result, final String reference) {
        final double own = result.number("buildMs");
        if (Double.isNaN(own)) {
            return Cells.words(result.isComplete() ? "refused" : result.text("status"));
        }
        final double other = shown.stream()
                .filter(each -> each.store().equals(reference) && each.size().equals(result.size()))
                .mapToDouble(each -> each.number("buildMs"))
                .findFirst()
                .orElse(Double.NaN);
        if (result.store().equals(reference)) {
            return Cells.ms(own);
        }
        return Double.isNaN(other) ? Cells.words(Cells.ms(own).text()) : Cells.factor(own / other);
    }

    /** Returns the paper's scene of about as many triangles, or the name of our own. */
    private static String scene(
            final PublishedTable paper, final List<ProgramResult> shown, final ProgramResult result) {
        final Optional<Double> triangles = shown.stream()
                .filter(each -> each.size().equals(result.size()))
                .map(each -> each.number(TRIANGLES))
                .filter(count -> !Double.isNaN(count))
                .findFirst();
        return triangles
                .flatMap(count -> paper.columns().stream()
                        .filter(scene -> distance(paper, scene, count) < Math.log(LIKE))
                        .min(Comparator.comparingDouble(scene -> distance(paper, scene, count))))
                .orElse(result.size());
    }

    private static double distance(final PublishedTable paper, final String scene, final double triangles) {
        return Math.abs(Math.log(triangles / (paper.number(TRIANGLES, scene) * THOUSAND)));
    }
}
