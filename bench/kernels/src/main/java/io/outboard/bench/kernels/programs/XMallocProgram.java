package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.cuda.kernels.DeviceAllocator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The microbenchmark of XMalloc (Huang et al. 2013, figures 2, 5 and 6) has workers that allocate an int each, write to
 * it and free it, with 1 to 32 workers in each warp. The paper has a million workers; here there are 102,400, since
 * CUDA's allocator takes a microsecond for each, or more (bench/results/h200-programs), and each case has at least
 * three runs. For larger blocks, the program also measures how much faster buffers make CUDA's allocator.
 *
 * <p>The stores are CUDA's allocator as it is; coalesced; with the paper's 256 blocks of each size class kept by 1 to
 * 64 queues; with queues but not coalesced; with queues as they are by default; and BitMalloc.
 */
public final class XMallocProgram implements Program {

    private static final String BUFFERED = "-buffered";
    private static final String WORKERS = "-workers";
    private static final String SHORT = "-short";
    private static final long MOST_WORKERS = 102_400;
    private static final long SHORT_WORKERS = 10_000;
    private static final int WARP_THREADS = 32;

    /** The size of the paper's heap. */
    private static final long HEAP_BYTES = 500L << 20;

    private static final int RUNS = 5;
    private static final List<Integer> QUEUES = List.of(1, 4, 16, 64);

    @Override
    public String name() {
        return "xmalloc";
    }

    @Override
    public List<Store> stores() {
        final String cuda = DeviceAllocator.CUDA_MALLOC.paperName();
        final Stream<String> forms = Stream.of(
                        Stream.of("", "-coalesced"),
                        QUEUES.stream().map(queues -> BUFFERED + queues),
                        Stream.of(BUFFERED + "only16", BUFFERED))
                .flatMap(some -> some);
        return Stream.concat(
                        forms.map(form -> new Store(cuda + form)), Stream.of(Store.plain(DeviceAllocator.BIT_MALLOC)))
                .toList();
    }

    @Override
    public List<ProgramCase> cases(final Store store, final boolean quick) {
        final Stream<String> workers = IntStream.of(1, 2, 4, 8, 16, WARP_THREADS)
                .filter(lanes -> !quick || lanes == 1 || lanes == WARP_THREADS)
                .mapToObj(lanes -> lanes + WORKERS + (quick ? SHORT : ""));
        return Stream.concat(workers, Stream.of(quick ? "1024x256B" : "10240x256B"))
                .map(size -> new ProgramCase(name(), store, size, ProgramCase.Mode.TIME, HEAP_BYTES, quick ? 1 : RUNS))
                .toList();
    }

    @Override
    public JsonLine run(final ProgramCase work, final BenchDevice device) {
        return work.size().contains(WORKERS) ? ofWorkers(work, device) : ofBlocks(work, device);
    }

    private static JsonLine ofWorkers(final ProgramCase work, final BenchDevice device) {
        final int lanes = Integer.parseInt(work.size().substring(0, work.size().indexOf(WORKERS)));
        final long workers = work.size().endsWith(SHORT) ? SHORT_WORKERS : MOST_WORKERS;
        final JsonLine json = work.json().put("status", "ok").put("workers", workers);
        try (RequestKernels kernels = new RequestKernels(work, device, workers)) {
            kernels.lanes(lanes);
            final RequestRuns runs = new RequestRuns(
                    work.steps(), () -> new double[] {kernels.timed("use")}, () -> kernels.run("checkUse"));
            runs.putTimes(json, workers);
            // Figure 6 shows this time: that of one request to the allocator behind the buffers, if the requests of a
            // warp are joined to one.
            json.put("nsPerWarp", runs.medianUs() * 1000 * lanes / workers, 3);
            kernels.putChecks(json);
        }
        return json;
    }

    private static JsonLine ofBlocks(final ProgramCase work, final BenchDevice device) {
        final int times = work.size().indexOf('x');
        final long threads = Long.parseLong(work.size().substring(0, times));
        final long bytes =
                Long.parseLong(work.size().substring(times + 1, work.size().length() - 1));
        final JsonLine json = work.json().put("status", "ok").put("workers", threads);
        try (RequestKernels kernels = new RequestKernels(work, device, threads)) {
            kernels.set(RequestKernels.Word.BYTES, bytes);
            HeldRuns.measure(kernels, work.steps(), json, threads, "allocateUs", "freeUs");
        }
        return json;
    }
}
