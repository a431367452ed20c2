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
 * Leases that several clients have, on purpose: who knows a lease's ticket may open it. It is on the ledger once, for
 * the client that has had it longest of those that still have it; when the last one has closed it, it is gone. As long
 * as somebody has it the lender keeps its descriptor, for those who open it next.
 *
 * <p>A lender that follows another is told which shared leases there are, and has no descriptor of them: they are
 * counted once as before, and can't be opened any more. Confined to the lender's thread.
 */
final class Shares {

    /** All clients' together: each costs the lender a descriptor, and others need some. */
    static final int MOST = 512;

    /** Of one client, whoever made them: each costs the lender some hundred bytes. */
    static final int MOST_OF_A_CLIENT = 1024;

    private static final int TICKET_BYTES = 16;

    private record Holder(Account account, long lease) {}

    /** One lease. */
    static final class Share {

        private final String ticket;
        private final long bytes;
        private final Set<Holder> holders = new LinkedHashSet<>();
        private final LendingDevice.@Nullable Memory memory;

        /**
         * What is being sent, and one while somebody has the lease: the descriptor's number mustn't become another's
         * meanwhile.
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

        /** The descriptor, for one message. */
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

    /** A lease that is on the ledger becomes one that others may open. */
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
     * A client has a lease from a lender that has ended, shared if there is a ticket.
     *
     * @return false if that can't be; nothing changes
     */
    boolean hold(final Account account, final long lease, final long bytes, final String ticket) {
        if (ticket.isEmpty()) {
            return !account.shares.containsKey(lease) && ledger.hold(account, lease, bytes);
        }
        final Share known = shares.get(ticket);
        if (known != null && known.bytes != bytes) {
            // One of them is wrong, and nobody can tell which: each has what it says.
            return hold(account, lease, bytes, "");
        }
        if (!ticket.matches("[0-9a-f]{32}")
                || isFull(account)
                || account.shares.containsKey(lease)
                || account.leases.containsKey(lease)) {
            return false;
        }
        final Share share = known == null ? new Share(ticket, bytes, null) : known;
        if (known == null) {
            shares.put(ticket, share);
            ledger.hold(account, lease, bytes);
        }
        join(share, account, lease);
        return true;
    }

    /** What is sent to a client that opens a ticket; whether it got it. */
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

    /**
     * A client has a lease no longer, shared or not; its size, in bytes, and 0 if the client hasn't one of that number.
     */
    long giveBack(final Account account, final long lease) {
        final Share share = account.shares.remove(lease);
        if (share == null) {
            return ledger.giveBack(account, lease);
        }
        share.holders.remove(new Holder(account, lease));
        final boolean wasCounted = ledger.giveBack(account, lease) > 0;
        if (share.holders.isEmpty()) {
            shares.remove(share.ticket);
            share.endUse();
        } else if (wasCounted) {
            // Whatever its quota says, as it holds that already.
            final Holder next = share.holders.iterator().next();
            ledger.hold(next.account, next.lease, share.bytes);
        }
        return share.bytes;
    }

    /** A client is gone. */
    void leave(final Account account) {
        for (final long lease :
                account.shares.keySet().stream().mapToLong(Long::longValue).toArray()) {
            giveBack(account, lease);
        }
    }
}
