package io.outboard.service;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What the {@link Ledger} has on one connection. Confined to the lender's thread. */
final class Account {

    /** It hasn't said. */
    static final long UNKNOWN = -1;

    /** The highest number of a lease that a client may state. None comes near it by asking for leases. */
    static final long MOST_STATED_LEASE = (1L << 62) - 1;

    /**
     * How much a client may state, in bytes: more than any device has, and of 16384 clients the sum is a long still.
     */
    static final long MOST_STATED_BYTES = 1L << 48;

    /** How many leases a client may state: each costs the lender some hundred bytes. */
    static final int MOST_STATED = 1 << 16;

    final String name;
    final int pid;

    /** By the lease's number, which is this connection's own. */
    final Map<Long, Long> leases = new TreeMap<>();

    /**
     * Those that others may have, too, by number; on the ledger with {@link #leases} if they are counted to this one.
     */
    final Map<Long, Shares.Share> shares = new TreeMap<>();

    /** Numbers of leases whose memory is being made. */
    final Set<Long> making = new HashSet<>();

    /** It has asked for something, so that it can't state any longer what it holds from another lender. */
    boolean hasAsked;

    long leasedBytes;
    long usedBytes = UNKNOWN;

    /** The next lease's. */
    long nextLease = 1;

    /** For {@link Admission}: how much it was asked to give back, 0 if it isn't being asked. */
    long pressedBytes;

    /** When it was asked the last time, and what it had then. */
    long pressedAtNanos;

    long leasedWhenPressed;

    /** Until when it isn't asked again, since it had nothing to give. */
    boolean isExhausted;

    long askAgainAtNanos;

    Account(final String name, final int pid) {
        this.name = name;
        this.pid = pid;
    }

    /** Whether it can be that it holds such a lease from another lender, and says so now. */
    boolean mayState(final long lease, final long bytes) {
        return !hasAsked
                && lease > 0
                && lease <= MOST_STATED_LEASE
                && bytes <= MOST_STATED_BYTES - leasedBytes
                && leases.size() + shares.size() < MOST_STATED;
    }
}
