package io.outboard.service;

import io.outboard.core.MemoryUser;

/**
 * A lease is memory that a lender has lent, and a descriptor of this memory. The holder {@linkplain
 * LenderConnection#closeDescriptor closes} the descriptor once the memory is mapped. Immutable.
 *
 * @param number the number by which the lease is given back; unique within one connection only
 * @param bytes the size, in bytes
 * @param descriptor a descriptor of this process, to be mapped
 */
public record Lease(long number, long bytes, int descriptor) {

    /**
     * A source hands out leases of one device's memory; a {@link LenderConnection} is a source. Code that maps leases
     * needs no more than this interface, so it runs with a simulated lender, too. Safe for any number of threads.
     */
    public interface Source extends AutoCloseable {

        /**
         * Returns which device the memory belongs to.
         *
         * @return the device's name, see {@link LendingDevice#name}
         */
        String device();

        /**
         * Returns the unit of leases: each size is a multiple of it.
         *
         * @return bytes, a power of two
         */
        long unitBytes();

        /**
         * Returns what the quota leaves to this connection. Memory that others hold counts as left if they can be asked
         * to give it back.
         *
         * @return bytes
         */
        long quotaLeftBytes();

        /**
         * Takes the first of several leases; others are asked to give back for all of them at once. The memory is zero.
         *
         * @param bytes the size, {@code 0 < bytes}, a multiple of {@link #unitBytes}
         * @param wantedBytes the size of this lease and of those that follow, in bytes; counts as {@code bytes} if it
         *     is less
         * @return the lease; the caller {@linkplain #closeDescriptor closes} its descriptor
         * @throws IllegalArgumentException if {@code bytes} isn't such a size
         * @throws IllegalStateException if this source is closed
         * @throws io.outboard.core.DeviceOutOfMemoryException if there is no such lease. The exception names the
         *     reason: the device is full, and who holds its memory; the quota is used up; there is no lender; or this
         *     process has no descriptor left. Nothing is leased
         */
        Lease lease(long bytes, long wantedBytes);

        /**
         * Closes the descriptor of a lease that the caller has mapped, or doesn't need any more.
         *
         * @param lease a lease that {@link #lease} returned; at most once for each
         */
        void closeDescriptor(Lease lease);

        /**
         * Gives back leases whose memory this process has unmapped. Waits until the lender has taken them off its
         * ledger. If there is no lender, the leases just count as held no longer.
         *
         * @param numbers the leases' numbers; those that aren't held are ignored
         */
        void giveBack(long... numbers);

        /**
         * Adds a user of the leased memory. When the lender needs memory, the user is asked to give back. The user is
         * also asked how much it uses. Threads of the connection call it.
         *
         * @param user the user
         */
        void addUser(MemoryUser user);

        /**
         * Removes a user; without effect if the user wasn't added.
         *
         * @param user the user
         */
        void removeUser(MemoryUser user);

        /** Ends the connection. Its leases go off the lender's ledger, and what is mapped stays mapped. Idempotent. */
        @Override
        void close();
    }
}
