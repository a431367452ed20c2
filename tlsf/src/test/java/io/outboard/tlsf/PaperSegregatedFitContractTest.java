package io.outboard.tlsf;

import io.outboard.core.HandleStrategy;
import io.outboard.core.HandleStrategyContractTest;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

class PaperSegregatedFitContractTest extends HandleStrategyContractTest {

    @Override
    protected HandleStrategy create(final Region region, final StrategyOptions options) {
        return new PaperSegregatedFitStrategy(region, options);
    }

    @Override
    protected boolean searches() {
        return false;
    }
}
