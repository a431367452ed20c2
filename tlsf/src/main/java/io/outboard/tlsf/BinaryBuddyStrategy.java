package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is the binary buddy system with all metadata in host memory: blocks of 1, 2, 4, 8, .. granules, each
 * of which splits into two equal halves, which merge with each other only.
 *
 * <p>Knowlton (1965), "A fast storage allocator"; Bell, Kumar and Gill (2024), section II-C, for the device. A request
 * takes the smallest non-empty class that suffices, the block freed last, and splits it, keeping the left half, down to
 * the request's own class. A free block merges with its buddy as long as the buddy is free and whole.
 *
 * <p>Where we deviate: classic buddies carry their links and a tag in the memory that is managed; ours have records in
 * a block table. A region is any number of granules: a row of trees, the largest first, so no request can have more
 * than the largest power of two in the region. The way down from the root tells which buddy a block is, rather than a
 * bit of the address, so that this code serves {@link FibonacciBuddyStrategy} too.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(log(region / granule)) splits, merges and steps from the root at
 * worst, 32 of each; O(1) expected for finding a block by address. Some 37 to 74 bytes of host memory for each block
 * that the tables can hold, free or in use. Up to half of each block is lost to rounding up, a quarter if sizes are
 * spread evenly. An aligned request looks at up to 64 free blocks and aligned offsets in them: in a region whose
 * address is a multiple of the alignment it seldom fails; in another, large aligned blocks may not exist at all. When
 * nothing fits, the strategy returns {@link #NO_SPACE}.
 */
public final class BinaryBuddyStrategy extends BuddyStrategy {

    static final BuddyClasses CLASSES = new BuddyClasses(1, 1);

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds, or the table hasn't room for its roots
     */
    public BinaryBuddyStrategy(final Region region, final StrategyOptions options) {
        super(region, options, CLASSES);
    }
}
