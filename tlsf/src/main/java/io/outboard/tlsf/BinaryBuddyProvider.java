package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** Makes {@link BinaryBuddyStrategy} under the name {@code buddy-binary}. Safe for any number of threads. */
public final class BinaryBuddyProvider implements StrategyProvider {

    /** For {@link java.util.ServiceLoader}. */
    public BinaryBuddyProvider() {}

    @Override
    public String name() {
        return "buddy-binary";
    }

    @Override
    public String description() {
        return "buddies of power-of-two sizes: allocate and free in O(log region); Knowlton 1965, Bell et al. 2024, II-C";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new BinaryBuddyStrategy(region, options);
    }

    @Override
    public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
        final long leastBytes = StrategyProvider.super.regionBytesFor(sizeBytes, alignmentBytes, options);
        return BinaryBuddyStrategy.CLASSES.regionBytesFor(leastBytes, options.granuleBytes());
    }
}
