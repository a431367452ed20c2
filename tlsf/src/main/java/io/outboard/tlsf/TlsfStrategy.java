package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is two-level segregated fit with all metadata in host memory, found through a hash table.
 *
 * <p>Bell, Kumar and Gill (2024), section V-B, on Masmano, Ripoll, Crespo and Real (2004). Free blocks are in lists by
 * size; two bitmaps find the first list in which every block fits:
 *
 * <ol>
 *   <li><b>allocate</b> takes the first block of that list, cuts it to size, and puts the rest into the list of its
 *       size.
 *   <li><b>free</b> finds the block's record by address, merges it with free neighbours on both sides, and puts it
 *       into the list of its size: first if it starts in the <em>lower half</em>, the first granules of the region,
 *       half as many as are in use, and else last. But a free block before it takes it in, and keeps its own place
 *       where its list holds the new size, too.
 * </ol>
 *
 * <p>Where we deviate: from Bell et al. as {@link SegregatedFitStrategy} does; from Masmano et al. in three ways, all
 * for less fragmentation. A block that isn't in the lower half is put last in its list, rather than first: low blocks
 * are divided first, and the others have time to merge. The first block of the request's own list, in which only some
 * blocks fit, is taken if that one does, rather than a block of the list that guarantees a fit; and a free block that
 * grows keeps its place in its list, rather than being the first to be divided again. With these three, the smallest
 * region that serves a load, and the highest address in use in a large one, are about best fit's. When no list
 * guarantees a fit, the request's own list is searched for up to 64 steps before the answer is {@link #NO_SPACE}; a
 * block can then be left unused though it fits, but only behind 64 that don't.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1), with no loop over blocks but that bounded one, for what is done
 * to a block; O(1) expected for finding it by address, as hash tables are. Some 37 to 74 bytes of host memory for each
 * block that the tables can hold, free or in use. Internal fragmentation is what rounding up to a granule costs. When
 * nothing fits, the strategy returns {@link #NO_SPACE}.
 */
public final class TlsfStrategy extends SegregatedStrategy {

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public TlsfStrategy(final Region region, final StrategyOptions options) {
        super(region, options, new TwoLevelLists(options));
    }
}
