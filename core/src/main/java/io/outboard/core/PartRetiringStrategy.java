package io.outboard.core;

/**
 * This strategy retires parts of blocks, too: the tail of a block in use, and any part of a free block. A pool needs
 * such a strategy if it takes away the memory behind free addresses: nobody is handed these addresses until the pool
 * has put memory there again. All else is as {@link Strategy} says.
 */
public interface PartRetiringStrategy extends Strategy {

    /** The value that {@link #retireTail} returns when a block keeps its tail. */
    long NO_TAIL = -1;

    /**
     * Does the first half of a {@link #trim}: a block is shorter from now on, but its tail stays taken, as a retired
     * block.
     *
     * @param address start of a block in use
     * @param newSizeBytes as for {@link #trim}
     * @return the name of the tail until {@link #release}; {@link #NO_TAIL} if the block keeps all of it, as a block
     *     of a fixed size does
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes} is outside of its range; nothing changes
     * @throws BlockTableFullException if the tables can't hold the tail as a block of its own; nothing changes
     */
    long retireTail(long address, long newSizeBytes);

    /**
     * Shows free blocks that are large, in no order, as a large request finds them: what the strategy kept for later is
     * free by then. O(such blocks + lists).
     *
     * @param leastBytes smaller ones aren't shown, {@code granuleBytes() <= leastBytes}
     * @param visitor sees each block; it must not call this strategy
     */
    void forEachFree(long leastBytes, FreeBlockVisitor visitor);

    /**
     * Retires a part of a free block; what is in front of the part and behind stays free. O(1).
     *
     * @param block names the free block: what {@link #forEachFree} called it, if nothing has changed since but that
     *     parts of the block were retired that lie behind this part
     * @param address where the part begins, a granule's address in the block
     * @param sizeBytes how much, a multiple of the granule that the block has room for, {@code 0 < sizeBytes}
     * @return the name of the retired block, as of {@link #retire}; {@link #NO_SPACE} if the tables can't hold more
     *     blocks, and nothing changes
     */
    long retireFree(long block, long address, long sizeBytes);

    /**
     * Divides a retired block. O(1).
     *
     * @param retired what {@link #retireFree} answered, not released
     * @param sizeBytes what it keeps, a multiple of the granule, less than it has, {@code 0 < sizeBytes}
     * @return the name of the rest, which is a retired block, too; {@link #NO_SPACE} if the tables can't hold more
     *     blocks, and nothing changes
     */
    long splitRetired(long retired, long sizeBytes);

    /**
     * Makes one retired block of two. O(1).
     *
     * @param retired what {@link #retireFree} answered, not released: this block has the memory of both then
     * @param next the same of the block that begins where the first one ends; this name is void then
     */
    void joinRetired(long retired, long next);
}
