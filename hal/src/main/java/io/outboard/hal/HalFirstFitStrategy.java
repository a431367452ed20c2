package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is first fit with all metadata in host memory: it takes the free block at the lowest address in which
 * a request fits.
 *
 * <p>Bell, Kumar and Gill (2024), sections III-A and IV, algorithms 1 and 2. Free blocks are in one hybrid array list,
 * sorted by address, and blocks in use in another:
 *
 * <ol>
 *   <li><b>allocate</b> goes over the free blocks from the lowest address, skipping chunks of the list that hold none
 *       so large, cuts the front off the first that fits, and enters it into the list of blocks in use.
 *   <li><b>free</b> takes the block out of that list and puts it into the list of free ones, merged in place with the
 *       neighbours that it touches.
 * </ol>
 *
 * <p>With an alignment, a block fits if the aligned range does; what is in front of it stays free.
 *
 * <p>The pseudo-code needs mending: {@code docs/errata.md}, algorithms 1 and 2, says where. Chunks of the list are
 * merged when neighbours hold few entries, and have an upper bound of sizes, to skip them.
 *
 * <p>Thread-safety: confined to one thread. Cost: with n blocks in chunks of m = 512, O(n/m + m) for finding, entering
 * and removing a block; O(n) worst for choosing a free one, O(n/m + m) if the bounds of the chunks are exact. Some 22
 * bytes of host memory for each block that the tables can hold, free or in use. When nothing fits, the strategy returns
 * {@link #NO_SPACE}.
 */
public final class HalFirstFitStrategy extends HalStrategy {

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public HalFirstFitStrategy(final Region region, final StrategyOptions options) {
        super(region, options);
    }

    @Override
    int choose(final int size, final long alignmentMask) {
        return firstThatHolds(free.first(), size, alignmentMask);
    }
}
