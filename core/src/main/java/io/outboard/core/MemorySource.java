package io.outboard.core;

import java.util.Optional;

/**
 * Where regions come from: the device's driver, or a range of numbers that nothing backs.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the driver, tens of microseconds and more; a source is
 * asked a few times in a program's life, never on the path of an allocation.
 */
public interface MemorySource extends AutoCloseable {

    /**
     * Takes one region.
     *
     * @param sizeBytes length in bytes, {@code 0 < sizeBytes}
     * @return a region of exactly {@code sizeBytes}, disjoint from every other that this source has out, aligned to 256
     *     bytes at least
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}; nothing is taken
     * @throws IllegalStateException if the source is closed; nothing is taken
     * @throws DeviceOutOfMemoryException if the device hasn't so much; nothing is taken
     */
    Region take(long sizeBytes);

    /**
     * Gives a region back.
     *
     * @param region what {@link #take} returned, not given back yet
     * @throws IllegalArgumentException if the region isn't one that this source has out; nothing changes
     */
    void giveBack(Region region);

    /**
     * Reserves addresses for a region that grows in place, where this source can do that. No memory is taken yet.
     *
     * @param bytes most addresses to reserve, {@code 0 < bytes}; fewer are reserved where the device hasn't so much memory
     *     in all, whoever holds it, or a multiple of that if the region's memory can move
     * @return the region, to be closed by the caller or with this source, of which nothing is committed; or nothing if this
     *     source can't, or if not even the unit of committing is within {@code bytes}
     * @throws IllegalArgumentException if {@code bytes <= 0}; nothing is reserved
     * @throws IllegalStateException if the source is closed; nothing is reserved
     */
    default Optional<GrowableRegion> reserve(final long bytes) {
        return Optional.empty();
    }

    /**
     * Whether regions that grow in place can {@linkplain GrowableRegion#move move} their memory.
     *
     * @return the same at each call
     */
    default boolean canMove() {
        return false;
    }

    /**
     * How much could still be taken, as the device reports it now.
     *
     * @return bytes, 0 or more; one region of that size need not exist
     */
    long availableBytes();

    /** Gives every region back that is still out. Idempotent. */
    @Override
    void close();
}
