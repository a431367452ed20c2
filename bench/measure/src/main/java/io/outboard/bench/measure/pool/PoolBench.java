package io.outboard.bench.measure.pool;

import io.outboard.bench.cli.common.Isolation;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.measurement.Measurement;
import io.outboard.bench.cli.trace.Trace;

/**
 * A bench measures a pool with one strategy on one trace. The interface is the border between a command's classes and
 * those that every measurement loads for itself, see {@link io.outboard.bench.cli.common.Isolation}. Only types of the
 * JDK, of this package and of the trace's package cross it.
 *
 * <p>Thread-safety: confined to one thread. A failure is a {@link RuntimeException} whose message says what failed.
 * Each object makes one measurement, so that no measurement profits from what the compiler learned in another.
 */
public interface PoolBench {

    /**
     * Loads the classes of a strategy and of the pool, separately from all others, and makes a bench from them.
     *
     * @param strategy name of one that exists
     * @param trace what to measure it on
     * @param maxBlocks how many blocks its tables hold
     * @return what measures it
     */
    static PoolBench open(final String strategy, final Trace trace, final int maxBlocks) {
        return Isolation.open(
                PoolBench.class,
                "io.outboard.bench.measure.pool.isolated.IsolatedPoolBench",
                strategy,
                trace,
                maxBlocks);
    }

    /** The seconds that {@link #operationsASecond} takes: one to warm up, and five rounds of half a second. */
    double RATE_SECONDS = 3.5;

    /**
     * Measures a pool that grows as it does by default, or one with a single region.
     *
     * @param reusePolicy name of the {@link io.outboard.pool.ReusePolicy}
     * @param regionBytes size of the region; 0 for growth
     * @param device number of the GPU that has the region, or {@code none}: then all work counts as finished
     * @param progress hears of each pass, and of {@link io.outboard.bench.cli.measurement.Passes#operations}
     * @return the results
     */
    Measurement measurePool(String reusePolicy, long regionBytes, String device, Progress progress);

    /**
     * Measures a facade: the runtime's {@code cudaMalloc} and {@code cudaFree}, or, for {@code STREAM_ORDERED}, the
     * driver's {@code cuMemAllocAsync} and {@code cuMemFreeAsync} on one stream. Its pool grows as it does by default.
     *
     * @param reusePolicy name of the {@link io.outboard.pool.ReusePolicy}
     * @param device number of the GPU
     * @param progress hears of each pass, and of {@link io.outboard.bench.cli.measurement.Passes#operations}
     * @return the results
     */
    Measurement measureFacade(String reusePolicy, int device, Progress progress);

    /**
     * Measures the throughput of several threads on one pool; each repeats the trace on its own. No device is used, so
     * all work counts as finished. The pool grows as it does by default.
     *
     * @param reusePolicy name of the {@link io.outboard.pool.ReusePolicy}
     * @param threads how many, {@code 0 < threads}
     * @return operations a second of all threads together, the median of several runs
     * @throws InterruptedException if the calling thread is interrupted
     */
    double operationsASecond(String reusePolicy, int threads) throws InterruptedException;
}
