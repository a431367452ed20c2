package io.outboard.core;

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
