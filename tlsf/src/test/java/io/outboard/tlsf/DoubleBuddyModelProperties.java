package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;

class DoubleBuddyModelProperties extends StrategyModelProperties {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
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
