package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many clients ask much and read nothing, each no more than one client may. */
@Timeout(120)
class UnreadAnswersTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    /** Answers of 64 bytes; a socket takes some hundred of them, and the lender would keep the rest. */
    private static final int ANSWERS = 4200;

    private static final int CLIENTS = 40;

    @TempDir
    Path folder;

    private final List<RawClient> clients = new ArrayList<>();
    private Lender lender;

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        lender = Lender.of(LendingDevice.memory(8 * UNIT)).start(folder.resolve("lender"));
    }

    @AfterEach
    void end() {
        clients.forEach(RawClient::close);
        if (lender != null) {
            lender.close();
        }
    }

    private RawClient client(final int answers) throws IOException {
        final RawClient client = RawClient.known(lender.socket());
        clients.add(client);
        try {
            for (int i = 0; i < answers; i++) {
                client.send(Message.of(MessageType.LEASE, i, 1));
            }
        } catch (final LinuxException e) {
            // This client is the one that was dropped.
            assertTrue(e.number() == LinuxException.EPIPE || e.number() == LinuxException.ECONNRESET, e::getMessage);
        }
        return client;
    }

    @Test
    void shouldDropThoseWhoLeaveMostAndServeTheOthers() throws IOException {
        final RawClient slow = client(ANSWERS / 4);
        for (int i = 0; i < CLIENTS; i++) {
            client(ANSWERS);
        }

        Await.until(() -> lender.status().clients().size() < CLIENTS, lender::status);
        assertTrue(
                lender.status().clients().size() > CLIENTS / 2,
                () -> lender.status().toString());
        for (int i = 0; i < ANSWERS / 4; i++) {
            assertEquals(i, slow.answer().request());
        }
        try (LenderConnection connection = LenderConnection.connect(lender.socket(), "other")) {
            connection.closeDescriptor(connection.lease(UNIT));
        }
        assertEquals("memory", LenderStatus.of(lender.socket()).device());
    }
}
