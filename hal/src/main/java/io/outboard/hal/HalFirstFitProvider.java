package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** Makes {@link HalFirstFitStrategy} under the name {@code hal-first-fit}. Safe for any number of threads. */
public final class HalFirstFitProvider implements StrategyProvider {

    /** For {@link java.util.ServiceLoader}. */
    public HalFirstFitProvider() {}

    @Override
    public String name() {
        return "hal-first-fit";
    }

    @Override
    public String description() {
        return "the free block at the lowest address, in a hybrid array list: O(n/512) as a rule; Bell et al. 2024, III-A, IV";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new HalFirstFitStrategy(region, options);
    }
}
