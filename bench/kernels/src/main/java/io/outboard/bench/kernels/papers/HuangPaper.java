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
import java.util.function.Predicate;

/** The paper of Huang et al. (2013): XMalloc, which joins and buffers requests to CUDA's allocator. */
public final class HuangPaper implements Paper {

    private static final String CUDA = KernelResult.CUDA_MALLOC;
    private static final String COALESCED = "CudaMalloc coalesced";
    private static final String BUFFERED = "CudaMalloc buffered";

    /** The paper's form: coalesced, with 16 queues of 16 blocks for each size class. */
    private static final String XMALLOC = "CudaMalloc buffered16";

    private static final String WORKERS = "-workers";
    private static final String PER_REQUEST = "nsPerRequest";
    private static final String PER_WARP = "nsPerWarp";
    private static final int ALONE = 1;
    private static final int WARP = 32;

    private static final double PAPER_CUDA_NS = 900;
    private static final double PAPER_XMALLOC_NS = 24;
    private static final double PAPER_FACTOR = 48;
    private static final double PAPER_COALESCING = 50;
    private static final double PAPER_QUEUES = 5;

    private static final String FEWER =
            "102,400 workers, where the paper has a million, since CUDA's allocator takes a microsecond for each; GTX 480 and CUDA"
                    + " 4.0 there.";

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
                        FEWER + " The paper's text has CUDA's best time and XMalloc's.",
                        WORKERS_A_WARP,
                        HuangPaper::throughput),
                new PaperOutput(
                        "huang/figure-5",
                        "The same with and without coalescing, and nothing else",
                        true,
                        FEWER + " The paper's figure has no numbers in its text.",
                        WORKERS_A_WARP,
                        results -> lines(results, store -> store.equals(CUDA) || store.equals(COALESCED), PER_REQUEST)),
                new PaperOutput(
                        "huang/figure-6",
                        "Time of a request that reaches the buffers, by the number of buffers a size class",
                        true,
                        FEWER + " The paper's figure has no numbers in its text.",
                        WORKERS_A_WARP,
                        results -> lines(
                                results,
                                store -> store.equals(COALESCED) || store.matches(BUFFERED + "[0-9]+"),
                                PER_WARP)),
                claim(
                        "huang/claim-48-times",
                        "\"With 32 threads, we achieve a 48x speedup over the CUDA SDK\"",
                        CUDA,
                        XMALLOC,
                        WARP,
                        PER_REQUEST,
                        PAPER_FACTOR,
                        "The paper's 0.9 us by its 0.024 us are 37.5; CUDA's best time isn't that with 32 threads."),
                claim(
                        "huang/claim-coalescing",
                        "\"When all SIMD threads are allocating, allocation coalescing increases performance by a factor of 50\"",
                        CUDA,
                        COALESCED,
                        WARP,
                        PER_REQUEST,
                        PAPER_COALESCING,
                        FEWER),
                claim(
                        "huang/claim-16-buffers",
                        "\"Using 16 buffers, we increase the allocator's throughput by about 5x when a single thread per warp is"
                                + " active\"",
                        COALESCED,
                        XMALLOC,
                        ALONE,
                        PER_WARP,
                        PAPER_QUEUES,
                        FEWER));
    }

    @Override
    public List<String> measure(final PaperRun run) throws IOException, InterruptedException {
        return PaperCases.run(run, List.of(), Programs.cases("xmalloc", false));
    }

    private static List<ProgramResult> read(final PaperResults results) throws IOException {
        return results.read(ProgramsSection.FILE_NAME, ProgramResult::parse).stream()
                .filter(result ->
                        result.program().equals("xmalloc") && result.size().endsWith(WORKERS))
                .sorted(Comparator.comparingInt(HuangPaper::lanes))
                .toList();
    }

    private static int lanes(final ProgramResult result) {
        return Integer.parseInt(result.size().replace(WORKERS, ""));
    }

    private static PaperTable throughput(final PaperResults results) throws IOException {
        final String all = Units.count(WARP);
        return lines(results, store -> store.equals(CUDA) || store.equals(XMALLOC), PER_REQUEST)
                .paper(CUDA, all, Cells.ns(PAPER_CUDA_NS))
                .paper(XMALLOC, all, Cells.ns(PAPER_XMALLOC_NS));
    }

    /** Returns a line for each store over the number of workers in a warp. */
    private static PaperTable lines(final PaperResults results, final Predicate<String> stores, final String key)
            throws IOException {
        final PaperTable table = new PaperTable();
        for (final ProgramResult result : read(results)) {
            if (stores.test(result.store())) {
                final String column = Units.count(lanes(result));
                table.at(column, lanes(result))
                        .ours(
                                result.store(),
                                column,
                                result.isComplete()
                                        ? Cells.ns(result.number(key))
                                        : Cells.words(result.text("status")));
            }
        }
        return table;
    }

    /** Returns how many times faster one store is than another; the paper says it of one number of workers in a warp. */
    private static PaperOutput claim(
            final String name,
            final String title,
            final String slow,
            final String fast,
            final int lanes,
            final String key,
            final double paper,
            final String deviation) {
        return new PaperOutput(name, title, true, deviation, null, results -> {
            final PaperTable table = new PaperTable();
            final List<ProgramResult> all = read(results);
            final String row = fast + " over " + slow;
            table.paper(row, column(lanes), Cells.factor(paper));
            for (final int each :
                    all.stream().mapToInt(HuangPaper::lanes).distinct().toArray()) {
                table.ours(row, column(each), Cells.factor(value(all, slow, each, key) / value(all, fast, each, key)));
            }
            return table;
        });
    }

    private static String column(final int lanes) {
        return lanes + " a warp";
    }

    private static double value(final List<ProgramResult> all, final String store, final int lanes, final String key) {
        return all.stream()
                .filter(result -> result.store().equals(store) && lanes(result) == lanes)
                .mapToDouble(result -> result.number(key))
                .findFirst()
                .orElse(Double.NaN);
    }
}
