package io.outboard.bench.cli.isolated;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;

/**
 * This class measures how much host memory a live block costs when the strategy's tables are full. A strategy with
 * default options fills a region of 64 GiB with its smallest blocks, until its tables are full. If a strategy has no
 * limit of blocks, filling stops at the number of blocks that tables hold by default.
 */
final class FullTable {

    private static final long REGION_BYTES = 64L << 30;

    private FullTable() {}

    /** Returns host bytes for each live block. */
    static double hostBytesPerBlock(final StrategyProvider provider) {
        final StrategyOptions options = StrategyOptions.DEFAULTS;
        final Strategy strategy = provider.create(VirtualMemorySource.region(REGION_BYTES), options);
        fill(strategy, options.maxBlocks());
        return (double) strategy.hostBytes() / strategy.liveBlocks();
    }

    @SuppressWarnings("EmptyCatch") // the aim is to fill the tables
    private static void fill(final Strategy strategy, final int blocks) {
        try {
            while (strategy.liveBlocks() < blocks && strategy.allocate(1) != Strategy.NO_SPACE) {}
        } catch (final BlockTableFullException full) {
        }
    }
}
