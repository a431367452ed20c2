package io.outboard.core;

/**
 * A strategy divides one region into blocks, and keeps all that it knows in host memory: the model of Bell, Kumar and
 * Gill (2024), section I. It never reads or writes the memory that it hands out.
 *
 * <p>Sizes are rounded up to the <em>granule</em>, a power of two (see {@link StrategyOptions}); a strategy that has
 * not every multiple of it says so. The blocks of a region cover it without gaps, no two neighbours are both free,
 * except with strategies that say that they keep them apart, and the same operations on the same region give the same
 * addresses, always: a strategy in which nothing is in use any more places blocks as a new one does. A region whose
 * size isn't a multiple of the granule loses the bytes after the last whole one.
 *
 * <p>A block is named by its address. What only some strategies can do is in interfaces of their own, which a caller
 * finds with {@code instanceof}: {@link HandleStrategy}, {@link PartRetiringStrategy}, {@link SlabStrategy} and {@link
 * StepwiseStrategy}.
 *
 * <p>Thread-safety: confined to one thread. Garbage: none after construction, except what tables leave behind that grow
 * because {@link StrategyOptions#firstBlocks} says so. Cost: stated by each strategy. When nothing fits, a strategy
 * returns {@link #NO_SPACE}, and throws no exception.
 *
 * <p>A {@link StackOverflowError} may leave half of a change behind: a strategy that threw one must not be used again,
 * since its blocks may overlap, and its calls may throw anything. It harms no other strategy. A pool that meets such an
 * error refuses all further calls.
 */
public interface Strategy {

    /**
     * The value that {@link #allocate} returns when nothing fits. Addresses aren't negative, so the value is no
     * address.
     */
    long NO_SPACE = -1;

    /**
     * Takes a block.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}; any size that is larger than the region is
     *     answered with {@link #NO_SPACE}
     * @return absolute device address, a multiple of the granule, or {@link #NO_SPACE} when nothing fits
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}; nothing changes
     * @throws BlockTableFullException if a block fits but the host-side tables can't hold one more; nothing changes
     */
    long allocate(long sizeBytes);

    /**
     * Takes a block whose address is a multiple of {@code alignmentBytes}. What lies in front stays a free block.
     *
     * @param sizeBytes requested size in bytes, as for {@link #allocate(long)}
     * @param alignmentBytes any power of two; up to a granule it asks for nothing more than {@link #allocate(long)}
     * @return absolute device address, a multiple of the granule and of {@code alignmentBytes}, or {@link #NO_SPACE}
     * @throws IllegalArgumentException if {@code sizeBytes <= 0} or {@code alignmentBytes} isn't a power of two;
     *     nothing changes
     * @throws BlockTableFullException if a block fits but the host-side tables can't hold what it is cut into; nothing
     *     changes
     */
    long allocate(long sizeBytes, long alignmentBytes);

    /**
     * Gives a block back; the block merges with its free neighbours.
     *
     * @param address what {@link #allocate} returned, not freed since
     * @throws InvalidAddressException if no block in use starts at {@code address}: it names what is there; nothing
     *     changes
     */
    void free(long address);

    /**
     * Does the first half of {@link #free}: from now on no block starts at {@code address}, so that a second free is
     * refused, but the memory stays taken until {@link #release}. A pool needs that if the device may still work on
     * what a program has freed.
     *
     * @param address what {@link #allocate} returned, not freed since
     * @return what names the retired block until {@link #release} or {@link #restore}, whatever else happens meanwhile:
     *     from 0 to 2^48 - 1. Two blocks that are retired at a time have different ones
     * @throws InvalidAddressException if no block in use starts at {@code address}: it names what is there; nothing
     *     changes
     */
    long retire(long address);

    /**
     * Does the second half of {@link #free}: a retired block becomes free and merges with its free neighbours. Its
     * caller is trusted.
     *
     * @param retired what {@link #retire} answered, neither released nor restored since; void from now on
     * @return the bytes that the block had
     */
    long release(long retired);

    /**
     * Releases several blocks, in any order. Where their records aren't in the processor's caches, {@code tlsf} and
     * its kin take half the time or less of as many calls of {@link #release}; other strategies make these calls.
     *
     * @param retired what {@link #retire} answered, neither released nor restored since; void from now on
     * @param from the first of them
     * @param to behind the last
     */
    default void releaseAll(final long[] retired, final int from, final int to) {
        for (int i = from; i < to; i++) {
            release(retired[i]);
        }
    }

    /**
     * Takes {@link #retire} back: the block is in use again, under the address that it had. Its caller is trusted.
     *
     * @param retired what {@link #retire} answered, neither released nor restored since; void from now on
     * @return the block's address
     */
    long restore(long retired);

    /**
     * Tells the size of a retired block. Its caller is trusted.
     *
     * @param retired what {@link #retire} answered, neither released nor restored since
     * @return bytes, a multiple of the granule
     */
    long retiredBytes(long retired);

    /**
     * Tells the address that a retired block had, and would have again after {@link #restore}. Its caller is trusted.
     *
     * @param retired what {@link #retire} answered, neither released nor restored since
     * @return absolute device address
     */
    long retiredAddress(long retired);

    /**
     * Shrinks a block in place; the tail becomes free: partial deallocation, Bell et al. section III-A. A strategy
     * whose blocks have fixed sizes may keep some of the tail, or all; {@link #sizeOf} tells.
     *
     * @param address start of a block in use
     * @param newSizeBytes what to keep, in bytes, {@code 0 < newSizeBytes <= sizeOf(address)}; rounded up to the
     *     granule
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes} is outside of its range; nothing changes
     * @throws BlockTableFullException if the tables can't hold the tail as a block of its own; nothing changes
     */
    void trim(long address, long newSizeBytes);

    /**
     * Grows a block in place if the block after it is free and large enough.
     *
     * @param address start of a block in use
     * @param newSizeBytes the new size in bytes, {@code sizeOf(address) <= newSizeBytes} (a size that rounds up to the
     *     present one is granted); rounded up to the granule
     * @return true if the block has the new size now, false if there is no room and nothing changed
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes}, rounded up, is less than {@code sizeOf(address)};
     *     nothing changes
     */
    boolean extend(long address, long newSizeBytes);

    /**
     * Tells the size of a block in use.
     *
     * @param address start of a block in use
     * @return bytes, a multiple of the granule
     * @throws InvalidAddressException if no block in use starts at {@code address}
     */
    long sizeOf(long address);

    // The whole

    /**
     * Tells which region this strategy divides.
     *
     * @return the region it was made for
     */
    Region region();

    /**
     * Tells the unit that sizes are rounded up to.
     *
     * @return bytes, a power of two
     */
    long granuleBytes();

    /**
     * Counts the bytes in free blocks; those of retired blocks don't count. O(1).
     *
     * @return bytes, a multiple of the granule
     */
    long freeBytes();

    /**
     * Counts the blocks whose memory is taken: those in use, and those that are retired. O(1).
     *
     * @return how many
     */
    int liveBlocks();

    /**
     * Tells how much host memory this strategy holds in arrays. Some hundred bytes for objects aren't counted. O(1).
     *
     * @return bytes
     */
    long hostBytes();

    /**
     * Shows every block, in order of address, free ones and those in use. Retired blocks are shown as not free.
     * O(blocks).
     *
     * @param visitor sees each block; it must not call this strategy
     */
    void forEachBlock(BlockVisitor visitor);
}
