package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyContractTest;
import io.outboard.core.StrategyOptions;

class BitmaskContractTest extends StrategyContractTest {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return new BitmaskStrategy(region, options);
    }

    @Override
    protected boolean hasBlockLimit() {
        return false;
    }

    @Override
    protected int smallestBlockGranules() {
        return 2;
    }
}
