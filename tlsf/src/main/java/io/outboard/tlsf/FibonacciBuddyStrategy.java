package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is the Fibonacci buddy system with all metadata in host memory: blocks of 1, 2, 3, 5, 8, .. granules,
 * each of which splits into the two Fibonacci numbers that it is the sum of, the larger one on the left. Classes are
 * 1.6 times apart rather than 2, so less is lost to rounding up than with {@link BinaryBuddyStrategy}.
 *
 * <p>Hirschberg (1973), "A class of dynamic memory allocation algorithms"; Bell, Kumar and Gill (2024), section II-C,
 * for the device. A request takes the smallest non-empty class that suffices, the block freed last, and splits it,
 * going on with the smaller part if that suffices, down to the request's own class. A free block merges with its buddy
 * as long as the buddy is free and whole.
 *
 * <p>Where we deviate: classic buddies carry their links and tags in the memory that is managed; ours have records in a
 * block table. A region is any number of granules: a row of trees, the largest first, so no request can have more than
 * the largest Fibonacci number in the region. The way down from the root tells which buddy a block is, so that records
 * need no field for that, such as the left buddy count of Hinds (1975). To go on with the smaller part is our choice:
 * on some of the random profiles it serves a trace in a region smaller by a twentieth of peak live bytes, on the others
 * it makes no difference (2026-11-20).
 *
 * <p>Thread-safety: confined to one thread. Cost: O(log(region / granule)) splits, merges and steps from the root at
 * worst, 46 of each; O(1) expected for finding a block by address. Some 37 to 74 bytes of host memory for each block
 * that the tables can hold, free or in use. Up to two fifths of each block are lost to rounding up, a fifth if sizes
 * are spread evenly. An aligned request looks at up to 64 free blocks and aligned offsets in them, but few blocks start
 * at aligned addresses, so it may fail though space is plenty: this is no strategy for alignments far above the
 * granule. When nothing fits, the strategy returns {@link #NO_SPACE}.
 */
public final class FibonacciBuddyStrategy extends BuddyStrategy {

    static final BuddyClasses CLASSES = new BuddyClasses(1, 2);

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds, or the table hasn't room for its roots
     */
    public FibonacciBuddyStrategy(final Region region, final StrategyOptions options) {
        super(region, options, CLASSES);
    }
}
