package io.outboard.core;

import java.util.Optional;

/**
 * Where regions come from: the device's driver, or a range of numbers that nothing backs.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the driver, tens of microseconds and more; a source is
 * asked a few times in a program's life, never on the path of an allocation.
 */
public interface MemorySource extends AutoCloseable {

    /** Of a region whose memory moves: addresses cost nothing, and so it is long before they are used up. */
    int ADDRESSES_FOR_A_BYTE = 16;

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
     *     in all, whoever holds it
     * @return the region, to be closed by the caller or with this source, of which nothing is committed; or nothing if this
     *     source can't, or if not even the unit of committing is within {@code bytes}
     * @throws IllegalArgumentException if {@code bytes <= 0}; nothing is reserved
     * @throws IllegalStateException if the source is closed; nothing is reserved
     */
    default Optional<GrowableRegion> reserve(final long bytes) {
        return Optional.empty();
    }

    /**
     * The same with more addresses than memory, for a region whose memory {@linkplain GrowableRegion#move moves}: up to
     * {@link #ADDRESSES_FOR_A_BYTE} times as many.
     *
     * @param bytes most memory that it is to have, {@code 0 < bytes}; the unit is chosen by this, or by what the device has if
     *     that is less
     * @param addressBytes most addresses to reserve, {@code 0 < addressBytes}
     * @return the region, or nothing, as for {@link #reserve(long)}; nothing where {@link #canMove} is false
     * @throws IllegalArgumentException if an argument is outside of its range; nothing is reserved
     * @throws IllegalStateException if the source is closed; nothing is reserved
     */
    default Optional<GrowableRegion> reserveToMove(final long bytes, final long addressBytes) {
        return Optional.empty();
    }

    /**
     * Whether there are {@linkplain #reserveToMove regions whose memory moves}.
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
