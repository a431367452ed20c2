package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is the double buddy system with all metadata in host memory: two systems of binary buddies, one with
 * blocks of 1, 2, 4, 8, .. granules and one with blocks of 3, 6, 12, .. granules, so that classes are 1.3 or 1.5 times
 * apart.
 *
 * <p>Wise (1978), "The double buddy-system"; Bell, Kumar and Gill (2024), section II-C, for the device. Each system has
 * half of the region. A request takes a block of the smallest class that suffices, of whichever system, as {@link
 * BinaryBuddyStrategy} does. Where that system has no room, it takes the next class, which the other system has.
 *
 * <p>Where we deviate: classic buddies have their links and tags in the memory that is managed; ours have records in a
 * block table. Wise moves the boundary between the two halves into free memory where it lies; ours stays. Blocks of 3
 * granules split into 2 and 1, so that each granule can be had. A region of fewer than 16 granules is all of the first
 * system. No request can have more than about half of a larger region.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(log(region / granule)) splits, merges and steps from the root at
 * worst, 32 of each; O(1) expected for finding a block by address. Some 37 to 74 bytes of host memory for each block
 * that the tables can hold, free or in use. Up to a third of each block is lost to rounding up, a seventh if sizes are
 * spread evenly, and more where the other system serves. {@code trim} and {@code extend} stay within a block's system,
 * so a block may keep, or get, one class more than it need have. For aligned requests as {@link BinaryBuddyStrategy} in
 * one half, and as {@link FibonacciBuddyStrategy} in the other. When nothing fits, the strategy returns {@link
 * #NO_SPACE}.
 */
public final class DoubleBuddyStrategy extends BuddyStrategy {

    static final BuddyClasses CLASSES = new BuddyClasses(2, 2);

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds, or the table hasn't room for its roots
     */
    public DoubleBuddyStrategy(final Region region, final StrategyOptions options) {
        super(region, options, CLASSES);
    }
}
