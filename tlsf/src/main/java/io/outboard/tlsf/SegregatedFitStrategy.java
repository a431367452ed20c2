package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is segregated fit with all metadata in host memory, found through a hash table: Bell, Kumar and Gill
 * (2024), section V-A, algorithms 4 and 5.
 *
 * <p>Free blocks are in lists by power of two; one bitmap finds the first list in which every block fits:
 *
 * <ol>
 *   <li><b>allocate</b> takes the first block of that list, cuts it to size, and puts the rest into the list of its
 *       size.
 *   <li><b>free</b> finds the block's record by address, merges it with free neighbours on both sides, and puts it
 *       first in the list of its size. But a free block before it takes it in, and keeps its own place where its list
 *       holds the new size, too.
 * </ol>
 *
 * <p>Where we deviate: docs/errata.md says what doesn't work in the paper's pseudo-code. Besides, the first block of
 * the request's own list, in which only some blocks fit, is taken if that one does; a free block that grows keeps its
 * place in its list; and when no list guarantees a fit, the request's own list is searched for up to 64 steps, as
 * {@link TlsfStrategy} does. {@link PaperSegregatedFitStrategy} does none of the three.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1), with no loop over blocks but that bounded one, for what is done
 * to a block; O(1) expected for finding it by address, as hash tables are. Some 37 to 74 bytes of host memory for each
 * block that the tables can hold, free or in use. A block taken may be nearly four times as large as it need be, and
 * what is cut off ends up in smaller lists: on our loads, up to a third of the region was lost to external
 * fragmentation (bench/results/strategies). When nothing fits, the strategy returns {@link #NO_SPACE}.
 */
public final class SegregatedFitStrategy extends SegregatedStrategy {

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public SegregatedFitStrategy(final Region region, final StrategyOptions options) {
        super(region, options, new PowerOfTwoLists(options));
    }
}
