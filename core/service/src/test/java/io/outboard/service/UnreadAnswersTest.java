package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
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

    /** Fewer answers than the lender keeps for one client. */
    private static final int ANSWERS = 4000;

    /** Together, they get more answers than the lender keeps. */
    private static final int CLIENTS = 40;

    @TempDir
    Path folder;

    private final List<RawClient> clients = new ArrayList<>();
    private Path socket;
    private SteppedLender lender;

    /** Whether the lender's sockets take nothing more; what they take otherwise differs from machine to machine. */
    private volatile boolean isFull;

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        socket = folder.resolve("lender");
        lender = new SteppedLender(
                Lender.of(LendingDevice.memory(8 * UNIT)), linux(), socket, Duration.ZERO, event -> {});
    }

    @AfterEach
    void end() {
        clients.forEach(RawClient::close);
        if (lender != null) {
            lender.close();
        }
    }

    private Linux linux() throws IOException {
        final Linux linux = LinuxCalls.find();
        return (Linux) Proxy.newProxyInstance(
                Linux.class.getClassLoader(), new Class<?>[] {Linux.class}, (proxy, method, arguments) -> {
                    if (isFull && method.getName().equals("send")) {
                        return false;
                    }
                    if (isFull && method.getName().equals("poll")) {
                        final short[] events = (short[]) arguments[1];
                        for (int i = 0; i < events.length; i++) {
                            events[i] &= ~Linux.WRITABLE;
                        }
                    }
                    try {
                        return method.invoke(linux, arguments);
                    } catch (final InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private RawClient client() throws IOException {
        final RawClient client = RawClient.known(socket);
        clients.add(client);
        return client;
    }

    private static void ask(final RawClient client, final int answers) throws IOException {
        try {
            for (int i = 0; i < answers; i++) {
                client.send(Message.of(MessageType.LEASE, i, 1));
            }
        } catch (final LinuxException e) {
            // This client is the one that was dropped.
            assertTrue(e.number() == LinuxException.EPIPE || e.number() == LinuxException.ECONNRESET, e::getMessage);
        }
    }

    @Test
    void shouldDropThoseWhoLeaveMostAndServeTheOthers() throws IOException {
        final RawClient slow = client();
        for (int i = 0; i < CLIENTS; i++) {
            client();
        }
        isFull = true;

        ask(slow, ANSWERS / 4);
        for (final RawClient client : clients.subList(1, clients.size())) {
            ask(client, ANSWERS);
        }

        Await.until(() -> lender.status().clients().size() < CLIENTS, lender::status);
        assertTrue(
                lender.status().clients().size() > CLIENTS / 2,
                () -> lender.status().toString());
        isFull = false;
        // The lender's thread waits for room from now on.
        assertEquals("memory", lender.status().device());
        for (int i = 0; i < ANSWERS / 4; i++) {
            assertEquals(i, slow.answer().request());
        }
        try (LenderConnection connection = LenderConnection.connect(socket, "other")) {
            connection.closeDescriptor(connection.lease(UNIT));
        }
        assertEquals("memory", LenderStatus.of(socket).device());
    }
}
