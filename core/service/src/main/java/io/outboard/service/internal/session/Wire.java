package io.outboard.service.internal.session;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import io.outboard.service.internal.wire.Refusal;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A wire is a client's end of a connection. It sends without waiting for long, and one thread reads. Once the socket is
 * closed, its number may become another file's, so a thread that sends or closes holds the monitor.
 */
public final class Wire {

    /** The longest wait for an answer that a lender can give at once. */
    public static final int ANSWER_MILLIS = 10_000;

    /**
     * The longest wait to send. A lender reads at once, so a lender that makes a client wait longer is as good as gone.
     */
    private static final int SEND_MILLIS = 5_000;

    private final Linux linux;
    private final int socket;
    private final int answerMillis;
    private boolean closed;

    private Wire(final Linux linux, final int socket, final int answerMillis) {
        this.linux = linux;
        this.socket = socket;
        this.answerMillis = answerMillis;
    }

    /** A message that came has its descriptor with it, or {@link Linux#NONE}. */
    public record Incoming(Message message, int descriptor) {}

    /** Connects, and checks that the lender runs as the same user. */
    public static Wire open(final Linux linux, final Path path) throws IOException {
        return open(linux, path, ANSWER_MILLIS);
    }

    /** Connects as {@link #open(Linux, Path)} does, to wait {@code answerMillis} for each answer. */
    public static Wire open(final Linux linux, final Path path, final int answerMillis) throws IOException {
        final Wire wire = new Wire(linux, linux.socket(true), answerMillis);
        boolean done = false;
        try {
            linux.connect(wire.socket, path);
            final int uid = linux.peer(wire.socket).uid();
            if (uid != linux.user()) {
                throw new IOException("socket=" + path + " must be of a lender of user " + linux.user()
                        + ", and is of user " + uid + "'s");
            }
            done = true;
            return wire;
        } catch (final LinuxException e) {
            throw new IOException("no lender at socket=" + path + ": " + e.getMessage(), e);
        } finally {
            if (!done) {
                wire.close();
            }
        }
    }

    /** Tells the lender who this client is, and returns its welcome. */
    public Message hello(final String name, final boolean observes) throws IOException {
        try {
            send(new Message(MessageType.HELLO, 0, Message.VERSION, observes ? Message.OBSERVER : 0, 0, name));
        } catch (final LinuxException e) {
            if (e.number() != LinuxException.EPIPE) {
                throw e;
            }
            // A lender with too many clients says so before it is asked, and closes. What it said can still be read.
        }
        final Message answer = answer();
        if (answer.type() == MessageType.REFUSED) {
            throw new IOException("turned away: " + Refusal.of(answer.a()).sentence() + ": " + answer.text());
        }
        if (answer.type() != MessageType.WELCOME
                || answer.a() <= 0
                || Long.bitCount(answer.a()) != 1
                || answer.b() < 0
                || answer.c() < 0) {
            throw new ProtocolException("a lender must welcome with units and a quota, and this one says " + answer);
        }
        return answer;
    }

    /** Returns the next message, which must come soon, and without a descriptor. */
    public Message answer() throws IOException {
        if (!await(answerMillis)) {
            throw new IOException("the lender doesn't answer, after " + answerMillis + " ms");
        }
        final Incoming incoming = receive();
        closeDescriptor(incoming.descriptor());
        return incoming.message();
    }

    public synchronized void send(final Message message) throws IOException {
        final byte[] bytes = message.toBytes();
        final long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SEND_MILLIS);
        while (true) {
            if (closed) {
                throw new IOException("the connection is closed");
            }
            if (linux.send(socket, bytes, Linux.NONE)) {
                return;
            }
            final long left = end - System.nanoTime();
            if (left <= 0) {
                throw new IOException("the lender reads nothing, after " + SEND_MILLIS + " ms");
            }
            linux.poll(
                    new int[] {socket}, new short[] {Linux.WRITABLE}, 1, (int) TimeUnit.NANOSECONDS.toMillis(left) + 1);
        }
    }

    /**
     * Returns whether a message, or the end of the connection, comes within {@code millis}. Only for the thread that
     * reads.
     */
    public boolean await(final int millis) throws IOException {
        final short[] events = {Linux.READABLE};
        linux.poll(new int[] {socket}, events, 1, millis);
        return events[0] != 0;
    }

    /** Waits for the next message and returns it. Only for the thread that reads. */
    public Incoming receive() throws IOException {
        final byte[] bytes = new byte[Message.BYTES + 1];
        final int[] descriptor = new int[1];
        int length;
        try {
            length = linux.receive(socket, bytes, descriptor);
        } catch (final LinuxException e) {
            if (e.number() != LinuxException.ECONNRESET) {
                throw e;
            }
            // The lender has closed without reading everything; what it has sent before is still there.
            length = linux.receive(socket, bytes, descriptor);
        }
        if (length == 0) {
            throw new IOException("the lender has closed the connection");
        }
        try {
            return new Incoming(Message.read(bytes, length), descriptor[0]);
        } catch (final IOException e) {
            closeDescriptor(descriptor[0]);
            throw e;
        }
    }

    public void closeDescriptor(final int descriptor) {
        if (descriptor != Linux.NONE) {
            linux.close(descriptor);
        }
    }

    /** Wakes the thread that reads, which then closes the wire. */
    public synchronized void shutdown() {
        if (!closed) {
            linux.shutdown(socket);
        }
    }

    /** Closes the wire; only for the thread that reads. Idempotent. */
    public synchronized void close() {
        if (!closed) {
            closed = true;
            linux.close(socket);
        }
    }
}
