package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;
import net.jqwik.api.lifecycle.AfterContainer;
import org.jspecify.annotations.Nullable;

class BitmaskModelProperties extends StrategyModelProperties {

    /** Half a gigabyte for 2^32 boundaries, so one for all tries; what a try leaves there makes the next one harder. */
    private static @Nullable BoundaryBitmap huge;

    @AfterContainer
    static void dropHuge() {
        huge = null;
    }

    @Override
    protected Strategy create(final Region region, final StrategyOptions options) {
        return new BitmaskStrategy(region, options, BitmaskModelProperties::cleared);
    }

    @Override
    protected long blockBytes(final long sizeBytes, final long granuleBytes) {
        return Math.max(2 * granuleBytes, super.blockBytes(sizeBytes, granuleBytes));
    }

    private static BoundaryBitmap cleared(final long length) {
        if (length < 1L << 32) {
            return new BoundaryBitmap(length);
        }
        BoundaryBitmap bitmap = huge;
        if (bitmap == null) {
            bitmap = new BoundaryBitmap(length);
            huge = bitmap;
        }
        bitmap.clearRange(0, length);
        return bitmap;
    }
}
