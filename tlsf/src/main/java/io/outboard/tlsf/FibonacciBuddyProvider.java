package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** Makes {@link FibonacciBuddyStrategy} under the name {@code buddy-fibonacci}. Safe for any number of threads. */
public final class FibonacciBuddyProvider implements StrategyProvider {

    /** For {@link java.util.ServiceLoader}. */
    public FibonacciBuddyProvider() {}

    @Override
    public String name() {
        return "buddy-fibonacci";
    }

    @Override
    public String description() {
        return "buddies of Fibonacci sizes: allocate and free in O(log region); Hirschberg 1973, Bell et al. 2024, II-C";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new FibonacciBuddyStrategy(region, options);
    }

    @Override
    public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
        final long leastBytes = StrategyProvider.super.regionBytesFor(sizeBytes, alignmentBytes, options);
        return FibonacciBuddyStrategy.CLASSES.regionBytesFor(leastBytes, options.granuleBytes());
    }
}
