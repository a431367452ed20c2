package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;

class FibonacciBuddyModelProperties extends StrategyModelProperties {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return new FibonacciBuddyStrategy(region, options);
    }

    @Override
    protected long blockBytes(final long sizeBytes, final long granuleBytes) {
        return BuddySizes.fibonacci(sizeBytes, granuleBytes);
    }

    @Override
    protected boolean coalesces() {
        return false;
    }
}
