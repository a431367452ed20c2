package io.outboard.pool.internal.arena;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/**
 * Makes strategies for chunks.
 *
 * <p>Public for the pool's other packages, not for applications.
 *
 * @param provider of the pool's strategy
 * @param options those of a region
 */
public record ChunkStrategies(StrategyProvider provider, StrategyOptions options) {

    /** As many as the smallest block table has room for with TLSF's lists: 16 KiB. */
    private static final int FIRST_BLOCKS = 208;

    long granuleBytes() {
        return options.granuleBytes();
    }

    /** Its tables hold as many blocks as it has granules, but not from the first. */
    Strategy strategyFor(final Region chunk) {
        final int mostBlocks = (int) Math.max(2, chunk.sizeBytes() / granuleBytes());
        return provider.create(chunk, options.withMaxBlocks(mostBlocks).growing(Math.min(FIRST_BLOCKS, mostBlocks)));
    }
}
