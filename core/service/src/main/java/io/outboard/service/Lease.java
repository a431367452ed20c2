package io.outboard.service;

import io.outboard.core.MemoryUser;

/**
 * Memory that a lender has lent, and its descriptor, which is the holder's to {@linkplain
 * LenderConnection#closeDescriptor close} once the memory is mapped. Immutable.
 *
 * @param number by which it is given back; the connection's own
 * @param bytes how much, in bytes
 * @param descriptor what to map, of this process
 */
public record Lease(long number, long bytes, int descriptor) {

    /**
     * A source of leases of one device's memory, such as a {@link LenderConnection}: those who map leases need no more,
     * so what they write runs over a simulated lender, too. Safe for any number of threads.
     */
    public interface Source extends AutoCloseable {

        /**
         * Which device the memory is of.
         *
         * @return its name, see {@link LendingDevice#name}
         */
        String device();

        /**
         * What leases are multiples of.
         *
         * @return bytes, a power of two
         */
        long unitBytes();

        /**
         * What the quota leaves to this connection, also where others of the name have it, or others have it now and
         * may be made to give back.
         *
         * @return bytes
         */
        long quotaLeftBytes();

        /**
         * Takes the first of several leases: others are made to give back for all of them at once. Its memory is zero.
         *
         * @param bytes how much, {@code 0 < bytes}, a multiple of {@link #unitBytes}
         * @param wantedBytes how much this one and those that follow are together, in bytes; counts as {@code bytes} if
         *     it is less
         * @return the lease, whose descriptor is the caller's to {@linkplain #closeDescriptor close}
         * @throws IllegalArgumentException if {@code bytes} isn't such a size
         * @throws IllegalStateException if this is closed
         * @throws io.outboard.core.DeviceOutOfMemoryException if there is none, for a reason that it names: the device
         *     is full, and who holds it; the quota; no lender; no descriptor left in this process. Nothing is leased
         */
        Lease lease(long bytes, long wantedBytes);

        /**
         * Closes the descriptor of a lease, which the caller has mapped, or given up.
         *
         * @param lease what {@link #lease} answered; once
         */
        void closeDescriptor(Lease lease);

        /**
         * Gives leases back, whose memory this process has unmapped. Waits until the lender has them off its ledger;
         * without a lender they are held no longer.
         *
         * @param numbers of leases; what isn't held is passed over
         */
        void giveBack(long... numbers);

        /**
         * Adds one that uses what is leased: it is asked to give back when the lender needs memory, and how much it
         * uses. It is called by threads of the connection.
         *
         * @param user whom
         */
        void addUser(MemoryUser user);

        /**
         * The opposite. Nothing happens if it isn't there.
         *
         * @param user whom
         */
        void removeUser(MemoryUser user);

        /** Ends the connection; what it holds goes off the lender's ledger. What is mapped stays so. Idempotent. */
        @Override
        void close();
    }
}
