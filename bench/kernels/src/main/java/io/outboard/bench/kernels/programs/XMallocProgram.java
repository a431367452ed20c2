package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.cuda.kernels.DeviceAllocator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The microbenchmark of XMalloc (Huang et al. 2013, figures 2, 5 and 6) has workers that allocate an int each, write to
 * it and free it, with 1 to 32 workers in each warp. For larger blocks, the program also measures how much faster
 * buffers make CUDA's allocator.
 *
 * <p>The size {@code T1M-32-filled} has a million workers, 32 in each warp, on a heap that was filled before; {@code
 * 10240x256B} has as many threads that hold 256 bytes each. The key {@code figures} of a result names each
 * {@link Figure} that the result belongs to, with blanks between them.
 *
 * <p>The stores are CUDA's allocator as it is; coalesced; XMalloc; XMalloc with another number of queues; queues that
 * nothing coalesces for; the default of {@code Coalesced<Buffered>}; and BitMalloc.
 */
public final class XMallocProgram implements Program {

    private static final String CUDA = DeviceAllocator.CUDA_MALLOC.paperName();
    private static final String XMALLOC = DeviceAllocator.XMALLOC.paperName();
    private static final String OURS = DeviceAllocator.BIT_MALLOC.paperName();
    private static final String COALESCED = CUDA + "-coalesced";
    private static final String QUEUES = CUDA + "-buffered";

    private static final String FILLED = "-filled";
    private static final String MILLION = "T1M";
    private static final String TENTH = "T100k";
    private static final String QUICK = "T1k";
    private static final int WARP_THREADS = 32;

    /** The size of the paper's heap. */
    private static final long HEAP_BYTES = 500L << 20;

    /** The blocks that fill a quarter of the heap, as in the paper. */
    private static final long FILL_BLOCKS = 1 << 17;

    private static final long FILL_BYTES = 1024;

    private static final int RUNS = 5;

    /** A million requests of CUDA's allocator take a second. */
    private static final int RUNS_OF_A_MILLION = 3;

    /**
     * A figure is what the results of some stores and sizes together show.
     *
     * @param name the paper's number; {@code workers} for time over the number of workers, from one on; {@code filled}
     *     for the heap that was filled before, and the same workers without it; {@code blocks} for the larger blocks
     */
    private record Figure(String name, List<String> stores, List<String> sizes) {

        boolean shows(final Store store, final String size) {
            return stores.contains(store.name()) && sizes.contains(size);
        }
    }

    /** Figure 6 has fewer workers than the paper's million, so that the runs are short. */
    private static final List<Figure> FIGURES = List.of(
            new Figure("2", List.of(CUDA, XMALLOC, OURS), inWarps(MILLION)),
            new Figure("5", List.of(CUDA, COALESCED), inWarps(MILLION)),
            new Figure("6", List.of(COALESCED, QUEUES + 1, QUEUES + 4, XMALLOC, QUEUES + 64), inWarps(TENTH)),
            new Figure(
                    "workers",
                    List.of(CUDA, COALESCED, XMALLOC, OURS),
                    Stream.of("T1", "T10", "T100", "T1000", "T10k", TENTH, MILLION)
                            .map(workers -> size(workers, WARP_THREADS))
                            .toList()),
            new Figure(
                    "filled",
                    List.of(CUDA, XMALLOC, OURS),
                    IntStream.of(1, WARP_THREADS)
                            .mapToObj(lanes -> size(TENTH, lanes))
                            .flatMap(size -> Stream.of(size, size + FILLED))
                            .toList()),
            new Figure(
                    "blocks",
                    List.of(
                            CUDA,
                            COALESCED,
                            XMALLOC,
                            QUEUES + 1,
                            QUEUES + 4,
                            QUEUES + 64,
                            QUEUES + "only16",
                            QUEUES,
                            OURS),
                    List.of("10240x256B")));

    private static List<String> inWarps(final String workers) {
        return IntStream.of(1, 2, 4, 8, 16, WARP_THREADS)
                .mapToObj(lanes -> size(workers, lanes))
                .toList();
    }

    private static String size(final String workers, final int lanes) {
        return workers + "-" + lanes;
    }

    @Override
    public String name() {
        return "xmalloc";
    }

    @Override
    public List<Store> stores() {
        return FIGURES.stream()
                .flatMap(figure -> figure.stores().stream())
                .distinct()
                .map(Store::new)
                .toList();
    }

    @Override
    public List<ProgramCase> cases(final Store store, final boolean quick) {
        final Stream<String> sizes = quick
                ? Stream.of(size(QUICK, 1), size(QUICK, WARP_THREADS), size(QUICK, WARP_THREADS) + FILLED, "1024x256B")
                : FIGURES.stream().flatMap(figure -> figure.sizes().stream().filter(size -> figure.shows(store, size)));
        return sizes.distinct()
                .map(size ->
                        new ProgramCase(name(), store, size, ProgramCase.Mode.TIME, HEAP_BYTES, quick ? 1 : runs(size)))
                .toList();
    }

    private static int runs(final String size) {
        return size.startsWith(MILLION) ? RUNS_OF_A_MILLION : RUNS;
    }

    /** Returns the names of the figures that a result belongs to, with blanks between them. */
    static String figures(final Store store, final String size) {
        return FIGURES.stream()
                .filter(figure -> figure.shows(store, size))
                .map(Figure::name)
                .collect(Collectors.joining(" "));
    }

    @Override
    public JsonLine run(final ProgramCase work, final BenchDevice device) {
        final JsonLine json = work.json().put("status", "ok").put("figures", figures(work.store(), work.size()));
        return work.size().contains("x") ? ofBlocks(work, device, json) : ofWorkers(work, device, json);
    }

    private static JsonLine ofWorkers(final ProgramCase work, final BenchDevice device, final JsonLine json) {
        final String[] words = work.size().split("-", -1);
        final long workers = ThreadCounts.parse(words[0]);
        final int lanes = Integer.parseInt(words[1]);
        final long blocks = work.size().endsWith(FILLED) ? FILL_BLOCKS : 0;
        json.put("workers", workers).put("lanes", (long) lanes).put("blocksBefore", blocks);
        try (RequestKernels kernels = new RequestKernels(work, device, workers, Math.max(workers, blocks))) {
            kernels.lanes(lanes).set(RequestKernels.Word.BYTES, FILL_BYTES);
            if (blocks != 0) {
                kernels.run("fillHeap", blocks);
            }
            final RequestRuns runs = new RequestRuns(
                    work.steps(), () -> new double[] {kernels.timed("use")}, () -> kernels.run("checkUse"));
            if (blocks != 0) {
                kernels.run("emptyHeap", blocks);
            }
            runs.putTimes(json, workers);
            // Figure 6 shows this time: that of one request to the allocator behind the buffers, if the requests of a
            // warp are joined to one.
            json.put("nsPerWarp", runs.medianUs() * 1000 * Math.min(lanes, workers) / workers, 3);
            kernels.putChecks(json);
        }
        return json;
    }

    private static JsonLine ofBlocks(final ProgramCase work, final BenchDevice device, final JsonLine json) {
        final int times = work.size().indexOf('x');
        final long threads = Long.parseLong(work.size().substring(0, times));
        final long bytes =
                Long.parseLong(work.size().substring(times + 1, work.size().length() - 1));
        json.put("workers", threads);
        try (RequestKernels kernels = new RequestKernels(work, device, threads)) {
            kernels.set(RequestKernels.Word.BYTES, bytes);
            HeldRuns.measure(kernels, work.steps(), json, threads, "allocateUs", "freeUs");
        }
        return json;
    }
}
