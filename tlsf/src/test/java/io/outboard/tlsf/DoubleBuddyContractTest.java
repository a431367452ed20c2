package io.outboard.tlsf;

import io.outboard.core.HandleStrategy;
import io.outboard.core.HandleStrategyContractTest;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

class DoubleBuddyContractTest extends HandleStrategyContractTest {

    @Override
    protected HandleStrategy create(final Region region, final StrategyOptions options) {
        return new DoubleBuddyStrategy(region, options);
    }

    @Override
    protected long blockBytes(final long sizeBytes, final long granuleBytes) {
        return BuddySizes.ofTwoSystems(sizeBytes, granuleBytes);
    }

    @Override
    protected boolean coalesces() {
        return false;
    }

    @Override
    protected boolean mayTakeLarger() {
        return true;
    }
}
