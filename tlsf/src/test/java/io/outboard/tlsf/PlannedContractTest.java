package io.outboard.tlsf;

import io.outboard.core.HandleStrategy;
import io.outboard.core.HandleStrategyContractTest;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

class PlannedContractTest extends HandleStrategyContractTest {

    @Override
    protected HandleStrategy create(final Region region, final StrategyOptions options) {
        return PlannedFixture.planned(region, options);
    }

    @Override
    protected long sharedHostBytes() {
        return PlannedFixture.PLAN_BYTES;
    }
}
