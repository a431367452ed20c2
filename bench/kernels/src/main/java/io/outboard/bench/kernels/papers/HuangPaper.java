package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.paper.Paper;
import io.outboard.bench.cli.paper.PaperOutput;
import io.outboard.bench.cli.paper.PaperResults;
import io.outboard.bench.cli.paper.PaperRun;
import io.outboard.bench.cli.paper.PaperTable;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.programs.catalogue.Programs;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import io.outboard.bench.kernels.report.programs.ProgramsSection;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The paper of Huang et al. (2013): XMalloc, which joins and buffers requests to CUDA's allocator. */
public final class HuangPaper implements Paper {

    private static final String CUDA = KernelResult.CUDA_MALLOC;
    private static final String COALESCED = "CudaMalloc coalesced";
    private static final String XMALLOC = "XMalloc";
    private static final String LANES = "lanes";
    private static final String WORKERS = "workers";
    private static final String BLOCKS_BEFORE = "blocksBefore";
    private static final String PER_REQUEST = "nsPerRequest";
    private static final String PER_WARP = "nsPerWarp";
    private static final String BEST = "best";
    private static final int ALONE = 1;
    private static final int WARP = 32;

    private static final double PAPER_CUDA_NS = 900;
    private static final double PAPER_XMALLOC_NS = 24;
    private static final double PAPER_FACTOR = 48;
    private static final double PAPER_COALESCING = 50;
    private static final double PAPER_QUEUES = 5;
    private static final double PAPER_FILLED = 6;

    private static final String CARD = "GTX 480 and CUDA 4.0 there.";
    private static final String FEWER = "102,400 workers, where the paper has a million. " + CARD;

    private static final PaperOutput.Chart WORKERS_A_WARP =
            new PaperOutput.Chart("kernelCount", "workers in a warp", "time of a request, logarithmic");

    /** {@link java.util.ServiceLoader} calls this constructor. */
    public HuangPaper() {}

    @Override
    public String name() {
        return "huang";
    }

    @Override
    public String title() {
        return "X. Huang, C. I. Rodrigues, S. Jones, I. Buck and W.-m. Hwu, Scalable SIMD-parallel Memory Allocation for"
                + " Many-core Machines (2013)";
    }

    @Override
    public List<PaperOutput> outputs() {
        return List.of(
                new PaperOutput(
                        "huang/figure-2",
                        "Time of allocating an int, writing it and freeing it, of CUDA's allocator and of XMalloc",
                        true,
                        CARD
                                + " The paper's text has the best times alone, and doesn't say with how many workers a warp.",
                        WORKERS_A_WARP,
                        HuangPaper::throughput),
                new PaperOutput(
                        "huang/figure-2-workers",
                        "The same over the number of workers, which fill their warps",
                        true,
                        "The paper has a million workers alone. " + CARD,
                        new PaperOutput.Chart(
                                "kernelWorkers", "workers, logarithmic", "time of a request, logarithmic"),
                        results -> lines(results, WORKERS, WORKERS, PER_REQUEST)),
                new PaperOutput(
                        "huang/figure-5",
                        "The same with and without coalescing, and nothing else",
                        true,
                        CARD + " The paper's figure has no numbers in its text.",
                        WORKERS_A_WARP,
                        results -> lines(results, "5", LANES, PER_REQUEST)),
                new PaperOutput(
                        "huang/figure-6",
                        "Time of a request that reaches the buffers, by the number of buffers a size class",
                        true,
                        FEWER + " The paper's figure has no numbers in its text. XMalloc has 16 buffers.",
                        WORKERS_A_WARP,
                        results -> lines(results, "6", LANES, PER_WARP)),
                claim(
                        "huang/claim-48-times",
                        "\"With 32 threads, we achieve a 48x speedup over the CUDA SDK\"",
                        new Claim("2", CUDA, XMALLOC, WARP, PER_REQUEST, PAPER_FACTOR),
                        "The paper's 0.9 us by its 0.024 us are 37.5; CUDA's best time isn't that with 32 threads."),
                claim(
                        "huang/claim-coalescing",
                        "\"When all SIMD threads are allocating, allocation coalescing increases performance by a factor of 50\"",
                        new Claim("5", CUDA, COALESCED, WARP, PER_REQUEST, PAPER_COALESCING),
                        CARD),
                claim(
                        "huang/claim-16-buffers",
                        "\"Using 16 buffers, we increase the allocator's throughput by about 5x when a single thread per warp is"
                                + " active\"",
                        new Claim("6", COALESCED, XMALLOC, ALONE, PER_WARP, PAPER_QUEUES),
                        FEWER),
                claim(
                        "huang/claim-filled-heap",
                        "\"Filling the heap with 2^17 one-kilobyte blocks ... diminishes in this case to just under 6x\"",
                        new Claim("filled", CUDA, XMALLOC, WARP, PER_REQUEST, PAPER_FILLED),
                        FEWER));
    }

    @Override
    public List<String> measure(final PaperRun run) throws IOException, InterruptedException {
        return PaperCases.run(run, List.of(), Programs.cases("xmalloc", false));
    }

    /** Returns the results that belong to a figure, in the order of what it varies. */
    private static List<ProgramResult> read(final PaperResults results, final String figure, final String key)
            throws IOException {
        return results.read(ProgramsSection.FILE_NAME, ProgramResult::parse).stream()
                .filter(result -> result.program().equals("xmalloc")
                        && List.of(result.text("figures").split(" ", -1)).contains(figure))
                .sorted(Comparator.comparingDouble(result -> result.number(key)))
                .toList();
    }

    private static PaperTable throughput(final PaperResults results) throws IOException {
        final PaperTable table = lines(results, "2", LANES, PER_REQUEST)
                .paper(CUDA, BEST, Cells.ns(PAPER_CUDA_NS))
                .paper(XMALLOC, BEST, Cells.ns(PAPER_XMALLOC_NS));
        final Map<String, Double> best = new TreeMap<>();
        for (final ProgramResult result : read(results, "2", LANES)) {
            if (result.isComplete()) {
                best.merge(result.store(), result.number(PER_REQUEST), Math::min);
            }
        }
        best.forEach((store, ns) -> table.ours(store, BEST, Cells.ns(ns)));
        return table;
    }

    /** Returns a line for each store of a figure. */
    private static PaperTable lines(
            final PaperResults results, final String figure, final String xKey, final String yKey) throws IOException {
        final PaperTable table = new PaperTable();
        for (final ProgramResult result : read(results, figure, xKey)) {
            final double x = result.number(xKey);
            if (!Double.isNaN(x)) {
                final String column = Units.count(x);
                table.at(column, x)
                        .ours(
                                result.store(),
                                column,
                                result.isComplete()
                                        ? Cells.ns(result.number(yKey))
                                        : Cells.words(result.text("status")));
            }
        }
        return table;
    }

    /** How many times faster one store is than another in a figure; the paper says it of one number of workers. */
    private record Claim(String figure, String slow, String fast, int lanes, String key, double paper) {

        PaperTable compose(final PaperResults results) throws IOException {
            final PaperTable table = new PaperTable();
            final List<ProgramResult> all = read(results, figure, LANES);
            final String row = fast + " over " + slow;
            final boolean isOfFilled = all.stream().anyMatch(result -> result.number(BLOCKS_BEFORE) > 0);
            table.paper(row, column(lanes, isOfFilled), Cells.factor(paper));
            for (final ProgramResult result : all) {
                final double other = all.stream()
                        .filter(each -> each.store().equals(slow) && each.size().equals(result.size()))
                        .mapToDouble(each -> each.number(key))
                        .findFirst()
                        .orElse(Double.NaN);
                if (result.store().equals(fast)) {
                    table.ours(
                            row,
                            column((int) result.number(LANES), result.number(BLOCKS_BEFORE) > 0),
                            Cells.factor(other / result.number(key)));
                }
            }
            return table;
        }

        private static String column(final int workers, final boolean isFilled) {
            return workers + " a warp" + (isFilled ? ", filled" : "");
        }
    }

    private static PaperOutput claim(final String name, final String title, final Claim claim, final String deviation) {
        return new PaperOutput(name, title, true, deviation, null, claim::compose);
    }
}
