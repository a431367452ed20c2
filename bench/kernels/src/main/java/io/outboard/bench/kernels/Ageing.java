package io.outboard.bench.kernels;

import io.outboard.bench.kernels.KernelLauncher.Word;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.bench.kernels.worker.Stopwatch;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.KernelModule;
import java.time.Duration;

/**
 * The ageing of a heap means to use it until it is no longer fresh, and to leave it empty. Confined to one thread.
 *
 * <p>The recipe has {@value #LAUNCHES} launches of {@value #THREADS} threads, all of which allocate. In each launch a
 * thread acts with probability 0.75: it allocates if it holds nothing, and otherwise frees what it holds. Sizes are
 * from {@value #LEAST} bytes to 64 KiB, as many in each octave, so that half of them are below 512 bytes and the mean
 * is 7 KiB: some 70 MB are in use, and all launches together allocate 25 times the size of a heap of 2 GiB. Then all is
 * freed. For a slow allocator, launches end two seconds after the first began.
 */
final class Ageing {

    static final int LAUNCHES = 1000;
    static final int THREADS = 20_480;
    static final long LEAST = 4;
    static final long MOST = 64L << 10;

    /** The bytes of the pointers that threads hold, in device memory. */
    static final long BYTES = (long) THREADS * Long.BYTES;

    /** The number of launches between two checks of the clock. */
    private static final int BATCH = 10;

    private static final long LIMIT_NS = Duration.ofSeconds(2).toNanos();

    private final Region blocks;
    private final Stopwatch stopwatch;
    private final Counters counters;

    Ageing(final Region blocks, final Stopwatch stopwatch, final Counters counters) {
        this.blocks = blocks;
        this.stopwatch = stopwatch;
        this.counters = counters;
    }

    /**
     * Ages a heap. Requests that fail aren't counted.
     *
     * @return launches, {@value #LAUNCHES} at most
     */
    int age(final KernelModule module, final BenchHeap heap) {
        final KernelLauncher launcher = new KernelLauncher(module, stopwatch)
                .heap(heap)
                .set(Word.BLOCKS, blocks.address())
                .set(Word.COUNTERS, counters.address())
                .set(Word.THREADS, THREADS)
                .set(Word.STRIDE, 1)
                .set(Word.LEAST, LEAST)
                .set(Word.MOST, MOST);
        BenchDevice.clear(blocks);
        final long end = System.nanoTime() + LIMIT_NS;
        int launches = 0;
        while (launches < LAUNCHES && System.nanoTime() - end < 0) {
            for (int i = 0; i < BATCH; i++) {
                launcher.launch("age", launches++);
            }
            launcher.synchronize();
        }
        launcher.launch("release", 1);
        launcher.synchronize();
        return launches;
    }
}
