package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** Makes {@link HalBestFitStrategy} under the name {@code hal-best-fit}. Safe for any number of threads. */
public final class HalBestFitProvider implements StrategyProvider {

    /** For {@link java.util.ServiceLoader}. */
    public HalBestFitProvider() {}

    @Override
    public String name() {
        return "hal-best-fit";
    }

    @Override
    public String description() {
        return "the smallest free block, in a hybrid array list: O(n/512) as a rule; Bell et al. 2024, III-A, IV";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new HalBestFitStrategy(region, options);
    }
}
