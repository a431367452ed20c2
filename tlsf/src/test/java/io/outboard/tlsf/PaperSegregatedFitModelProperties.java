package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;

class PaperSegregatedFitModelProperties extends StrategyModelProperties {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return new PaperSegregatedFitStrategy(region, options);
    }

    @Override
    protected boolean searches() {
        return false;
    }
}
