package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A peer is one connection, as the lender sees it. It never waits: messages that the socket has no room for are kept
 * until there is room, and a client that doesn't read for too long is closed, or when the {@link Backlog} of all is too
 * long. Confined to the lender's thread.
 */
final class Peer {

    /**
     * The most messages that are kept: a second's answers, some hundred KiB, far more than a client leaves that reads
     * at all.
     */
    private static final int MOST_KEPT = 4096;

    /** The most messages with a descriptor that are kept, since the lender needs its descriptors for others, too. */
    static final int MOST_KEPT_DESCRIPTORS = 64;

    private static final String DOES_NOT_READ = "it doesn't read what it is sent";

    private record Outgoing(Message message, LendingDevice.@Nullable Memory memory) {

        int descriptors() {
            return memory == null ? 0 : 1;
        }
    }

    /** A standing is what a connection has shown itself to be. */
    enum Standing {
        /** The other end hasn't said yet who it is. */
        UNKNOWN,
        /** The other end said who it is, and was refused. */
        TURNED_AWAY,
        /** The other end only asks for the status. */
        OBSERVER,
        /** The other end is a client, with an account. */
        CLIENT
    }

    private final Linux linux;
    final int socket;
    final Linux.Peer who;

    /** The time by which the other end must have said who it is. */
    final long helloUntilNanos;

    private final Backlog backlog;
    private final Deque<Outgoing> kept = new ArrayDeque<>();

    /** The number of descriptors among the kept messages. */
    private int keptDescriptors;

    /** Whether the first kept message can't be sent for another reason than a lack of room. */
    private boolean rests;

    Standing standing = Standing.UNKNOWN;

    /** The client's account; null if the other end is no client. */
    @Nullable
    Account account;

    /** The reason why the connection must be closed; null if there is none. */
    private @Nullable String doom;

    Peer(final Linux linux, final int socket, final Linux.Peer who, final long helloUntilNanos, final Backlog backlog) {
        this.backlog = backlog;
        this.linux = linux;
        this.socket = socket;
        this.who = who;
        this.helloUntilNanos = helloUntilNanos;
    }

    boolean isKnown() {
        return standing == Standing.OBSERVER || standing == Standing.CLIENT;
    }

    /**
     * Marks the connection to be closed, as soon as nothing uses it any more, and drops what is kept for it. The first
     * reason counts.
     */
    void doom(final String reason) {
        doom = doom == null ? reason : doom;
        final long bytes = keptBytes();
        kept.forEach(Peer::drop);
        kept.clear();
        backlog.remove(this, bytes);
    }

    /** Marks the connection to be closed, since the other end doesn't read. */
    void doomAsUnread() {
        doom(DOES_NOT_READ);
    }

    /** Returns the bytes of the messages that are kept. */
    long keptBytes() {
        return (long) kept.size() * Message.BYTES;
    }

    @Nullable
    String doom() {
        return doom;
    }

    boolean hasKept() {
        return !kept.isEmpty();
    }

    /**
     * Returns whether there are kept messages that can't be sent now though the socket has room: Linux lets a user have
     * only so many descriptors on their way, those that other clients don't take included. {@link #flush} must be
     * called after a pause.
     */
    boolean rests() {
        return rests && hasKept();
    }

    void send(final Message message) {
        send(message, null);
    }

    /** Sends an answer of any number of messages. A client that reads none of them gets no further answers. */
    void send(final List<Message> answer) {
        if (doom == null && kept.size() > MOST_KEPT) {
            doomAsUnread();
        }
        for (final Message message : answer) {
            final Outgoing outgoing = new Outgoing(message, null);
            if (doom == null && (!kept.isEmpty() || !trySend(outgoing))) {
                keep(outgoing);
            }
        }
    }

    /** Sends a message with memory, which is closed once the message is sent, or can't be. */
    void send(final Message message, final LendingDevice.@Nullable Memory memory) {
        final Outgoing outgoing = new Outgoing(message, memory);
        if (doom != null) {
            drop(outgoing);
        } else if (!kept.isEmpty() || !trySend(outgoing)) {
            keptDescriptors += outgoing.descriptors();
            keep(outgoing);
            if (kept.size() > MOST_KEPT || keptDescriptors > MOST_KEPT_DESCRIPTORS) {
                doomAsUnread();
            }
        }
    }

    private void keep(final Outgoing outgoing) {
        kept.add(outgoing);
        backlog.add(this, Message.BYTES);
    }

    /** Sends kept messages, as there may be room now. */
    void flush() {
        // What can't be sent dooms the connection, and then nothing is kept any more.
        while (!kept.isEmpty() && trySend(kept.element()) && doom == null) {
            keptDescriptors -= kept.remove().descriptors();
            backlog.remove(this, Message.BYTES);
        }
    }

    /** Sends a message. Returns false if there is no room. */
    private boolean trySend(final Outgoing outgoing) {
        boolean sent = true;
        rests = false;
        try {
            sent = linux.send(
                    socket,
                    outgoing.message.toBytes(),
                    outgoing.memory == null ? Linux.NONE : outgoing.memory.descriptor());
        } catch (final LinuxException e) {
            rests = e.number() == LinuxException.ETOOMANYREFS;
            sent = !rests;
            if (!rests) {
                doom(e.getMessage());
            }
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

    /** Closes the connection, which is doomed or whose lender ends. */
    void close() {
        try {
            doom("");
        } finally {
            hangUp(linux, socket);
        }
    }

    /**
     * Closes a connection so that the other end can still read what it was sent. If something were left unread here,
     * Linux would report ECONNRESET there first.
     */
    static void hangUp(final Linux linux, final int socket) {
        // From then on the other end sends nothing.
        linux.shutdown(socket);
        final byte[] unread = new byte[Message.BYTES];
        boolean more = true;
        while (more) {
            try {
                more = linux.receive(socket, unread, new int[0]) > 0;
            } catch (final LinuxException e) {
                more = e.number() == LinuxException.EBADMSG;
            }
        }
        linux.close(socket);
    }
}
