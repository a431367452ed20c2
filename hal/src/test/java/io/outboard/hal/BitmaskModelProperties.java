package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModelProperties;
import io.outboard.core.StrategyOptions;
import net.jqwik.api.lifecycle.AfterContainer;
import org.jspecify.annotations.Nullable;

class BitmaskModelProperties extends StrategyModelProperties {

    /** The length of the bitmap that has a bit for each pair of boundaries of the largest region. */
    private static final long HUGE = (1L << 31) - 1;

    /**
     * The bitmap of 2^32 boundaries has half a gigabyte, so all tries share it. Bits that a try leaves there make the
     * next try harder.
     */
    private static @Nullable BoundaryBitmap huge;

    /** The bitmap of retired blocks, which all tries share, too. */
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
