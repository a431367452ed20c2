package io.outboard.service;

import io.outboard.core.MemoryUser;

/**
 * What memory is leased through: a {@link LenderConnection}, or a lender that is simulated. How memory is mapped, and when it may be
 * unmapped, is the caller's to know.
 *
 * <p>Thread-safety: safe for any number of threads.
 */
public interface Leases extends AutoCloseable {

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
     * What the quota leaves to this connection, also where others of the name have it, or others have it now and may be made to give
     * back.
     *
     * @return bytes
     */
    long quotaLeftBytes();

    /**
     * Takes a lease, as {@link LenderConnection#lease(long)}, the first of several: others are made to give back for all of them at once.
     *
     * @param bytes how much, {@code 0 < bytes}, a multiple of {@link #unitBytes}
     * @param wantedBytes how much this one and those that follow are together, in bytes; counts as {@code bytes} if it is less
     * @return the lease
     * @throws RuntimeException as {@link LenderConnection#lease(long)}
     */
    Lease lease(long bytes, long wantedBytes);

    /**
     * Gives leases back, whose memory this process has unmapped. Waits until the lender has them off its ledger; without a lender they are
     * held no longer.
     *
     * @param numbers of leases; what isn't held is passed over
     */
    void giveBack(long... numbers);

    /**
     * Closes the descriptor of a lease, which the caller has mapped, or given up.
     *
     * @param lease what {@link #lease} answered; once
     */
    void closeDescriptor(Lease lease);

    /**
     * Adds one that uses what is leased: it is asked to give back when the lender needs memory, and how much it uses. It is called by
     * threads of this connection.
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

    /** Ends it; what it holds goes off the lender's ledger. What is mapped stays so. Idempotent. */
    @Override
    void close();
}
