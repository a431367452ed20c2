package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;
import net.jqwik.api.lifecycle.AfterContainer;
import org.jspecify.annotations.Nullable;

class BitmaskModelProperties extends StrategyModelProperties {

    /** So many bits are one for each pair of boundaries of the largest region. */
    private static final long HUGE = (1L << 31) - 1;

    /** Half a gigabyte for 2^32 boundaries, so one for all tries; what a try leaves there makes the next one harder. */
    private static @Nullable BoundaryBitmap huge;

    /** The same for what is retired. */
    private static @Nullable BoundaryBitmap hugeHalf;

    @AfterContainer
    static void dropHuge() {
        huge = null;
        hugeHalf = null;
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
        if (length < HUGE) {
            return new BoundaryBitmap(length);
        }
        BoundaryBitmap bitmap = length == HUGE ? hugeHalf : huge;
        if (bitmap == null) {
            bitmap = new BoundaryBitmap(length);
        }
        if (length == HUGE) {
            hugeHalf = bitmap;
        } else {
            huge = bitmap;
        }
        bitmap.clearRange(0, length);
        return bitmap;
    }
}
