package io.outboard.service;

import java.util.Map;
import java.util.TreeMap;

/** What the {@link Ledger} has on one connection. Confined to the lender's thread. */
final class Account {

    /** It hasn't said. */
    static final long UNKNOWN = -1;

    final String name;
    final int pid;

    /** By the lease's number, which is this connection's own. */
    final Map<Long, Long> leases = new TreeMap<>();

    /** Those that others may have, too, by number; on the ledger with {@link #leases} if they are counted to this one. */
    final Map<Long, Shares.Share> shares = new TreeMap<>();

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
}
