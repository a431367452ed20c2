package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.paper.PaperOutput;
import io.outboard.bench.cli.paper.PaperResults;
import io.outboard.bench.cli.paper.PaperTable;
import io.outboard.bench.cli.report.HtmlTable.Cell;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.Contender;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.report.KernelsSection;
import io.outboard.bench.kernels.report.PublishedTable;
import io.outboard.bench.kernels.report.Spread;
import java.io.IOException;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The class has tables 1, 2 and 5 of Vinkler and Havran (2014), and what they say of a second card. */
final class VinklerTables {

    private static final String COALESCED = "coalesced";
    /** "Almost twice as fast". */
    private static final double PAPER_CARDS = 0.5;

    /** What the paper excepts there. */
    private static final String SCATTER_ALLOC = "ScatterAlloc";

    private static final double SMALLEST = 4;
    private static final double LARGEST = 128 << 10;

    private VinklerTables() {}

    static List<PaperOutput> outputs() {
        return List.of(
                new PaperOutput(
                        "vinkler/table-1",
                        "Registers of a kernel with one allocation and one deallocation",
                        true,
                        "Ours are those over the same kernel without an allocator, as this GPU's driver compiles it; registers"
                                + " depend on compiler and chip (GTX TITAN Black there). ScatterAlloc and Halloc have ours where"
                                + " bench/peers.sh compiled them.",
                        null,
                        VinklerTables::registers),
                new PaperOutput(
                        "vinkler/table-2",
                        "The setting of the tests",
                        true,
                        "ADF is the paper's AD: both in one kernel. AD has two kernels, so that fragmentation can be read"
                                + " between them. In P, 960 threads make 3,840 requests and 3,360 frees on average;"
                                + " the paper counts 1,450 and 986, as many as with a probability of 0.25, where its text has 0.75.",
                        null,
                        VinklerTables::settings),
                new PaperOutput(
                        "vinkler/table-5",
                        "Properties: the paper's marks, and the numbers of ours that they are about",
                        true,
                        "Variable requests: time of 128 KiB over that of 4 bytes (figure 3a). Successive requests: time of 100"
                                + " over that of 10 (figure 3c). Scaling: time of 120 blocks over that of one (figure 3d). Overall"
                                + " speed: median of times faster than CUDA's malloc in the points of figure 3 that both serve.",
                        null,
                        VinklerTables::properties),
                new PaperOutput(
                        "vinkler/claim-cards",
                        "\"The GTX 680 was almost twice as fast for all of the allocators except ScatterAlloc\": time on the"
                                + " other card over that on this one",
                        true,
                        "Medians of all points of figure 3, for the two cards at hand; --beside names the folder of the other."
                                + " The paper's other card has 8 multiprocessors, this one 15.",
                        null,
                        VinklerTables::cards));
    }

    static List<KernelResult> read(final PaperResults results) throws IOException {
        return results.read(KernelsSection.FILE_NAME, KernelResult::parse);
    }

    private static PaperTable registers(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        final PublishedTable paper = PublishedTable.load("paper-registers.csv");
        final List<KernelResult> ours = read(results).stream()
                .filter(result -> result.test().equals("REGISTERS") && !result.isLinked())
                .toList();
        final double empty = ours.stream()
                .filter(result -> result.allocator().equals(Contender.EMPTY))
                .mapToDouble(result -> result.number("registers"))
                .findFirst()
                .orElse(Double.NaN);
        for (final String how : paper.columns()) {
            paper.rows().forEach(row -> table.paper(row, how, Cells.count(paper.number(row, how))));
        }
        for (final KernelResult result : ours) {
            final String how = result.isCoalesced() ? COALESCED : "un" + COALESCED;
            if (!result.allocator().equals(Contender.EMPTY)) {
                table.ours(result.allocator(), how, Cells.count(result.number("registers") - empty));
            }
        }
        return table;
    }

    private static PaperTable settings(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        final PublishedTable paper = PublishedTable.load("paper-settings.csv");
        final List<KernelResult> all = read(results);
        for (final String figure : paper.rows()) {
            paper.columns().forEach(column -> table.paper(figure, column, Cells.words(paper.text(figure, column))));
            final List<KernelResult> points =
                    all.stream().filter(VinklerFigures.points(figure)).toList();
            if (!points.isEmpty()) {
                table.ours(figure, "test", Cells.words(points.get(0).test()))
                        .ours(figure, "iterations", range(points, "iterations", 1, Units::count))
                        .ours(figure, "blocks", range(points, "threads", VinklerFigures.BLOCK, Units::count))
                        .ours(figure, "heap", range(points, "heapBytes", 1, Units::bytes))
                        .ours(figure, "payload", range(points, "leastBytes", 1, Units::bytes));
            }
        }
        return table;
    }

    private static Cell range(
            final List<KernelResult> points, final String key, final double unit, final DoubleFunction<String> format) {
        final double[] sorted = points.stream()
                .mapToDouble(point -> point.number(key) / unit)
                .sorted()
                .toArray();
        final String least = format.apply(sorted[0]);
        final String most = format.apply(sorted[sorted.length - 1]);
        return Cells.words(least.equals(most) ? least : least + " to " + most);
    }

    private static PaperTable properties(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        final PublishedTable paper = PublishedTable.load("paper-properties.csv");
        for (final String row : paper.rows()) {
            paper.columns().forEach(column -> table.paper(row, column, Cells.words(paper.text(row, column))));
        }
        final List<KernelResult> all = read(results);
        for (final KernelResult one : all) {
            final String name = one.allocator();
            if (one.test().equals("REGISTERS") && VinklerFigures.isPlain(one) && !name.equals(Contender.EMPTY)) {
                table.ours(name, "register usage", Cells.count(one.number("registers")))
                        .ours(name, "variable requests", growth(all, name, "3(a)", "leastBytes", SMALLEST, LARGEST))
                        .ours(name, "successive requests", growth(all, name, "3(c)", "iterations", 10, 100))
                        .ours(
                                name,
                                "scaling",
                                growth(
                                        all,
                                        name,
                                        "3(d)",
                                        "threads",
                                        VinklerFigures.BLOCK,
                                        120.0 * VinklerFigures.BLOCK))
                        .ours(name, "overall speed", Cells.factor(speed(all, name)));
            }
        }
        return table;
    }

    /** Returns the time at one point of a figure over that at another. */
    private static Cell growth(
            final List<KernelResult> all,
            final String allocator,
            final String figure,
            final String key,
            final double from,
            final double to) {
        final Predicate<KernelResult> own =
                VinklerFigures.points(figure).and(result -> result.allocator().equals(allocator));
        return Cells.factor(time(all, own.and(result -> result.number(key) == to))
                / time(all, own.and(result -> result.number(key) == from)));
    }

    private static double time(final List<KernelResult> all, final Predicate<KernelResult> which) {
        return all.stream()
                .filter(which)
                .mapToDouble(KernelResult::comparableMicroseconds)
                .findFirst()
                .orElse(Double.NaN);
    }

    private static double speed(final List<KernelResult> all, final String allocator) {
        return ratio(all, KernelResult.CUDA_MALLOC, all, allocator);
    }

    private static PaperTable cards(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        final @Nullable PaperResults beside = results.beside().orElse(null);
        if (beside != null) {
            final List<KernelResult> here = read(results);
            final List<KernelResult> there = read(beside);
            final String column = beside.environment().text("gpu") + " over "
                    + results.environment().text("gpu");
            here.stream()
                    .map(KernelResult::allocator)
                    .distinct()
                    .filter(name -> !name.equals(Contender.EMPTY))
                    .forEach(name -> {
                        table.ours(name, column, Cells.factor(ratio(there, name, here, name)));
                        if (!name.equals(SCATTER_ALLOC)) {
                            table.paper(name, column, Cells.factor(PAPER_CARDS));
                        }
                    });
        }
        return table;
    }

    /**
     * Returns the median of the times of one allocator over those of another, in the points of figure 3 that both
     * serve.
     */
    private static double ratio(
            final List<KernelResult> dividends,
            final String dividend,
            final List<KernelResult> divisors,
            final String divisor) {
        final ToDoubleFunction<KernelResult> quotient = result -> time(
                        dividends,
                        other -> other.allocator().equals(dividend)
                                && VinklerFigures.isPlain(other)
                                && other.name().equals(result.name()))
                / result.comparableMicroseconds();
        return Spread.of(divisors.stream()
                        .filter(result -> result.allocator().equals(divisor)
                                && VinklerFigures.OF_FIGURE_3.stream()
                                        .anyMatch(figure ->
                                                VinklerFigures.points(figure).test(result)))
                        .mapToDouble(quotient))
                .median();
    }
}
