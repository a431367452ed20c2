package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;

class PlannedModelProperties extends StrategyModelProperties {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return PlannedFixture.planned(region, options);
    }
}
