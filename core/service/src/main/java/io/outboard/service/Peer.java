package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One connection, as the lender has it. Never waits: what there is no room for is kept until there is, and who doesn't
 * read for too long is given up. Confined to the lender's thread.
 */
final class Peer {

    /** Far more than who reads at all leaves: a second's answers, and some hundred KiB. */
    private static final int MOST_KEPT = 4096;

    /** Of those, leases with a descriptor each: the lender needs its descriptors for others, too. */
    static final int MOST_KEPT_DESCRIPTORS = 64;

    private static final String DOES_NOT_READ = "it doesn't read what it is sent";

    private record Outgoing(Message message, LendingDevice.@Nullable Memory memory) {

        int descriptors() {
            return memory == null ? 0 : 1;
        }
    }

    /** What it has shown itself to be. */
    enum Standing {
        /** It hasn't said yet who it is. */
        UNKNOWN,
        /** It said so, and was refused. */
        TURNED_AWAY,
        /** It only looks. */
        OBSERVER,
        /** It has an account. */
        CLIENT
    }

    private final Linux linux;
    final int socket;
    final Linux.Peer who;

    /** Until when it must have said who it is. */
    final long helloUntilNanos;

    private final Deque<Outgoing> kept = new ArrayDeque<>();

    /** Of those that are kept. */
    private int keptDescriptors;

    Standing standing = Standing.UNKNOWN;

    /** Only a client has one. */
    @Nullable
    Account account;

    /** Why it is to be closed; null if it isn't. */
    private @Nullable String doom;

    Peer(final Linux linux, final int socket, final Linux.Peer who, final long helloUntilNanos) {
        this.linux = linux;
        this.socket = socket;
        this.who = who;
        this.helloUntilNanos = helloUntilNanos;
    }

    boolean isKnown() {
        return standing == Standing.OBSERVER || standing == Standing.CLIENT;
    }

    /** It is to be closed when nobody is in the middle of something with it. The first reason counts. */
    void doom(final String reason) {
        doom = doom == null ? reason : doom;
    }

    @Nullable
    String doom() {
        return doom;
    }

    boolean hasKept() {
        return !kept.isEmpty();
    }

    void send(final Message message) {
        send(message, null);
    }

    /** One answer, as long as it may be: who reads none of it isn't told more. */
    void send(final List<Message> answer) {
        if (doom == null && kept.size() > MOST_KEPT) {
            doom(DOES_NOT_READ);
        }
        for (final Message message : answer) {
            final Outgoing outgoing = new Outgoing(message, null);
            if (doom == null && (!kept.isEmpty() || !trySend(outgoing))) {
                kept.add(outgoing);
            }
        }
    }

    /** The memory is closed once it is sent, or can't be. */
    void send(final Message message, final LendingDevice.@Nullable Memory memory) {
        final Outgoing outgoing = new Outgoing(message, memory);
        if (doom != null) {
            drop(outgoing);
        } else if (!kept.isEmpty() || !trySend(outgoing)) {
            kept.add(outgoing);
            keptDescriptors += outgoing.descriptors();
            if (kept.size() > MOST_KEPT || keptDescriptors > MOST_KEPT_DESCRIPTORS) {
                doom(DOES_NOT_READ);
            }
        }
    }

    /** There may be room now. */
    void flush() {
        while (doom == null && !kept.isEmpty() && trySend(kept.element())) {
            keptDescriptors -= kept.remove().descriptors();
        }
    }

    /** False if there is no room. */
    private boolean trySend(final Outgoing outgoing) {
        boolean sent = true;
        try {
            sent = linux.send(
                    socket,
                    outgoing.message.toBytes(),
                    outgoing.memory == null ? Linux.NONE : outgoing.memory.descriptor());
        } catch (final LinuxException e) {
            doom(e.getMessage());
        }
        if (sent) {
            drop(outgoing);
        }
        return sent;
    }

    private static void drop(final Outgoing outgoing) {
        if (outgoing.memory != null) {
            outgoing.memory.close();
        }
    }

    void close() {
        kept.forEach(Peer::drop);
        kept.clear();
        linux.close(socket);
    }
}
