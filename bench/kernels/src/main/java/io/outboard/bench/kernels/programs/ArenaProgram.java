package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.cuda.kernels.DeviceAllocator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The program measures scratch memory: each thread asks 32 times for 16 to 128 bytes, and frees everything at the end.
 * The memory is from the arena of the thread's warp over an allocator, from the allocator itself, or from a counter of
 * the warp in memory that was set aside, which is the best possible.
 */
public final class ArenaProgram implements Program {

    private static final String ARENA = "-arena";

    private static final long REQUESTS = 32;
    private static final String MILLION = "T1M";

    /**
     * The size that the counters of a million threads need, {@code Scratch::WARP_BYTES} for each warp; it is more than
     * twice what all threads that an H200 runs at the same time hold in arenas.
     */
    private static final long HEAP_BYTES = 4L << 30;

    private static final long QUICK_HEAP_BYTES = 256L << 20;
    private static final int RUNS = 5;

    @Override
    public String name() {
        return "arena";
    }

    @Override
    public List<Store> stores() {
        final List<DeviceAllocator> allocators =
                List.of(DeviceAllocator.BIT_MALLOC, DeviceAllocator.CFM_MALLOC, DeviceAllocator.CUDA_MALLOC);
        return Stream.of(
                        Stream.of(Store.BUMP),
                        allocators.stream().map(allocator -> new Store(allocator.paperName() + ARENA)),
                        allocators.stream().map(Store::plain))
                .flatMap(stores -> stores)
                .toList();
    }

    private static boolean isArena(final Store store) {
        return store.name().endsWith(ARENA);
    }

    @Override
    public List<ProgramCase> cases(final Store store, final boolean quick) {
        return (quick ? Stream.of("T1k") : Stream.of("T10240", MILLION))
                // CUDA's malloc and free take 0.35 microseconds together (AD T10k 16 B, bench/results/h200-kernels), so
                // 33 million of them take more than ten seconds a run.
                .filter(size -> !size.equals(MILLION) || isArena(store) || !store.isCuda())
                .map(size -> new ProgramCase(
                        name(),
                        store,
                        size,
                        ProgramCase.Mode.TIME,
                        quick ? QUICK_HEAP_BYTES : HEAP_BYTES,
                        quick ? 1 : RUNS))
                .toList();
    }

    @Override
    public JsonLine run(final ProgramCase work, final BenchDevice device) {
        final long threads = ThreadCounts.parse(work.size());
        final JsonLine json = work.json().put("status", "ok").put("requests", threads * REQUESTS);
        try (RequestKernels kernels = new RequestKernels(work, device, threads)) {
            final RequestRuns runs = new RequestRuns(
                    work.steps(), () -> new double[] {kernels.timed("use")}, () -> kernels.run("checkUse"));
            runs.putTimes(json, threads * REQUESTS);
            kernels.putChecks(json);
        }
        return json;
    }
}
