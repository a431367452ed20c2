package io.outboard.service;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Who has been lent how much, and who may be lent more. Numbers only: the memory is the device's, and nothing here
 * waits.
 *
 * <p>Whoever connects by one name shares its {@link Quota}. What is guaranteed to a name and not lent to it is
 * reserved, whether anybody of that name is connected or not:
 *
 * <pre>{@code
 *   |  lent to a      |  lent to b | reserved for b |  room for a, as far as its quota goes  |
 *   0                                                                                  limitBytes
 * }</pre>
 *
 * <p>After the lender was started anew, clients state what they hold, and that is true whatever the quotas say: then
 * there may be less than no room. Confined to the lender's thread. O(names) for each call.
 */
final class Ledger {

    private final long limitBytes;
    private final Map<String, Quota> quotas;
    private final Set<Account> accounts = new LinkedHashSet<>();
    private final Map<String, Long> lentByName = new HashMap<>();
    private long lentBytes;

    /**
     * Nothing is lent.
     *
     * @throws IllegalArgumentException if more is guaranteed than there is
     */
    Ledger(final long limitBytes, final Map<String, Quota> quotas) {
        this.limitBytes = limitBytes;
        this.quotas = Map.copyOf(quotas);
        long guaranteedBytes = 0;
        for (final Quota quota : quotas.values()) {
            if (quota.guaranteedBytes() > limitBytes - guaranteedBytes) {
                throw new IllegalArgumentException(
                        "quotas=" + quotas + " must guarantee limitBytes=" + limitBytes + " at most, all together");
            }
            guaranteedBytes += quota.guaranteedBytes();
        }
    }

    Account open(final String name, final int pid) {
        final Account account = new Account(name, pid);
        accounts.add(account);
        return account;
    }

    /** All of its leases are off; how much that was, in bytes. */
    long close(final Account account) {
        final long bytes = account.leasedBytes;
        List.copyOf(account.leases.keySet()).forEach(lease -> giveBack(account, lease));
        accounts.remove(account);
        return bytes;
    }

    Collection<Account> accounts() {
        return accounts;
    }

    /** Those that are as open as this one, in the order of what they have, most first. */
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

    /** What a name may ever be lent: its quota, and what others' guarantees leave. */
    long mostBytes(final String name) {
        long bytes = limitBytes;
        for (final Map.Entry<String, Quota> quota : quotas.entrySet()) {
            bytes -= quota.getKey().equals(name) ? 0 : quota.getValue().guaranteedBytes();
        }
        return Math.min(bytes, quotas.getOrDefault(name, Quota.NONE).mostBytes());
    }

    long lentBytes(final String name) {
        return lentByName.getOrDefault(name, 0L);
    }

    /** What a name's quota still leaves; may be less than nothing. */
    long quotaLeftBytes(final String name) {
        return mostBytes(name) - lentBytes(name);
    }

    /** What a name can be lent now; may be less than nothing. */
    long roomBytes(final String name) {
        long reservedBytes = 0;
        for (final Map.Entry<String, Quota> quota : quotas.entrySet()) {
            if (!quota.getKey().equals(name)) {
                reservedBytes += Math.max(0, quota.getValue().guaranteedBytes() - lentBytes(quota.getKey()));
            }
        }
        return Math.min(quotaLeftBytes(name), limitBytes - lentBytes - reservedBytes);
    }

    /** What a name has above what is guaranteed to it. */
    long excessBytes(final String name) {
        return Math.max(0, lentBytes(name) - guaranteedBytes(name));
    }

    /** A new lease; its number. Its memory is to be made: until {@link Account#making} is without it, nobody has it. */
    long lend(final Account account, final long bytes) {
        final long lease = account.nextLease;
        if (!hold(account, lease, bytes)) {
            throw new IllegalStateException("lease=" + lease + " of " + account.name + " must be new");
        }
        account.making.add(lease);
        return lease;
    }

    /**
     * The client has a lease of that number.
     *
     * @return false if another one has the number; nothing changes
     */
    boolean hold(final Account account, final long lease, final long bytes) {
        if (account.leases.putIfAbsent(lease, bytes) != null) {
            return false;
        }
        account.nextLease = Math.max(account.nextLease, lease + 1);
        add(account, bytes);
        return true;
    }

    /** The lease's size, in bytes; 0 if the client hasn't one of that number. */
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
        lentByName.merge(account.name, bytes, Long::sum);
        lentByName.values().removeIf(sum -> sum == 0);
    }
}
