package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;

class HalBestFitModelProperties extends StrategyModelProperties {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return new HalBestFitStrategy(region, options);
    }
}
