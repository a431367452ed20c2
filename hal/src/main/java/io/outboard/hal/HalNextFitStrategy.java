package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is next fit with all metadata in host memory: as {@link HalFirstFitStrategy}, but a search goes on
 * where the last one ended.
 *
 * <p>Bell, Kumar and Gill (2024), sections III-A and IV, algorithms 1 and 2. A search starts at the first free block
 * that ends after the end of the block allocated last, and takes the first that fits; after the highest address it goes
 * on at the lowest.
 *
 * <p>The position that a search resumes from is an offset, not an iterator as in the paper: it stays good when entries
 * move, or when the block that it is in front of merges. For the rest see {@code docs/errata.md}.
 *
 * <p>Thread-safety: confined to one thread. Cost: as {@link HalFirstFitStrategy}, but few blocks are looked at for one
 * that fits, at the price of more fragmentation. Some 22 bytes of host memory for each block that the tables can hold.
 * When nothing fits, the strategy returns {@link #NO_SPACE}.
 */
public final class HalNextFitStrategy extends HalStrategy {

    /** The end of the block allocated last, in granules from the start of the region. */
    private int rover;

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public HalNextFitStrategy(final Region region, final StrategyOptions options) {
        super(region, options);
    }

    @Override
    protected long placeAligned(final long size, final long alignmentMask) {
        final long start = super.placeAligned(size, alignmentMask);
        if (start != NO_SPACE) {
            rover = (int) (start + size);
        }
        return start;
    }

    @Override
    int choose(final int size, final long alignmentMask) {
        if (liveBlocks() == 0) {
            // A new strategy begins here, too.
            rover = 0;
        }
        final int atRover = free.search(rover);
        final boolean endsAfter =
                atRover != NONE && start(free, atRover) + size(free, atRover) > Integer.toUnsignedLong(rover);
        final int block = firstThatHolds(endsAfter ? atRover : free.next(atRover), size, alignmentMask);
        return block == NONE ? firstThatHolds(free.first(), size, alignmentMask) : block;
    }
}
