package io.outboard.bench.cli.isolated;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;

/**
 * What a live block costs in host memory when there are as many as can be: a strategy with default options over a
 * region of 64 GiB, filled with the smallest blocks that it makes until its tables are full; where nothing limits
 * blocks, until there are as many as tables would hold.
 */
final class FullTable {

    private static final long REGION_BYTES = 64L << 30;

    private FullTable() {}

    /** Bytes a live block. */
    static double hostBytesPerBlock(final StrategyProvider provider) {
        final StrategyOptions options = StrategyOptions.DEFAULTS;
        final Strategy strategy = provider.create(VirtualMemorySource.region(REGION_BYTES), options);
        fill(strategy, options.maxBlocks());
        return (double) strategy.hostBytes() / strategy.liveBlocks();
    }

    @SuppressWarnings("EmptyCatch") // full tables are what this is for
    private static void fill(final Strategy strategy, final int blocks) {
        try {
            while (strategy.liveBlocks() < blocks && strategy.allocate(1) != Strategy.NO_SPACE) {}
        } catch (final BlockTableFullException full) {
        }
    }
}
