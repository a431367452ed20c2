package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;

/** A raw client sends whatever a test has it send. */
final class RawClient implements AutoCloseable {

    private static final int MOST_MILLIS = 5_000;

    private final Linux linux = LinuxCalls.find();
    private final int socket;

    RawClient(final Path lender) throws IOException {
        socket = linux.socket(true);
        linux.connect(socket, lender);
    }

    /** Returns a client that has said who it is. */
    static RawClient known(final Path lender) throws IOException {
        return known(lender, "raw");
    }

    static RawClient known(final Path lender, final String name) throws IOException {
        final RawClient client = new RawClient(lender);
        client.send(new Message(MessageType.HELLO, 1, Message.VERSION, 0, 0, name));
        assertEquals(MessageType.WELCOME, client.answer().type());
        return client;
    }

    void send(final Message message) throws IOException {
        send(message.toBytes(), Linux.NONE);
    }

    void send(final byte[] bytes, final int descriptor) throws IOException {
        while (!linux.send(socket, bytes, descriptor)) {
            await(Linux.WRITABLE);
        }
    }

    /** Returns the next message, and closes a descriptor that comes with it. */
    Message answer() throws IOException {
        final byte[] bytes = new byte[Message.BYTES + 1];
        final int[] descriptor = {Linux.NONE};
        await(Linux.READABLE);
        final Message message = Message.read(bytes, linux.receive(socket, bytes, descriptor));
        if (descriptor[0] != Linux.NONE) {
            linux.close(descriptor[0]);
        }
        return message;
    }

    /** Waits for an event of the socket, since a thread that receives can't be interrupted. */
    private void await(final short event) throws IOException {
        final short[] events = {event};
        linux.poll(new int[] {socket}, events, 1, MOST_MILLIS);
        assertNotEquals(0, events[0], "the lender doesn't answer");
    }

    /** The lender has closed the connection, and sends nothing before that. */
    void assertClosed() throws IOException {
        int length;
        await(Linux.READABLE);
        try {
            length = linux.receive(socket, new byte[Message.BYTES + 1], new int[] {Linux.NONE});
        } catch (final LinuxException e) {
            assertEquals(LinuxException.ECONNRESET, e.number());
            length = 0;
        }
        assertEquals(0, length);
        close();
    }

    @Override
    public void close() {
        linux.close(socket);
    }
}
