package io.outboard.tlsf;

import io.outboard.core.HandleStrategy;
import io.outboard.core.HandleStrategyContractTest;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

class TlsfContractTest extends HandleStrategyContractTest {

    @Override
    protected HandleStrategy create(final Region region, final StrategyOptions options) {
        return new TlsfStrategy(region, options);
    }
}
