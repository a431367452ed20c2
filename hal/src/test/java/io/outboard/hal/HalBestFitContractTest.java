package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyContractTest;
import io.outboard.core.StrategyOptions;

class HalBestFitContractTest extends StrategyContractTest {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return new HalBestFitStrategy(region, options);
    }
}
