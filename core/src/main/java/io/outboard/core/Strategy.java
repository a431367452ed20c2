package io.outboard.core;

/**
 * An algorithm that divides one region into blocks, keeping all that it knows in host memory: the model of Bell, Kumar
 * and Gill (2024), section I. It never reads or writes the memory that it hands out.
 *
 * <p>Sizes are rounded up to the <em>granule</em>, a power of two (see {@link StrategyOptions}); a strategy that has
 * not every multiple of it says so. The blocks of a region cover it without gaps, no two neighbours are both free,
 * except with strategies that say that they keep them apart, and the same operations on the same region give the same
 * addresses, always: a strategy in which nothing is in use any more places blocks as a new one does. A region whose
 * size isn't a multiple of the granule loses the bytes after the last whole one.
 *
 * <p>What names a block is its address, or instead a <em>handle</em>, which {@link #allocateByHandle} answers: a number that
 * needn't be looked up, for callers that can keep one and call what is named after handles. It is checked as an address is: a call
 * by handle or by address that names no block in use, or one that is named in the other way, is refused, and nothing
 * changes. Neither tells a block from another one that took its place after it was freed. A strategy without handles of
 * its own takes the address for one: there both names are the same, and do the same.
 *
 * <p>Thread-safety: confined to one thread. Garbage: none after construction, but what tables leave behind that grow
 * because {@link StrategyOptions#firstBlocks} says so, and no operation makes garbage otherwise. Cost: stated by each
 * strategy. When nothing fits, {@link #NO_SPACE}; no exception is thrown for that.
 */
public interface Strategy {

    /** What {@link #allocate} answers when nothing fits: no address, since addresses aren't negative. */
    long NO_SPACE = -1;

    /** What {@link #retireTail} answers when a block keeps its tail. */
    long NO_TAIL = -1;

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
     * Gives a block back; it merges with its free neighbours.
     *
     * @param address what {@link #allocate} returned, not freed since
     * @throws InvalidAddressException if no block in use starts at {@code address}: it names what is there; nothing
     *     changes
     */
    void free(long address);

    /**
     * The first half of {@link #free}: from now on no block starts at {@code address}, so that a second free of it is
     * refused, but its memory stays taken until {@link #release}. For a pool whose device still works on what a program
     * has freed.
     *
     * @param address what {@link #allocate} returned, not freed since
     * @return what names the retired block until {@link #release} or {@link #restore}, whatever else happens meanwhile:
     *     from 0 to 2^48 - 1. Two blocks that are retired at a time have different ones
     * @throws InvalidAddressException if no block in use starts at {@code address}: it names what is there; nothing
     *     changes
     */
    long retire(long address);

    /**
     * The second half of {@link #free}: a retired block becomes free and merges with its free neighbours. Its caller is
     * trusted.
     *
     * @param retired what {@link #retire} answered, neither released nor restored since; void from now on
     * @return the bytes that the block had
     */
    long release(long retired);

    /**
     * {@link #release} for several blocks, in any order. Where what is known of them isn't in the processor's caches, {@code tlsf}
     * and its kin take half the time for it and less; others do it one by one.
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
     * The size of a retired block. Its caller is trusted.
     *
     * @param retired what {@link #retire} answered, neither released nor restored since
     * @return bytes, a multiple of the granule
     */
    long retiredBytes(long retired);

    /**
     * The address that a retired block had, and would have again after {@link #restore}. Its caller is trusted.
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
     * The first half of a {@link #trim}: a block is shorter from now on, but its tail stays taken, as a retired block.
     *
     * @param address start of a block in use
     * @param newSizeBytes as for {@link #trim}
     * @return names the tail until {@link #release}, which is void then; {@link #NO_TAIL} if the block keeps all of it,
     *     which a strategy may always do
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes} is outside of its range; nothing changes
     * @throws BlockTableFullException if the tables can't hold the tail as a block of its own; nothing changes
     */
    default long retireTail(final long address, final long newSizeBytes) {
        final long sizeBytes = sizeOf(address);
        if (newSizeBytes <= 0 || newSizeBytes > sizeBytes) {
            throw new IllegalArgumentException(
                    "newSizeBytes=" + newSizeBytes + " must be > 0 and <= the block's size, " + sizeBytes);
        }
        return NO_TAIL;
    }

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
     * The size of a block in use.
     *
     * @param address start of a block in use
     * @return bytes, a multiple of the granule
     * @throws InvalidAddressException if no block in use starts at {@code address}
     */
    long sizeOf(long address);

    // Blocks by handle

    /**
     * Takes a block, as {@link #allocate(long)} does, that is named by a handle. Aligned: {@link #nameByHandle}.
     *
     * @param sizeBytes as for {@link #allocate(long)}, with what that throws
     * @return the handle, not negative, or {@link #NO_SPACE} when nothing fits
     */
    default long allocateByHandle(final long sizeBytes) {
        return allocate(sizeBytes);
    }

    /**
     * {@link #free} by handle.
     *
     * @param handle of a block in use, void from now on
     * @throws InvalidAddressException if it names none; nothing changes
     */
    default void freeByHandle(final long handle) {
        free(handle);
    }

    /**
     * {@link #retire} by handle. {@link #restore} puts such a block in use under its address.
     *
     * @param handle of a block in use, void from now on
     * @return as {@link #retire}
     * @throws InvalidAddressException if it names none; nothing changes
     */
    default long retireByHandle(final long handle) {
        return retire(handle);
    }

    /**
     * Where a block is that a handle names.
     *
     * @param handle of a block in use
     * @return absolute device address
     * @throws InvalidAddressException if it names none
     */
    default long addressOf(final long handle) {
        sizeOf(handle);
        return handle;
    }

    /**
     * {@link #sizeOf} by handle.
     *
     * @param handle of a block in use
     * @return bytes, a multiple of the granule
     * @throws InvalidAddressException if it names none
     */
    default long sizeByHandle(final long handle) {
        return sizeOf(handle);
    }

    /**
     * Names a block by a handle that was named by its address so far. O(1).
     *
     * @param address start of a block in use
     * @return the handle, not negative
     * @throws InvalidAddressException if no block in use that its address names starts there; nothing changes
     */
    default long nameByHandle(final long address) {
        return addressOf(address);
    }

    /**
     * Names a block by its address that was named by a handle so far: for what takes an address alone, such as {@link #trim}. {@link
     * #nameByHandle} gives the same handle again. O(1).
     *
     * @param handle of a block in use, void from now on
     * @return absolute device address
     * @throws InvalidAddressException if it names none; nothing changes
     */
    default long nameByAddress(final long handle) {
        return addressOf(handle);
    }

    // The whole

    /**
     * The region that this strategy divides.
     *
     * @return the region it was made for
     */
    Region region();

    /**
     * The unit that sizes are rounded up to.
     *
     * @return bytes, a power of two
     */
    long granuleBytes();

    /**
     * Bytes in free blocks; those of retired blocks don't count. O(1).
     *
     * @return bytes, a multiple of the granule
     */
    long freeBytes();

    /**
     * Size of the largest free block. For diagnosis: it may look at many blocks.
     *
     * @return bytes, 0 if no block is free
     */
    long largestFreeBlockBytes();

    /**
     * Blocks whose memory is taken: those in use, and those that are retired. O(1).
     *
     * @return how many
     */
    int liveBlocks();

    /**
     * Host memory that this strategy holds: what is in its arrays. Some hundred bytes for objects aren't counted. O(1).
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

    /**
     * Shows blocks as a request finds them that is larger than what blocks are divided into for small ones: a slab that
     * objects share is one block, not free. Otherwise as {@link #forEachBlock}.
     *
     * @param visitor sees each block; it must not call this strategy
     */
    default void forEachUndivided(final BlockVisitor visitor) {
        forEachBlock(visitor);
    }

    /**
     * Tells that the region can't be made larger: what the strategy keeps for later is to be free memory now, and as
     * long as that lasts a request takes what it needs and no more. Nothing for most strategies.
     */
    default void makeDo() {}

    /**
     * Shows free blocks that are large, as a request finds them, once what the strategy kept for later is free again. In no order.
     * O(such blocks + lists).
     *
     * @param leastBytes smaller ones aren't shown, {@code granuleBytes() <= leastBytes}
     * @param visitor sees each block; it must not call this strategy
     * @throws UnsupportedOperationException where {@link StrategyProvider#canRetireFree} is false
     */
    default void forEachFree(final long leastBytes, final FreeBlockVisitor visitor) {
        throw new UnsupportedOperationException("this strategy doesn't retire free memory");
    }

    /**
     * Retires a part of a free block: what is in front of it and behind stays free. For a pool that takes the memory
     * away that is behind these addresses, and needs nobody to be handed them until it has put some there again. O(1).
     *
     * @param block names the free block: what {@link #forEachFree} called it, if nothing has changed since but that
     *     parts of it were retired that lie behind this one
     * @param address where the part begins, a granule's address in the block
     * @param sizeBytes how much, a multiple of the granule that the block has room for, {@code 0 < sizeBytes}
     * @return names the retired block, as {@link #retire} does; {@link #NO_SPACE} if the tables can't hold more blocks,
     *     and nothing changes
     * @throws UnsupportedOperationException where {@link StrategyProvider#canRetireFree} is false
     */
    default long retireFree(final long block, final long address, final long sizeBytes) {
        throw new UnsupportedOperationException("this strategy doesn't retire free memory");
    }

    /**
     * Divides a retired block. O(1).
     *
     * @param retired what {@link #retireFree} answered, not released
     * @param sizeBytes what it keeps, a multiple of the granule, less than it has, {@code 0 < sizeBytes}
     * @return names the rest, which is a retired block, too; {@link #NO_SPACE} if the tables can't hold more blocks,
     *     and nothing changes
     * @throws UnsupportedOperationException where {@link StrategyProvider#canRetireFree} is false
     */
    default long splitRetired(final long retired, final long sizeBytes) {
        throw new UnsupportedOperationException("this strategy doesn't retire free memory");
    }

    /**
     * Makes one retired block of two. O(1).
     *
     * @param retired what {@link #retireFree} answered, not released: it has both then
     * @param next the same of the block that begins where this one ends: it names nothing any more
     * @throws UnsupportedOperationException where {@link StrategyProvider#canRetireFree} is false
     */
    default void joinRetired(final long retired, final long next) {
        throw new UnsupportedOperationException("this strategy doesn't retire free memory");
    }

    /**
     * Whether a size that finds nothing means that no larger one finds anything until something becomes free.
     *
     * @return true for most; false if some sizes have memory of their own
     */
    default boolean refusesAllLarger() {
        return true;
    }

    /**
     * Counts the blocks. O(blocks), with a little garbage: for diagnosis and measurement.
     *
     * @return the state now
     */
    default Statistics statistics() {
        final StatisticsCounter counter = new StatisticsCounter(region().address());
        forEachBlock(counter);
        return counter.statistics(region().sizeBytes(), largestFreeBlockBytes(), hostBytes());
    }
}
