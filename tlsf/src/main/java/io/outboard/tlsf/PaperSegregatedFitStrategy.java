package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is {@link SegregatedFitStrategy} by the very policy of Bell, Kumar and Gill (2024), section V-A, to
 * show what that policy costs: about half of the memory that it takes isn't in use, the paper's "roughly 50%
 * fragmentation ratio" (section VI, figure 4).
 *
 * <ol>
 *   <li><b>allocate</b> takes the first block of the first list in which every block fits. The request's own list isn't
 *       looked at, even if its blocks fit: with sizes from 2^m to 2^(m+1) - 1 in list m, a request that is no power of
 *       two takes a block of list m + 1 or above, or none.
 *   <li><b>free</b> puts the block first in the list of its size, together with its free neighbours, wherever these
 *       were.
 * </ol>
 *
 * <p>Where we deviate: from what doesn't work in the paper's pseudo-code, see docs/errata.md. An aligned request, which
 * the paper doesn't have, takes the first block of a list if the aligned range fits there, and else only a block with
 * room for the worst padding.
 *
 * <p>Thread-safety, cost, garbage and errors are those of {@link SegregatedFitStrategy}, but there is no search. A
 * request is refused unless a free block has the size rounded up to a power of two; so a region that is no power of two
 * can't be had as one block.
 */
public final class PaperSegregatedFitStrategy extends SegregatedStrategy {

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public PaperSegregatedFitStrategy(final Region region, final StrategyOptions options) {
        super(region, options, new SureLists(options));
    }
}
