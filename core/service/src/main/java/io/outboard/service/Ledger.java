package io.outboard.service;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The ledger records who has been lent how much, and decides who may be lent more. It holds numbers only: the memory is
 * the device's, and nothing here waits.
 *
 * <p>All clients that connect by one name share its {@link Quota}. What is guaranteed to a name and not lent to it is
 * reserved, whether or not a client of that name is connected:
 *
 * <pre>{@code
 *   |  lent to a      |  lent to b | reserved for b |  room for a, as far as its quota goes  |
 *   0                                                                                  limitBytes
 * }</pre>
 *
 * <p>After a restart of the lender, clients state what they hold, which only counts where there is room for it. A shared
 * lease counts to its next holder even where that one's quota doesn't allow it, so the room may be less than 0.
 *
 * <p>Confined to the lender's thread. O(1) for each call, O(n log n) for one about n clients or leases.
 */
final class Ledger {

    private final long limitBytes;
    private final Map<String, Quota> quotas;
    private final Set<Account> accounts = new LinkedHashSet<>();
    private final Map<String, Long> lentByName = new HashMap<>();
    private long lentBytes;

    /** What is guaranteed to all names together, and what of that isn't lent to them yet. */
    private final long guaranteedBytes;

    private long reservedBytes;

    /**
     * Makes a ledger of a device that has lent nothing.
     *
     * @throws IllegalArgumentException if the quotas guarantee more than the device has
     */
    Ledger(final long limitBytes, final Map<String, Quota> quotas) {
        this.limitBytes = limitBytes;
        this.quotas = Map.copyOf(quotas);
        long bytes = 0;
        for (final Quota quota : quotas.values()) {
            if (quota.guaranteedBytes() > limitBytes - bytes) {
                throw new IllegalArgumentException(
                        "quotas=" + quotas + " must guarantee limitBytes=" + limitBytes + " at most, all together");
            }
            bytes += quota.guaranteedBytes();
        }
        guaranteedBytes = bytes;
        reservedBytes = bytes;
    }

    Account open(final String name, final int pid) {
        final Account account = new Account(name, pid);
        accounts.add(account);
        return account;
    }

    /** Takes all leases of a client off the ledger, and returns their size in bytes. */
    long close(final Account account) {
        final long bytes = account.leasedBytes;
        List.copyOf(account.leases.keySet()).forEach(lease -> giveBack(account, lease));
        accounts.remove(account);
        return bytes;
    }

    Collection<Account> accounts() {
        return accounts;
    }

    /** Returns the connected clients in the order of what they hold, most first. */
    List<Account> holders() {
        final List<Account> holders = new ArrayList<>(accounts);
        holders.removeIf(account -> account.leasedBytes == 0);
        holders.sort((one, other) -> Long.compare(other.leasedBytes, one.leasedBytes));
        return holders;
    }

    long limitBytes() {
        return limitBytes;
    }

    long lentBytes() {
        return lentBytes;
    }

    long guaranteedBytes(final String name) {
        return quotas.getOrDefault(name, Quota.NONE).guaranteedBytes();
    }

    /** Returns what a name can be lent at most: its quota, or what the guarantees of others leave, if that is less. */
    long mostBytes(final String name) {
        final Quota quota = quotas.getOrDefault(name, Quota.NONE);
        return Math.min(limitBytes - guaranteedBytes + quota.guaranteedBytes(), quota.mostBytes());
    }

    long lentBytes(final String name) {
        return lentByName.getOrDefault(name, 0L);
    }

    /** Returns what the quota of a name still leaves; may be less than 0. */
    long quotaLeftBytes(final String name) {
        return mostBytes(name) - lentBytes(name);
    }

    /** Returns what a name can be lent now; may be less than 0. */
    long roomBytes(final String name) {
        return Math.min(quotaLeftBytes(name), limitBytes - lentBytes - reservedBytes + reservedBytes(name));
    }

    private long reservedBytes(final String name) {
        return Math.max(0, guaranteedBytes(name) - lentBytes(name));
    }

    /** Returns what a name has above its guarantee. */
    long excessBytes(final String name) {
        return Math.max(0, lentBytes(name) - guaranteedBytes(name));
    }

    /**
     * Adds a new lease and returns its number. Its memory is yet to be made: the client has it once {@link
     * Account#making} is without the number.
     */
    long lend(final Account account, final long bytes) {
        final long lease = account.nextLease;
        if (!hold(account, lease, bytes)) {
            throw new IllegalStateException("lease=" + lease + " of " + account.name + " must be new");
        }
        account.making.add(lease);
        return lease;
    }

    /**
     * Records that the client has the lease with the number {@code lease}.
     *
     * @return false if the client has another lease of that number; then nothing changes
     */
    boolean hold(final Account account, final long lease, final long bytes) {
        if (account.leases.putIfAbsent(lease, bytes) != null) {
            return false;
        }
        account.nextLease = Math.max(account.nextLease, lease + 1);
        add(account, bytes);
        return true;
    }

    /** Takes a lease off the ledger and returns its size in bytes, or 0 if the client has no lease of that number. */
    long giveBack(final Account account, final long lease) {
        final Long bytes = account.leases.remove(lease);
        if (bytes == null) {
            return 0;
        }
        add(account, -bytes);
        return bytes;
    }

    private void add(final Account account, final long bytes) {
        account.leasedBytes += bytes;
        lentBytes += bytes;
        reservedBytes -= reservedBytes(account.name);
        lentByName.merge(account.name, bytes, (lent, more) -> lent + more == 0 ? null : lent + more);
        reservedBytes += reservedBytes(account.name);
    }
}
