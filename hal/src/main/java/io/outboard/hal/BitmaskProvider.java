package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** Makes {@link BitmaskStrategy} under the name {@code bitmask}. Safe for any number of threads. */
public final class BitmaskProvider implements StrategyProvider {

    /** For {@link java.util.ServiceLoader}. */
    public BitmaskProvider() {}

    @Override
    public String name() {
        return "bitmask";
    }

    @Override
    public String description() {
        return "one bit a granule, next fit over summaries: free in O(size / 64); Bell et al. 2024, III-B";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new BitmaskStrategy(region, options);
    }

    @Override
    public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
        final long leastBytes = BitmaskStrategy.SMALLEST_BLOCK * options.granuleBytes();
        return StrategyProvider.super.regionBytesFor(Math.max(sizeBytes, leastBytes), alignmentBytes, options);
    }
}
