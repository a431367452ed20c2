package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A peer keeps messages for a client that doesn't read, up to a limit. */
class PeerTest {

    @TempDir
    Path folder;

    private Linux linux;
    private int listening;
    private int client;
    private Peer peer;
    private int open;

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        linux = LinuxCalls.find();
        listening = linux.socket(false);
        linux.bind(listening, folder.resolve("lender"));
        linux.listen(listening);
        client = linux.socket(true);
        linux.connect(client, folder.resolve("lender"));
        peer = new Peer(linux, linux.accept(listening), new Linux.Peer(1, 1), 0, new Backlog());
    }

    @AfterEach
    void end() {
        if (peer != null) {
            peer.close();
            assertEquals(0, open);
            linux.close(client);
            linux.close(listening);
        }
    }

    private final class Memory implements LendingDevice.Memory {

        private final int descriptor;

        Memory() throws LinuxException {
            descriptor = linux.event();
            open++;
        }

        @Override
        public int descriptor() {
            return descriptor;
        }

        @Override
        public void close() {
            open--;
            linux.close(descriptor);
        }
    }

    private void sendLeases(final int count) throws LinuxException {
        for (int i = 0; i < count; i++) {
            peer.send(Message.of(MessageType.LEASED, 1, 1, 1), new Memory());
        }
    }

    /** Sends until a message doesn't fit into the socket. */
    private void fill() {
        while (!peer.hasKept()) {
            peer.send(Message.of(MessageType.RETURNED, 1));
        }
    }

    @Test
    void shouldKeepFewDescriptorsForAClientThatDoesNotRead() throws IOException {
        fill();
        sendLeases(Peer.MOST_KEPT_DESCRIPTORS);
        assertNull(peer.doom());
        assertEquals(Peer.MOST_KEPT_DESCRIPTORS, open);

        sendLeases(1);

        assertNotNull(peer.doom());
        assertTrue(open <= Peer.MOST_KEPT_DESCRIPTORS + 1, "open: " + open);
        sendLeases(100);
        assertTrue(open <= Peer.MOST_KEPT_DESCRIPTORS + 1, "open: " + open);
    }

    @Test
    void shouldCountThoseThatAreKeptOnly() throws IOException {
        fill();
        sendLeases(Peer.MOST_KEPT_DESCRIPTORS);
        final byte[] bytes = new byte[Message.BYTES];
        while (peer.hasKept()) {
            final int[] descriptor = new int[1];
            linux.receive(client, bytes, descriptor);
            if (descriptor[0] != Linux.NONE) {
                linux.close(descriptor[0]);
            }
            peer.flush();
        }
        assertEquals(0, open);

        fill();
        sendLeases(Peer.MOST_KEPT_DESCRIPTORS);

        assertNull(peer.doom());
    }

    /**
     * A list of all clients is one long answer, however many clients there are. A client that doesn't read it gets no
     * second one.
     */
    @Test
    void shouldKeepOneLongAnswerAndNoSecond() {
        final List<Message> list =
                Collections.nCopies(2 * LenderStatus.MOST_CLIENTS + 1, Message.of(MessageType.CLIENT, 1));

        peer.send(list);
        assertNull(peer.doom());

        peer.send(list);
        assertNotNull(peer.doom());
    }
}
