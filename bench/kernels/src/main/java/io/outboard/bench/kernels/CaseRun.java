package io.outboard.bench.kernels;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.CaseKernels.Times;
import io.outboard.bench.kernels.programs.RequestRuns;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.bench.kernels.worker.Stopwatch;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.DeviceHeapStatistics;
import io.outboard.cuda.kernels.KernelModule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The class measures one case on the device: a first run with checks, then timed runs, then statistics of the heap; and
 * everything again on an aged heap, if the case says so. Confined to one thread.
 */
final class CaseRun {

    private static final int NS_A_MICROSECOND = 1000;
    private static final int MICROSECONDS_A_MILLISECOND = 1000;

    private final KernelCase work;
    private final KernelLauncher launcher;
    private final CaseKernels kernels;
    private final long heapMemory;
    private final Region blocks;
    private final Counters counters;
    private final KernelModule module;
    private final Ageing ageing;
    private final boolean checked;

    CaseRun(
            final KernelCase work,
            final KernelModule module,
            final long heapMemory,
            final Region blocks,
            final Stopwatch stopwatch,
            final Counters counters,
            final Ageing ageing) {
        this.work = work;
        this.heapMemory = heapMemory;
        this.counters = counters;
        this.module = module;
        this.ageing = ageing;
        this.blocks = blocks;
        launcher = new KernelLauncher(module, stopwatch).of(work, blocks, counters);
        kernels = new CaseKernels(work, launcher, blocks);
        // An allocator that wraps around hands out memory that is in use once it has handed out all, by design, so
        // there is nothing to check.
        checked = !work.contender().isEmpty()
                && !(work.contender().overwrites() && work.demandBytes() > work.heapBytes());
    }

    JsonLine measure() {
        counters.clear();
        BenchDevice.clear(blocks);
        final JsonLine json = work.json();
        final List<Times> fresh;
        try (BenchHeap heap = heap(false)) {
            fresh = timedRuns(heap);
            json.put("status", "ok").put("runs", (long) fresh.size());
            addTo(json, "", heap, fresh);
            addOthers(json, fresh);
        }
        if (!fresh.get(0).isLong()) {
            if (work.contender().hasChunks() && !work.contender().isArena() && hasTwoKernels()) {
                json.put("internalFragmentation", internalFragmentation(), 4);
            }
            if (work.aged()) {
                measureAged(json, fresh);
            }
        }
        return json;
    }

    private void measureAged(final JsonLine json, final List<Times> fresh) {
        counters.clear();
        BenchDevice.clear(blocks);
        try (BenchHeap heap = heap(false)) {
            json.put("ageingLaunches", (long) ageing.age(module, heap));
            final List<Times> aged = timedRuns(heap);
            json.put("agedRatio", median(aged, Times::totalUs) / median(fresh, Times::totalUs), 3);
            addTo(json, "aged", heap, aged);
        }
    }

    /** Adds the times that only some tests have. */
    private void addOthers(final JsonLine json, final List<Times> times) {
        if (work.test() == TestKind.OOM) {
            final Counters.Counts counts = counters.read();
            final long repeats = counts.get(Counters.Key.REPEATS);
            final double hopelessUs = median(times, each -> each.other("hopelessUs"));
            json.put("served", (double) counts.get(Counters.Key.SERVED) / work.heapBytes(), 4)
                    .put("allNullMs", times.get(0).allocateUs() / MICROSECONDS_A_MILLISECOND, 4)
                    .put("hopelessRequests", repeats)
                    .put("hopelessServed", counts.get(Counters.Key.LATE))
                    .put("hopelessNs", hopelessUs * NS_A_MICROSECOND / repeats, 2);
        } else if (work.test() == TestKind.FILL) {
            final double first = median(times, each -> each.other("firstRoundsUs"));
            final double last = median(times, each -> each.other("lastRoundsUs"));
            json.put("rounds", (long) CaseKernels.partRounds(work))
                    .put("firstRoundsUs", first, 2)
                    .put("lastRoundsUs", last, 2)
                    .put("lastOverFirst", last / first, 3);
        }
    }

    /** Adds times, what checks counted, and statistics of the heap; {@code prefix} begins the keys. */
    private void addTo(final JsonLine json, final String prefix, final BenchHeap heap, final List<Times> times) {
        json.put(Counters.named(prefix, "allocateUs"), median(times, Times::allocateUs), 2)
                .put(Counters.named(prefix, "freeUs"), median(times, Times::freeUs), 2);
        counters.read().addTo(json, prefix);
        heap.statistics()
                .ifPresent(after -> json.put(Counters.named(prefix, "leakedChunks"), after.usedChunks())
                        .put(Counters.named(prefix, "misuses"), after.misuses())
                        .put(Counters.named(prefix, "externalFragmentation"), after.externalFragmentation(), 4)
                        .put(
                                Counters.named(prefix, "externalFragmentationOfChunks"),
                                after.externalFragmentationOfChunks(),
                                4));
    }

    /**
     * Does the runs. The first run, with checks, is also the warm-up; if it takes long, only one more follows. {@link
     * TestKind#OOM} has the first run alone.
     */
    private List<Times> timedRuns(final BenchHeap heap) {
        final List<Times> times = new ArrayList<>();
        if (checked) {
            kernels.check(heap);
        }
        final Times first = kernels.run(heap, checked);
        if (work.test() == TestKind.OOM) {
            times.add(first);
            return times;
        }
        final int runs = first.isLong() ? 1 : work.runs();
        for (int i = 0; i < runs; i++) {
            heap.resetUnlessFreed();
            times.add(kernels.run(heap, false));
        }
        return times;
    }

    private boolean hasTwoKernels() {
        return work.test() == TestKind.AD || work.test() == TestKind.MIX;
    }

    /**
     * Computes the internal fragmentation, equation 2 of Vinkler and Havran (2014), while all blocks are allocated, in
     * a heap that remembers the requested sizes.
     */
    private double internalFragmentation() {
        try (BenchHeap heap = heap(true)) {
            launcher.launch("allocate", 1);
            launcher.synchronize();
            return heap.statistics()
                    .map(DeviceHeapStatistics::internalFragmentation)
                    .orElse(Double.NaN);
        }
    }

    /** Makes a fresh heap, and tells the kernels to use it. */
    private BenchHeap heap(final boolean trackRequests) {
        final BenchHeap heap = new BenchHeap(work, heapMemory, trackRequests);
        launcher.heap(heap);
        return heap;
    }

    private static double median(final List<Times> times, final ToDoubleFunction<Times> time) {
        return RequestRuns.median(times.stream().mapToDouble(time).toArray());
    }
}
