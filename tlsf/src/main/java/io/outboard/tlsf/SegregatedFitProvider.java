package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** Makes {@link SegregatedFitStrategy} under the name {@code segregated-fit}. Safe for any number of threads. */
public final class SegregatedFitProvider implements StrategyProvider {

    /** For {@link java.util.ServiceLoader}. */
    public SegregatedFitProvider() {}

    @Override
    public String name() {
        return "segregated-fit";
    }

    @Override
    public String description() {
        return "lists by power of two through a hash table: allocate and free in O(1); Bell et al. 2024, V-A";
    }

    @Override
    public boolean canRetireFree() {
        return true;
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new SegregatedFitStrategy(region, options);
    }
}
