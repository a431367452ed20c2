package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * Segregated fit with all metadata in host memory, found through a hash table: Bell, Kumar and Gill (2024), section V-A,
 * algorithms 4 and 5.
 *
 * <p>Free blocks are in lists by power of two; one bitmap finds the first list in which every block fits:
 *
 * <ol>
 *   <li><b>allocate</b> takes the first block of that list, cuts it to size, and puts the rest into the list of its size.
 *   <li><b>free</b> finds the block's record by address, merges it with free neighbours on both sides, and puts it first
 *       in the list of its size, unless it only makes the block before it larger: that keeps its place where its list
 *       holds the new size, too.
 * </ol>
 *
 * <p>Where we deviate from the paper's pseudo-code:
 *
 * <ul>
 *   <li>Algorithm 4 takes the list numbered ceil(log2(size)) itself, empty or not, since its {@code ffs} looks at the
 *       request's bit alone; section V-A's text, and we, take the first list from there upwards that the bitmap shows.
 *   <li>Algorithm 4 never clears the bit of a list whose last block it takes, and leaves that block's successor pointing
 *       back at it. We clear the one and relink the other.
 *   <li>Algorithm 5 clears a list's bit when a block's neighbours in the list are equal, and does so for the block that is
 *       freed, which is in no list, and not for its left neighbour, which is. A merged left neighbour stays in the list of
 *       its former size there, and is put into a second one. We take every free neighbour out of its list, clear that
 *       list's bit if the list is empty then, and put the merged block into the list of its new size.
 *   <li>Algorithm 5 numbers the bit to clear by ceil(log2(size)) in one place. A block is in the list floor(log2(size)), on
 *       which putting in, taking out and the bitmap have to agree.
 *   <li>Algorithms 4 and 5 tell the block after a new or a merged one who is before it, though at the region's end there
 *       is none. We keep neighbours both ways, with a fence at the ends.
 *   <li>Records name each other by position, not by address, and only blocks in use are hashed (in a block table).
 *   <li>The first block of the request's own list, in which only some blocks fit, is taken if it does, and a free block that
 *       grows keeps its place in its list.
 *   <li>When no list guarantees a fit, the request's own list, in which only some blocks fit, is searched for up to 64
 *       steps, as {@link TlsfStrategy} does; the paper gives up.
 * </ul>
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1), with no loop over blocks but that bounded one, for what is done
 * to a block; O(1) expected for finding it by address, as hash tables are. Some 40 bytes of host memory for each block
 * that the tables can hold, free or in use. A block taken may be nearly four times as large as it need be, and what is cut
 * off ends up in smaller lists: expect half of the region to be lost to external fragmentation. When nothing fits,
 * {@link #NO_SPACE}.
 */
public final class SegregatedFitStrategy extends SegregatedStrategy {

    /**
     * Makes one over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public SegregatedFitStrategy(final Region region, final StrategyOptions options) {
        super(region, options, new PowerOfTwoLists());
    }
}
