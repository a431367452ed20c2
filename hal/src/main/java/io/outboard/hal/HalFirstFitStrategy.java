package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * First fit with all metadata in host memory: the free block at the lowest address in which a request fits.
 *
 * <p>Bell, Kumar and Gill (2024), sections III-A and IV, algorithms 1 and 2. Free blocks are in one hybrid array list,
 * sorted by address, and blocks in use in another:
 *
 * <ol>
 *   <li><b>allocate</b> goes over the free blocks from the lowest address, skipping chunks of the list that hold none so
 *       large, cuts the front off the first that fits, and enters it into the list of blocks in use.
 *   <li><b>free</b> takes the block out of that list and puts it into the list of free ones, merged in place with the
 *       neighbours that it touches.
 * </ol>
 *
 * <p>With an alignment, a block fits if the aligned range does; what is in front of it stays free.
 *
 * <p>Where we deviate from the paper's pseudo-code:
 *
 * <ul>
 *   <li>Algorithm 1 counts on the free list to have an entry. It has none once all memory is in use; nor do the lists
 *       always have an entry before or after the one inserted, which algorithms 1 and 2 read.
 *   <li>Algorithm 2 frees the tail of a block for any address inside of it, and corrupts the list for an address after
 *       its end, which it takes to be in it. Here free accepts nothing but the start of a block in use, and partial
 *       deallocation is {@link #trim}.
 *   <li>Algorithm 2 merges with the left neighbour if that ends after the block starts, too, which can't be; we compare
 *       for equality.
 *   <li>Algorithm 2, when the left neighbour touches, compares the right one's start by less-than with the block's end:
 *       so it never merges all three. And it wouldn't take the right one's entry out of the list. We do both.
 *   <li>When only the right neighbour touches, algorithm 2 moves its start by less-or-equal, which holds for nothing but
 *       equality, since blocks don't overlap. We test for equality, and move the first key of its chunk along.
 *   <li>Chunks of the list are merged when neighbours hold few entries, and have an upper bound of sizes, to skip them.
 * </ul>
 *
 * <p>Thread-safety: confined to one thread. Cost: with n blocks in chunks of m = 512, O(n/m + m) for finding, entering and
 * removing a block; O(n) worst for choosing a free one, O(n/m + m) if the bounds of the chunks are exact. Some 22 bytes
 * of host memory for each block that the tables can hold, free or in use. When nothing fits, {@link #NO_SPACE}.
 */
public final class HalFirstFitStrategy extends HalStrategy {

    /**
     * Makes one over a region, all of it free.
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
