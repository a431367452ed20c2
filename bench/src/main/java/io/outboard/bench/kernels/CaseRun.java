package io.outboard.bench.kernels;

import io.outboard.bench.report.JsonLine;
import io.outboard.core.Region;
import io.outboard.cuda.DeviceHeapStatistics;
import io.outboard.cuda.KernelModule;
import io.outboard.cuda.memory.DevicePointers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;

/** One case on the device: a first run with checks, timed runs, then what the heap looks like. Confined to one thread. */
final class CaseRun {

    private static final int BLOCK = 256;

    /** More than the host takes for a launch, even interpreted, in cycles of the device: some 200 microseconds. */
    private static final long LAUNCH_CYCLES = 400_000;

    /** Where one run takes longer than this, it is the only one. */
    private static final double LONG_RUN_US = 1e6;

    /** What one run took, in microseconds; {@code freeUs} is NaN where there is but one kernel. */
    private record Times(double allocateUs, double freeUs) {

        boolean isLong() {
            return allocateUs + (Double.isNaN(freeUs) ? 0 : freeUs) > LONG_RUN_US;
        }
    }

    private final KernelCase work;
    private final KernelModule module;
    private final long heapMemory;
    private final Region blocks;
    private final Stopwatch stopwatch;
    private final Counters counters;
    private final boolean checked;
    /** The parameter of the kernels, {@code Work} in {@code kernels.cu}; the words begin after the control block. */
    private final ByteBuffer parameter = ByteBuffer.allocateDirect(256).order(ByteOrder.nativeOrder());

    CaseRun(
            final KernelCase work,
            final KernelModule module,
            final long heapMemory,
            final Region blocks,
            final Stopwatch stopwatch,
            final Counters counters) {
        this.work = work;
        this.module = module;
        this.heapMemory = heapMemory;
        this.blocks = blocks;
        this.stopwatch = stopwatch;
        this.counters = counters;
        // What wraps hands out memory that is in use, once it has handed out all: by design, so there is nothing to
        // check.
        checked = !work.contender().isEmpty()
                && !(work.contender().overwrites() && work.demandBytes() > work.heapBytes());
    }

    JsonLine measure() {
        counters.clear();
        clearBlocks();
        final JsonLine json = work.json();
        final boolean isLong;
        try (BenchHeap heap = new BenchHeap(work, heapMemory, false)) {
            use(heap);
            final List<Times> times = timedRuns(heap);
            isLong = times.get(0).isLong();
            json.put("status", "ok")
                    .put("runs", (long) times.size())
                    .put("allocateUs", median(times, Times::allocateUs), 2)
                    .put("freeUs", median(times, Times::freeUs), 2);
            counters.addTo(json, work);
            heap.statistics().ifPresent(after -> addTo(json, after));
        }
        if (work.contender().hasChunks() && hasTwoKernels() && !isLong) {
            json.put("internalFragmentation", internalFragmentation(), 4);
        }
        return json;
    }

    private static void addTo(final JsonLine json, final DeviceHeapStatistics after) {
        json.put("leakedChunks", after.usedChunks())
                .put("misuses", after.misuses())
                .put("externalFragmentation", after.externalFragmentation(), 4)
                .put("externalFragmentationOfChunks", after.externalFragmentationOfChunks(), 4);
    }

    private List<Times> timedRuns(final BenchHeap heap) {
        final List<Times> times = new ArrayList<>();
        final Times first = firstRun(heap);
        if (work.test() == TestKind.OOM) {
            times.add(first);
            return times;
        }
        final int runs = first.isLong() ? 1 : work.runs();
        for (int i = 0; i < runs; i++) {
            heap.resetUnlessFreed();
            times.add(run(false));
        }
        return times;
    }

    /** With checks; where these need kernels of their own, they run before it. It is also the warm-up. */
    private Times firstRun(final BenchHeap heap) {
        if (checked && (work.test() == TestKind.ADF || work.test() == TestKind.ACD)) {
            launch(work.test() == TestKind.ADF ? "checkFused" : "checkCycle", work.iterations());
            stopwatch.synchronize();
            heap.resetUnlessFreed();
        }
        return run(checked);
    }

    private Times run(final boolean check) {
        return switch (work.test()) {
            case AD, MIX -> twoKernels("allocate", "release", check, "checkFill", "checkRead");
            case OOM -> twoKernels("exhaust", "releaseChains", check, "checkFillChains", "checkReadChains");
            case ADF -> oneKernel("fused");
            case ACD -> oneKernel("cycle");
            case P -> manyLaunches(check);
            case REGISTERS -> throw new IllegalStateException("registers aren't run");
        };
    }

    private boolean hasTwoKernels() {
        return work.test() == TestKind.AD || work.test() == TestKind.MIX;
    }

    private Times twoKernels(
            final String allocate, final String free, final boolean check, final String fill, final String read) {
        final double allocateUs = timed(1, () -> launch(allocate, 1));
        if (check) {
            launch(fill, 1);
            launch(read, 1);
            stopwatch.synchronize();
        }
        return new Times(allocateUs, timed(1, () -> launch(free, 1)));
    }

    private Times oneKernel(final String kernel) {
        return new Times(timed(1, () -> launch(kernel, work.iterations())), Double.NaN);
    }

    /** Every launch draws anew; what is held in the end is freed, untimed. */
    private Times manyLaunches(final boolean check) {
        final double us = timed(work.iterations(), () -> {
            for (int i = 0; i < work.iterations(); i++) {
                launch("probability", i);
                if (check) {
                    launch("checkFill", i);
                    launch("checkRead", i);
                }
            }
        });
        launch("release", 1);
        stopwatch.synchronize();
        clearBlocks();
        return new Times(us, Double.NaN);
    }

    /** Equation 2, in a heap that remembers what was requested, while all is allocated. */
    private double internalFragmentation() {
        try (BenchHeap heap = new BenchHeap(work, heapMemory, true)) {
            use(heap);
            launch("allocate", 1);
            stopwatch.synchronize();
            return heap.statistics()
                    .map(DeviceHeapStatistics::internalFragmentation)
                    .orElse(Double.NaN);
        }
    }

    private void use(final BenchHeap heap) {
        parameter.clear().put(heap.control());
        parameter
                .putLong(heap.address())
                .putLong(work.contender().hasBounds() ? work.heapBytes() : 0)
                .putLong(blocks.address())
                .putLong(counters.address())
                .putLong(work.threads())
                .putLong(work.stride())
                .putLong(work.leastBytes())
                .putLong(work.mostBytes());
    }

    /** What the device takes for work of so many launches, in microseconds. The device waits for the host before. */
    private double timed(final int launches, final Runnable timed) {
        launch("hold", launches * LAUNCH_CYCLES, 1, 1);
        return stopwatch.microseconds(timed);
    }

    private void launch(final String kernel, final long iterations) {
        launch(kernel, iterations, (work.threads() + BLOCK - 1) / BLOCK, BLOCK);
    }

    private void launch(final String kernel, final long iterations, final int gridBlocks, final int blockThreads) {
        parameter.putLong(parameter.position(), iterations);
        module.launch(
                kernel,
                gridBlocks,
                blockThreads,
                stopwatch.stream(),
                Pointer.to(parameter.duplicate().rewind()));
    }

    private void clearBlocks() {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, blocks.address());
        KernelBench.check("cuMemsetD8", JCudaDriver.cuMemsetD8(pointer, (byte) 0, blocks.sizeBytes()));
    }

    private static double median(final List<Times> times, final ToDoubleFunction<Times> time) {
        final double[] sorted = times.stream().mapToDouble(time).sorted().toArray();
        final int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
