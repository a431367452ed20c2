package io.outboard.service;

import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import io.outboard.service.internal.wire.Refusal;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Shares are leases that several clients have on purpose: a client that knows a lease's ticket may open it. The ledger
 * counts a shared lease once, to the client that has had it longest of those that still have it. When the last client
 * has closed it, it is gone. Until then the lender keeps its descriptor, for clients that open it later.
 *
 * <p>A lender that follows another is told which shared leases there are, but has no descriptor of them: they are still
 * counted once, and can't be opened any more. Confined to the lender's thread.
 */
final class Shares {

    /**
     * The most shared leases of all clients together. Each costs the lender a descriptor, of which others need some.
     */
    static final int MOST = 512;

    /** The most shared leases that a client may have, whoever made them. Each costs the lender some hundred bytes. */
    static final int MOST_OF_A_CLIENT = 1024;

    private static final int TICKET_BYTES = 16;

    private record Holder(Account account, long lease) {}

    /** A share is one shared lease. */
    static final class Share {

        private final String ticket;
        private final long bytes;
        private final Set<Holder> holders = new LinkedHashSet<>();
        private final LendingDevice.@Nullable Memory memory;

        /**
         * The number of messages with the descriptor that are on their way, plus 1 while some client has the lease.
         * Until the number is 0, the descriptor stays open, so that no other file can get the descriptor's number.
         */
        private int uses = 1;

        private Share(final String ticket, final long bytes, final LendingDevice.@Nullable Memory memory) {
            this.ticket = ticket;
            this.bytes = bytes;
            this.memory = memory;
        }

        String ticket() {
            return ticket;
        }

        /** Returns the descriptor for one message. */
        LendingDevice.Memory forSending() {
            if (memory == null) {
                throw new IllegalStateException("the ticket is void");
            }
            uses++;
            final int descriptor = memory.descriptor();
            return new LendingDevice.Memory() {

                private boolean closed;

                @Override
                public int descriptor() {
                    return descriptor;
                }

                @Override
                public void close() {
                    if (!closed) {
                        closed = true;
                        endUse();
                    }
                }
            };
        }

        private void endUse() {
            uses--;
            if (uses == 0 && memory != null) {
                memory.close();
            }
        }
    }

    private final Ledger ledger;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Share> shares = new HashMap<>();

    Shares(final Ledger ledger) {
        this.ledger = ledger;
    }

    boolean isFull() {
        return shares.size() >= MOST;
    }

    private static boolean isFull(final Account account) {
        return account.shares.size() >= MOST_OF_A_CLIENT;
    }

    /** Turns a lease on the ledger into a shared one, which others may open. */
    Share add(final Account account, final long lease, final long bytes, final LendingDevice.Memory memory) {
        final byte[] ticket = new byte[TICKET_BYTES];
        random.nextBytes(ticket);
        final StringBuilder text = new StringBuilder();
        for (final byte each : ticket) {
            text.append(String.format("%02x", each));
        }
        final Share share = new Share(text.toString(), bytes, memory);
        shares.put(share.ticket, share);
        join(share, account, lease);
        return share;
    }

    private static void join(final Share share, final Account account, final long lease) {
        share.holders.add(new Holder(account, lease));
        account.shares.put(lease, share);
        account.nextLease = Math.max(account.nextLease, lease + 1);
    }

    /**
     * Records that a client has a lease from a lender that has ended; it is shared if there is a ticket.
     *
     * @param counts whether the lease is counted
     * @return false if that is impossible; then nothing changes
     */
    boolean hold(final Account account, final long lease, final long bytes, final String ticket, final boolean counts) {
        if (ticket.isEmpty() && !counts) {
            account.uncounted.put(lease, bytes);
            account.nextLease = Math.max(account.nextLease, lease + 1);
            return true;
        }
        if (ticket.isEmpty()) {
            return ledger.hold(account, lease, bytes);
        }
        final Share known = shares.get(ticket);
        if (known != null && known.bytes != bytes) {
            // One of the clients is wrong, and nobody can tell which. So each is recorded to have what it states.
            return hold(account, lease, bytes, "", counts);
        }
        if (!ticket.matches("[0-9a-f]{32}") || isFull(account)) {
            return false;
        }
        final Share share = known == null ? new Share(ticket, bytes, null) : known;
        if (known == null) {
            shares.put(ticket, share);
        }
        // It is counted once, for the first holder with room.
        if (counts && share.holders.stream().noneMatch(each -> each.account.leases.containsKey(each.lease))) {
            ledger.hold(account, lease, bytes);
        }
        join(share, account, lease);
        return true;
    }

    /** Answers a client that opens a ticket. Returns true if the client got the lease. */
    boolean open(final Peer peer, final Account account, final Message message) {
        final Share share = shares.get(message.text());
        LendingDevice.Memory descriptor = null;
        String detail = "";
        Refusal why = Refusal.TICKET;
        if (isFull(account)) {
            why = Refusal.WRONG;
            detail = "open: " + MOST_OF_A_CLIENT + " at most";
        } else if (share != null && share.memory != null) {
            try {
                descriptor = message.a() == Message.READ_ONLY ? share.memory.readOnly() : null;
                descriptor = descriptor == null ? share.forSending() : descriptor;
            } catch (final IOException e) {
                why = Refusal.FAILED;
                detail = String.valueOf(e.getMessage());
            }
        }
        if (share == null || descriptor == null) {
            peer.send(new Message(MessageType.REFUSED, message.request(), why.code(), 0, ledger.limitBytes(), detail));
            return false;
        }
        final long lease = account.nextLease;
        join(share, account, lease);
        peer.send(
                new Message(MessageType.OPENED, message.request(), lease, share.bytes, message.a(), share.ticket),
                descriptor);
        return true;
    }

    /** Takes a lease from a client, shared or not. Returns its size in bytes, or 0 if the client has no such lease. */
    long giveBack(final Account account, final long lease) {
        final Share share = account.shares.remove(lease);
        if (share == null) {
            final Long uncountedBytes = account.uncounted.remove(lease);
            return uncountedBytes == null ? ledger.giveBack(account, lease) : uncountedBytes;
        }
        share.holders.remove(new Holder(account, lease));
        final boolean wasCounted = ledger.giveBack(account, lease) > 0;
        if (share.holders.isEmpty()) {
            shares.remove(share.ticket);
            share.endUse();
        } else if (wasCounted) {
            // The next holder's quota doesn't matter, since it holds the lease already.
            final Holder next = share.holders.iterator().next();
            ledger.hold(next.account, next.lease, share.bytes);
        }
        return share.bytes;
    }

    /** Takes all shared leases from a client that is gone. */
    void leave(final Account account) {
        for (final long lease :
                account.shares.keySet().stream().mapToLong(Long::longValue).toArray()) {
            giveBack(account, lease);
        }
    }
}
