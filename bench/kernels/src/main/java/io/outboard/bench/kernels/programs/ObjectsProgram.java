package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import java.util.List;
import java.util.stream.Stream;

/**
 * The program measures objects of 64 bytes, one for each thread, made in one kernel and destroyed in the next: by an
 * ObjectHeap, and as blocks of each allocator.
 */
public final class ObjectsProgram implements Program {

    private static final long OBJECT_BYTES = 64;

    /** A million objects take 64 MiB, and twice as much where each has a header and is rounded up. */
    private static final long HEAP_BYTES = 512L << 20;

    private static final int RUNS = 10;

    @Override
    public String name() {
        return "objects";
    }

    @Override
    public List<Store> stores() {
        return Store.ofObjects();
    }

    @Override
    public List<ProgramCase> cases(final Store store, final boolean quick) {
        return (quick ? Stream.of("T10k") : Stream.of("T100k", "T1M"))
                .map(size -> new ProgramCase(name(), store, size, ProgramCase.Mode.TIME, HEAP_BYTES, quick ? 1 : RUNS))
                .toList();
    }

    @Override
    public JsonLine run(final ProgramCase work, final BenchDevice device) {
        final long threads = ThreadCounts.parse(work.size());
        final JsonLine json = work.json().put("status", "ok").put("objects", threads);
        try (RequestKernels kernels = new RequestKernels(work, device, threads)) {
            kernels.set(RequestKernels.Word.BYTES, OBJECT_BYTES);
            HeldRuns.measure(kernels, work.steps(), json, threads, "makeUs", "destroyUs");
        }
        return json;
    }
}
