package io.outboard.bench.kernels;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.Counters.Counts;
import io.outboard.bench.kernels.KernelLauncher.Word;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.bench.kernels.worker.Stopwatch;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.DeviceHeapStatistics;
import io.outboard.cuda.kernels.KernelModule;
import java.time.Duration;

/**
 * The run does {@link TestKind#CHURN} on the device: kernels allocate and free blocks of all sizes at once for a number
 * of seconds, and every block is filled, and compared before it is freed. For a quarter of the time each, the heap is
 * kept half full, 95 % full, a fifth full, and 95 % full again; then all is freed. Confined to one thread.
 */
final class ChurnRun {

    /** The share of the memory for chunks up to which no request for 64 KiB or less may fail. */
    static final double LIMIT = 0.95;

    /** How full the heap is kept, each value for the same time. */
    private static final double[] AIMS = {0.5, LIMIT, 0.2, LIMIT};

    /** The time that a launch should stay below, so that a hang can be told from a launch that takes long. */
    private static final long LONG_NS = Duration.ofMillis(10).toNanos();

    private static final int MOST_STEPS = 1024;

    private final KernelCase work;
    private final KernelLauncher launcher;
    private final Region blocks;
    private final long heapMemory;
    private final Counters counters;

    ChurnRun(
            final KernelCase work,
            final KernelModule module,
            final long heapMemory,
            final Region blocks,
            final Stopwatch stopwatch,
            final Counters counters) {
        this.work = work;
        this.blocks = blocks;
        this.heapMemory = heapMemory;
        this.counters = counters;
        launcher =
                new KernelLauncher(module, stopwatch).of(work, blocks, counters).set(Word.PLACES, work.places());
    }

    JsonLine measure() {
        counters.clear();
        BenchDevice.clear(blocks);
        try (BenchHeap heap = new BenchHeap(work, heapMemory, false)) {
            launcher.heap(heap);
            final long capacity = statistics(heap).capacityBytes();
            final long largest = largestServed(capacity / 2);
            final long servedBefore = counters.read().get(Counters.Key.LARGEST);
            final JsonLine json = work.json().put("status", "ok").put("seconds", (long) work.iterations());
            churn(capacity, json);
            final DeviceHeapStatistics full = statistics(heap);
            launcher.launch("drain", 1);
            launcher.synchronize();
            final DeviceHeapStatistics empty = statistics(heap);
            launcher.launch("largest", largest);
            launcher.synchronize();
            final Counts counts = counters.read();
            counts.addTo(json, "");
            return json.put("operations", counts.get(Counters.Key.OPERATIONS))
                    .put("falseNulls", counts.get(Counters.Key.FALSE_NULLS))
                    .put("otherNulls", counts.get(Counters.Key.OTHER_NULLS))
                    .put("peak", (double) counts.get(Counters.Key.PEAK) / capacity, 4)
                    .put("fullExternalFragmentation", full.externalFragmentation(), 4)
                    .put("externalFragmentation", empty.externalFragmentation(), 4)
                    .put("externalFragmentationOfChunks", empty.externalFragmentationOfChunks(), 4)
                    .put("leakedChunks", empty.usedChunks())
                    .put("misuses", empty.misuses())
                    .put("largestBytes", largest)
                    .put("largestServed", String.valueOf(counts.get(Counters.Key.LARGEST) > servedBefore));
        }
    }

    /** Launches kernels until the time is over, each with about as many steps as fit into the time of a launch. */
    private void churn(final long capacity, final JsonLine json) {
        launcher.set(Word.LIMIT, (long) (LIMIT * capacity));
        final long start = System.nanoTime();
        final long duration = Duration.ofSeconds(work.iterations()).toNanos();
        long launches = 0;
        long slowest = 0;
        long done = 0;
        int steps = 1;
        long now = start;
        while (now - start < duration) {
            final double aim = AIMS[(int) ((now - start) * AIMS.length / duration)];
            launcher.set(Word.STEPS, steps).set(Word.AIM, (long) (aim * capacity));
            launcher.launch("churn", done);
            launcher.synchronize();
            final long took = System.nanoTime() - now;
            now += took;
            done += steps;
            launches++;
            slowest = Math.max(slowest, took);
            steps = nextSteps(steps, took);
        }
        json.put("launches", launches)
                .put("slowestLaunchMs", slowest / (double) Duration.ofMillis(1).toNanos(), 2);
    }

    /** Returns the number of steps of the next launch, after one that took {@code tookNs}. */
    static int nextSteps(final int steps, final long tookNs) {
        if (tookNs > LONG_NS) {
            return Math.max(1, steps / 2);
        }
        return tookNs < LONG_NS / 4 ? Math.min(MOST_STEPS, steps * 2) : steps;
    }

    /**
     * Returns the largest size that the heap serves, out of {@code mostBytes}, its half, its quarter and so on; 0 if it
     * serves none.
     */
    private long largestServed(final long mostBytes) {
        for (long bytes = mostBytes; bytes > 0; bytes /= 2) {
            final long before = counters.read().get(Counters.Key.LARGEST);
            launcher.launch("largest", bytes);
            launcher.synchronize();
            if (counters.read().get(Counters.Key.LARGEST) > before) {
                return bytes;
            }
        }
        return 0;
    }

    private static DeviceHeapStatistics statistics(final BenchHeap heap) {
        return heap.statistics().orElseThrow(() -> new IllegalStateException("a heap must have chunks to be churned"));
    }
}
