package io.outboard.bench.strategy;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;

/**
 * What a live block costs in host memory when there are as many as can be: a strategy with default options over as many
 * granules as its tables hold blocks, filled with the smallest blocks that it makes.
 */
final class FullTable {

    private FullTable() {}

    /** Bytes a live block. */
    static double hostBytesPerBlock(final StrategyProvider provider) {
        final StrategyOptions options = StrategyOptions.DEFAULTS;
        final Strategy strategy =
                provider.create(VirtualMemorySource.region(options.maxBlocks() * options.granuleBytes()), options);
        fill(strategy);
        return (double) strategy.hostBytes() / strategy.liveBlocks();
    }

    /** Until there is no room, neither on the device nor in the tables. */
    @SuppressWarnings("EmptyCatch") // full tables are what this is for
    private static void fill(final Strategy strategy) {
        try {
            while (strategy.allocate(1) != Strategy.NO_SPACE) {}
        } catch (final BlockTableFullException full) {
        }
    }
}
