package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyContractTest;
import io.outboard.core.StrategyOptions;

class PlannedContractTest extends StrategyContractTest {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return PlannedFixture.planned(region, options);
    }

    @Override
    protected long sharedHostBytes() {
        return PlannedFixture.PLAN_BYTES;
    }

    @Override
    protected boolean hasHandles() {
        return true;
    }
}
