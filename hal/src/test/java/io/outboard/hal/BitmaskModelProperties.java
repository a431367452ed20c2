package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;

class BitmaskModelProperties extends StrategyModelProperties {

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return new BitmaskStrategy(region, options);
    }

    @Override
    protected long blockBytes(final long sizeBytes, final long granuleBytes) {
        return Math.max(2 * granuleBytes, super.blockBytes(sizeBytes, granuleBytes));
    }
}
