package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.paper.PaperOutput;
import io.outboard.bench.cli.paper.PaperResults;
import io.outboard.bench.cli.paper.PaperTable;
import io.outboard.bench.cli.report.HtmlTable.Cell;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.KernelPeer;
import io.outboard.bench.kernels.report.KernelResult;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.function.Predicate;

/** The class has figures 3, 4 and 5 of Vinkler and Havran (2014). */
final class VinklerFigures {

    /** The parts of figure 3. */
    static final List<String> OF_FIGURE_3 = List.of("3(a)", "3(b)", "3(c)", "3(d)");

    /** The threads of a block, in every test. */
    static final int BLOCK = 256;

    private static final double PAPER_THREADS = 120.0 * BLOCK;
    private static final double PAPER_HEAP = 2.0 * (1L << 30);
    private static final double PAPER_ITERATIONS = 10;
    private static final double PAPER_BYTES = 4;

    /** At 4 bytes, for which chunks have 16. */
    private static final double PAPER_INTERNAL = 0.75;

    /** What the text says of figure 5(b) at least. */
    private static final double PAPER_EXTERNAL = 0.3;

    private static final String BYTES = "bytes of a request";
    private static final String TIME = "time of the test, logarithmic";
    private static final String SHARE = "share of the memory";
    private static final String ONE_A_WARP =
            "One thread of each warp allocates. The paper's figure has no numbers in its text (GTX TITAN Black).";
    private static final String PUBLISHED =
            " ScatterAlloc, in the form of mallocMC, and Halloc have lines where bench/peers.sh compiled them."
                    + " Dots: others' code in another harness, on an H200, with heaps of 2 GiB, in the cases that it ran.";

    private VinklerFigures() {}

    static List<PaperOutput> outputs() {
        return List.of(
                time(
                        "vinkler/figure-3a",
                        "AD: time over the size of a request",
                        "3(a)",
                        new PaperOutput.Chart("kernelBytes", BYTES, TIME),
                        "leastBytes",
                        Units::bytes),
                time(
                        "vinkler/figure-3b",
                        "ACD: time over the size of the memory pool",
                        "3(b)",
                        new PaperOutput.Chart("kernelBytes", "bytes of the heap", TIME),
                        "heapBytes",
                        Units::bytes),
                time(
                        "vinkler/figure-3c",
                        "ACD: time over the number of allocations of a thread",
                        "3(c)",
                        new PaperOutput.Chart("kernelCount", "allocations of a thread", TIME),
                        "iterations",
                        Units::count),
                time(
                        "vinkler/figure-3d",
                        "P: time over the number of threads, 256 a block",
                        "3(d)",
                        new PaperOutput.Chart("kernelCount", "threads", TIME),
                        "threads",
                        Units::count),
                new PaperOutput(
                        "vinkler/figure-4",
                        "ACD: time over the size of a request, by how the memory pool is divided",
                        true,
                        "The paper's lines are ScatterAlloc's page sizes, whose code isn't in our tree. Ours are the family as it"
                                + " is, and CFMMalloc in heaps that are pre-split otherwise.",
                        new PaperOutput.Chart("kernelBytes", BYTES, TIME),
                        results -> points(
                                results,
                                "4",
                                "leastBytes",
                                Units::bytes,
                                VinklerFigures::splitName,
                                result -> Cells.us(result.comparableMicroseconds()))),
                fragmentation(
                        "vinkler/figure-5a",
                        "AD: internal fragmentation over the size of a request",
                        "internalFragmentation",
                        "Equation 2, while all is allocated. The paper's text has a number at 4 bytes alone.",
                        PAPER_INTERNAL),
                fragmentation(
                        "vinkler/figure-5b",
                        "AD: external fragmentation over the size of a request",
                        "externalFragmentationOfChunks",
                        "Equation 3, after all is freed, chunk by chunk. The paper's text has the least value alone, anywhere in"
                                + " the figure. Where chunks that are neighbours count as one, since malloc joins them, ours is 0.",
                        PAPER_EXTERNAL));
    }

    private static PaperOutput time(
            final String name,
            final String title,
            final String figure,
            final PaperOutput.Chart chart,
            final String key,
            final DoubleFunction<String> text) {
        return new PaperOutput(
                name,
                title,
                true,
                ONE_A_WARP
                        + (figure.equals("3(a)")
                                ? " FDGMalloc is WarpArena over CUDA's malloc." + PUBLISHED
                                : PUBLISHED),
                chart,
                results -> withPublished(
                        points(
                                results,
                                figure,
                                key,
                                text,
                                KernelResult::allocator,
                                result -> Cells.us(result.comparableMicroseconds())),
                        results,
                        figure,
                        key,
                        text));
    }

    private static PaperOutput fragmentation(
            final String name, final String title, final String key, final String deviation, final double paper) {
        return new PaperOutput(
                name, title, true, deviation, new PaperOutput.Chart("fragmentation", BYTES, SHARE), results -> {
                    final PaperTable table = points(
                            results,
                            "5",
                            "leastBytes",
                            Units::bytes,
                            KernelResult::allocator,
                            result -> Cells.share(result.number(key)));
                    if (table.hasOurs()) {
                        table.paper("CMalloc", Units.bytes(PAPER_BYTES), Cells.share(paper));
                    }
                    return table;
                });
    }

    /** Returns a line for each allocator, with a point for each value of a key. */
    private static PaperTable points(
            final PaperResults results,
            final String figure,
            final String key,
            final DoubleFunction<String> text,
            final Function<KernelResult, String> line,
            final Function<KernelResult, Cell> value)
            throws IOException {
        final PaperTable table = new PaperTable();
        VinklerTables.read(results).stream()
                .filter(points(figure))
                .sorted(Comparator.comparingDouble(result -> result.number(key)))
                .forEach(result -> {
                    final String column = text.apply(result.number(key));
                    table.at(column, result.number(key)).ours(line.apply(result), column, cell(result, value));
                });
        return table;
    }

    /** Returns the value, or why there is none. */
    private static Cell cell(final KernelResult result, final Function<KernelResult, Cell> value) {
        if (!result.isComplete()) {
            return Cells.words(result.text("status"));
        }
        final Cell cell = value.apply(result);
        return result.number("nulls") > 0 && Double.isNaN(cell.exact()) ? Cells.words("refused") : cell;
    }

    /** Adds what others' code took in the same cases, as far as such points are known. */
    private static PaperTable withPublished(
            final PaperTable table,
            final PaperResults results,
            final String figure,
            final String key,
            final DoubleFunction<String> text)
            throws IOException {
        final List<KernelPeer> peers = KernelPeer.load();
        for (final KernelResult result : VinklerTables.read(results)) {
            if (points(figure).test(result)) {
                peers.stream()
                        .filter(peer -> peer.caseName().equals(result.name()))
                        .forEach(peer -> table.elsewhere(
                                peer.peer().replace("published ", "") + ", published code",
                                text.apply(result.number(key)),
                                Cells.us(peer.times().total())));
            }
        }
        return table;
    }

    /** Returns which results are points of a figure, by its number. */
    static Predicate<KernelResult> points(final String figure) {
        return switch (figure) {
            case "3(a)" -> is("ADF").and(usualHeap());
            case "3(b)" ->
                is("ACD")
                        .and(VinklerFigures::isUsuallySplit)
                        .and(has("leastBytes", PAPER_BYTES))
                        .and(has("iterations", PAPER_ITERATIONS));
            case "3(c)" -> is("ACD").and(usualHeap()).and(has("leastBytes", PAPER_BYTES));
            case "3(d)" ->
                usualHeap()
                        .and(has("leastBytes", PAPER_BYTES))
                        .and(result -> result.test().equals("P") && isPerWarp(result) && isPlain(result));
            case "4" ->
                is("ACD")
                        .and(has("heapBytes", PAPER_HEAP))
                        .and(has("iterations", PAPER_ITERATIONS))
                        .and(VinklerFigures::isOfFamily);
            case "5" -> is("AD").and(usualHeap()).and(result -> !Double.isNaN(result.number("internalFragmentation")));
            default -> throw new IllegalArgumentException("figure=" + figure + " must be one of the paper's");
        };
    }

    /** Selects a test with the paper's threads. */
    private static Predicate<KernelResult> is(final String test) {
        return result -> result.test().equals(test)
                && isPerWarp(result)
                && result.number("threads") == PAPER_THREADS
                && isPlain(result);
    }

    /**
     * Returns whether a result is as in the paper: each thread by itself, and the allocator compiled into the kernel.
     */
    static boolean isPlain(final KernelResult result) {
        return !result.isCoalesced() && !result.isLinked();
    }

    private static boolean isPerWarp(final KernelResult result) {
        return result.number("allocatingThreads") < result.number("threads");
    }

    private static Predicate<KernelResult> usualHeap() {
        return has("heapBytes", PAPER_HEAP).and(VinklerFigures::isUsuallySplit);
    }

    private static boolean isUsuallySplit(final KernelResult result) {
        return result.text("preSplit").equals("default");
    }

    private static Predicate<KernelResult> has(final String key, final double value) {
        return result -> result.number(key) == value;
    }

    /** Returns whether an allocator's heaps are pre-split at all. */
    private static boolean isOfFamily(final KernelResult result) {
        return List.of("CMalloc", "CFMalloc", "CMMalloc", "CFMMalloc").contains(result.allocator());
    }

    private static String splitName(final KernelResult result) {
        return isUsuallySplit(result) ? result.allocator() : result.allocator() + ", " + result.text("preSplit");
    }
}
