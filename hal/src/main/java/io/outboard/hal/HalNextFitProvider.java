package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** Makes {@link HalNextFitStrategy} under the name {@code hal-next-fit}. Safe for any number of threads. */
public final class HalNextFitProvider implements StrategyProvider {

    /** For {@link java.util.ServiceLoader}. */
    public HalNextFitProvider() {}

    @Override
    public String name() {
        return "hal-next-fit";
    }

    @Override
    public String description() {
        return "the free block after the last one taken, in a hybrid array list: O(n/512) as a rule; Bell et al. 2024, III-A, IV";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new HalNextFitStrategy(region, options);
    }
}
