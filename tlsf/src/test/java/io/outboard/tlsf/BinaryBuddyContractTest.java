package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyContractTest;
import io.outboard.core.StrategyOptions;

class BinaryBuddyContractTest extends StrategyContractTest {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return new BinaryBuddyStrategy(region, options);
    }

    @Override
    protected long blockBytes(final long sizeBytes, final long granuleBytes) {
        return BuddySizes.binary(sizeBytes, granuleBytes);
    }

    @Override
    protected boolean coalesces() {
        return false;
    }

    @Override
    protected boolean hasHandles() {
        return true;
    }
}
