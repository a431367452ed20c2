package io.outboard.bench.measure.pool;

import io.outboard.bench.cli.common.Isolation;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.measurement.Measurement;
import io.outboard.bench.cli.trace.Trace;

/**
 * A pool over one strategy on one trace, as a measuring command sees it: the border between its classes and those that
 * every measurement has for itself, see {@link io.outboard.bench.cli.common.Isolation}. What crosses is the JDK's, this
 * package's or the trace's package's own.
 *
 * <p>Thread-safety: confined to one thread. Failures are a {@link RuntimeException} whose message says what failed. One
 * measurement an object, so that none sees what the compiler learned from another.
 */
public interface PoolBench {

    /**
     * Loads a strategy's and a pool's classes, their own and none of another's, and makes what measures the pool.
     *
     * @param strategy name of one that exists
     * @param trace what to measure it on
     * @param maxBlocks how many blocks its tables are to hold
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

    /** What {@link #operationsASecond} takes: a second to warm up, and five rounds of half a second. */
    double RATE_SECONDS = 3.5;

    /**
     * Measures a pool that grows as it does by default, or one of a single region.
     *
     * @param reusePolicy name of the {@link io.outboard.pool.ReusePolicy}
     * @param regionBytes size of the region; 0 for growth
     * @param device number of the GPU that the region is to lie on, or {@code none}: then all work has always finished
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
     * Measures what several threads get of one pool, each of which does the trace on its own, over and over. No device
     * is used: all work has always finished. The pool grows as it does by default.
     *
     * @param reusePolicy name of the {@link io.outboard.pool.ReusePolicy}
     * @param threads how many, {@code 0 < threads}
     * @return operations a second of all threads together, the median of several runs
     * @throws InterruptedException if the calling thread is interrupted
     */
    double operationsASecond(String reusePolicy, int threads) throws InterruptedException;
}
