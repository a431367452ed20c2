package io.outboard.service;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** An account is what the {@link Ledger} records of one connection. Confined to the lender's thread. */
final class Account {

    /** The {@link #usedBytes} of a client that hasn't told how much it uses. */
    static final long UNKNOWN = -1;

    /** The highest lease number that a client may state. A client never gets a higher number by asking for leases. */
    static final long MOST_STATED_LEASE = (1L << 62) - 1;

    /** The most leases that a client may state. Each lease costs the lender some hundred bytes. */
    static final int MOST_STATED = 1 << 16;

    final String name;
    final int pid;

    /** The sizes of the client's leases, in bytes, by lease number. Each connection has lease numbers of its own. */
    final Map<Long, Long> leases = new TreeMap<>();

    /** The client's shared leases, by number. Those that are counted to this client are in {@link #leases}, too. */
    final Map<Long, Shares.Share> shares = new TreeMap<>();

    /**
     * The sizes of leases that the client states and that the lender doesn't count, by number. They may exist, so the
     * client may give them back.
     */
    final Map<Long, Long> uncounted = new TreeMap<>();

    /** The numbers of leases whose memory is being made. */
    final Set<Long> making = new HashSet<>();

    /** Whether the client has asked for a lease; from then on it can't state leases of an earlier lender. */
    boolean hasAsked;

    long leasedBytes;
    long usedBytes = UNKNOWN;

    /** The number of the next lease. */
    long nextLease = 1;

    /** The number of bytes that {@link Admission} has asked the client to give back; 0 if no answer is awaited. */
    long pressedBytes;

    /** The time at which the client was last asked to give back, and below, what it held then. */
    long pressedAtNanos;

    long leasedWhenPressed;

    /** The number of requests of the client that can wait, as {@link Admission} has last counted them. */
    int waiting;

    /** Whether the client had too little to give back; it isn't asked again before {@link #askAgainAtNanos}. */
    boolean isExhausted;

    long askAgainAtNanos;

    Account(final String name, final int pid) {
        this.name = name;
        this.pid = pid;
    }

    /** Returns whether the client may state now that it holds a lease of the given number from an earlier lender. */
    boolean mayState(final long lease) {
        return !hasAsked
                && lease > 0
                && lease <= MOST_STATED_LEASE
                && !leases.containsKey(lease)
                && !shares.containsKey(lease)
                && !uncounted.containsKey(lease)
                && leases.size() + shares.size() + uncounted.size() < MOST_STATED;
    }
}
