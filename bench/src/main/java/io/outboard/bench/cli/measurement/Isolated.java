package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Isolation;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.measure.pool.PoolBench;

/** What measures one strategy, or a pool over it, among classes of its own; see {@link Isolation}. */
public final class Isolated {

    private static final String STRATEGY_BENCH = "io.outboard.bench.cli.isolated.IsolatedBench";
    private static final String POOL_BENCH = "io.outboard.bench.measure.pool.isolated.IsolatedPoolBench";

    private Isolated() {}

    /**
     * Loads a strategy's classes and makes what measures it.
     *
     * @param strategy name of one that exists
     * @param trace what to measure it on
     * @param maxBlocks how many blocks its tables are to hold
     * @throws RuntimeException what the strategy's own classes threw
     */
    public static StrategyBench open(final String strategy, final Trace trace, final int maxBlocks) {
        return Isolation.open(StrategyBench.class, STRATEGY_BENCH, strategy, trace, maxBlocks);
    }

    /**
     * The same for a pool over a strategy.
     *
     * @param strategy name of one that exists
     * @param trace what to measure it on
     * @param maxBlocks how many blocks its tables are to hold
     */
    public static PoolBench openPool(final String strategy, final Trace trace, final int maxBlocks) {
        return Isolation.open(PoolBench.class, POOL_BENCH, strategy, trace, maxBlocks);
    }
}
