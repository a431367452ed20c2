package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/**
 * Makes {@link PooledStrategy} over {@code tlsf} under the name {@code pooled}. Safe for any number of threads.
 *
 * <p>This module has no {@code tlsf} of its own: {@link #create} finds it on the class path.
 */
public final class PooledProvider implements StrategyProvider {

    private static final String BACKING = "tlsf";

    /** For {@link java.util.ServiceLoader}. */
    public PooledProvider() {}

    @Override
    public String name() {
        return "pooled";
    }

    @Override
    public String description() {
        return "object pools for sizes up to a page, " + BACKING
                + " for the rest: allocate and free in O(1); Bell et al. 2024, V-C";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new PooledStrategy(backing().create(region, options));
    }

    @Override
    public boolean canRetireFree() {
        return backing().canRetireFree();
    }

    @Override
    public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
        return backing().regionBytesFor(sizeBytes, alignmentBytes, options);
    }

    private StrategyProvider backing() {
        try {
            return Strategies.named(BACKING);
        } catch (final IllegalArgumentException missing) {
            throw new IllegalArgumentException(
                    "strategy=" + name() + " must have " + BACKING + " beside it on the class path", missing);
        }
    }
}
