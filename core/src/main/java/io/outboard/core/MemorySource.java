package io.outboard.core;

import java.util.Optional;

/**
 * A memory source hands out regions: it is the device's driver, or a range of numbers that nothing backs.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the driver, tens of microseconds and more; a source
 * is asked a few times in a program's life, never on the path of an allocation.
 */
public interface MemorySource extends AutoCloseable {

    /**
     * The most bytes of addresses for each byte of memory. Addresses cost nothing, and memory that moves leaves holes
     * among them, so with many addresses it is long before they are used up.
     */
    int ADDRESSES_FOR_A_BYTE = 16;

    /**
     * Takes one region.
     *
     * @param sizeBytes length in bytes, {@code 0 < sizeBytes}
     * @return a region of exactly {@code sizeBytes}, disjoint from every other that this source has out, aligned to 256
     *     bytes at least
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}; nothing is taken
     * @throws IllegalStateException if the source is closed; nothing is taken
     * @throws DeviceOutOfMemoryException if the device has less; nothing is taken
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
     * @param bytes most memory that it is to have, {@code 0 < bytes}
     * @param addressBytes most addresses, {@code 0 < addressBytes}. Up to {@link #ADDRESSES_FOR_A_BYTE} times as many
     *     as {@code bytes} are reserved, or as all memory of the device, whoever holds it, if that is less
     * @return the region, to be closed by the caller or with this source, without memory yet; or nothing if this source
     *     can't, or if not even the unit of committing is within both
     * @throws IllegalArgumentException if an argument is outside of its range; nothing is reserved
     * @throws IllegalStateException if the source is closed; nothing is reserved
     */
    default Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
        return Optional.empty();
    }

    /**
     * Tells how much could still be taken, as the device reports it now.
     *
     * @return bytes, 0 or more; one region of that size need not exist
     */
    long availableBytes();

    /**
     * Tells what bounds {@link #availableBytes}, for the message of an exception.
     *
     * @return a clause that says that there is less than is missing
     */
    default String scarcity() {
        return "the device reports less as free than is missing";
    }

    /**
     * Adds a user that can give memory back when others need some; a pool adds itself. A source whose device isn't
     * shared, or that doesn't hear of others' needs, does nothing.
     *
     * @param user whom to ask
     */
    default void addUser(final MemoryUser user) {
        // This source knows of nobody else who needs memory.
    }

    /**
     * Removes a user that {@link #addUser} added. Nothing happens if there is no such user.
     *
     * @param user who isn't asked any more; a call may still be going on
     */
    default void removeUser(final MemoryUser user) {
        // This source keeps no users.
    }

    /** Gives every region back that is still out. A second call does nothing. */
    @Override
    void close();
}
