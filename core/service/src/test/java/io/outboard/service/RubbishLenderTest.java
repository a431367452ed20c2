package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What listens at the path isn't a lender, or has a fault. Clients get an error, and don't wait without end. */
@Timeout(60)
class RubbishLenderTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final Message WELCOME = new Message(MessageType.WELCOME, 0, UNIT, 0, 8 * UNIT, "memory");

    @TempDir
    Path folder;

    private final List<Thread> threads = new ArrayList<>();
    private final List<Integer> sockets = new ArrayList<>();
    private Linux linux;
    private Path socket;
    private volatile boolean ended;

    /** Whether the connection stays open after the last answer. */
    private volatile boolean isSilent;

    /** The answers, each to one message; an empty array stands for a list without end. */
    private volatile List<byte[]> answers = List.of();

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        linux = LinuxCalls.find();
        socket = folder.resolve("lender");
        final int listening = linux.socket(false);
        linux.bind(listening, socket);
        linux.listen(listening);
        sockets.add(listening);
        inThread(() -> accept(listening));
    }

    @AfterEach
    void end() throws InterruptedException {
        if (linux == null) {
            return;
        }
        ended = true;
        synchronized (this) {
            sockets.forEach(linux::shutdown);
        }
        for (final Thread thread : copyOfThreads()) {
            thread.join();
        }
        sockets.forEach(linux::close);
    }

    private synchronized List<Thread> copyOfThreads() {
        return List.copyOf(threads);
    }

    private interface Work {
        void run() throws IOException;
    }

    private synchronized void inThread(final Work work) {
        final Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (final IOException e) {
                if (!ended && !String.valueOf(e.getMessage()).contains("closed")) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        threads.add(thread);
        thread.start();
    }

    private void accept(final int listening) throws IOException {
        while (!ended) {
            linux.poll(new int[] {listening}, new short[] {Linux.READABLE}, 1, 50);
            final int accepted = ended ? Linux.NONE : linux.accept(listening);
            if (accepted != Linux.NONE) {
                synchronized (this) {
                    sockets.add(accepted);
                }
                inThread(() -> answer(accepted));
            }
        }
    }

    private void answer(final int accepted) throws IOException {
        for (final byte[] answer : answers) {
            linux.poll(new int[] {accepted}, new short[] {Linux.READABLE}, 1, -1);
            final byte[] heard = new byte[Message.BYTES];
            if (ended || linux.receive(accepted, heard, new int[1]) == 0) {
                return;
            }
            if (answer.length > 0) {
                // The answer names the request that it answers, since a client ignores all others.
                System.arraycopy(
                        heard, 4, answer, Math.min(4, answer.length), Math.min(4, Math.max(0, answer.length - 4)));
                linux.send(accepted, answer, Linux.NONE);
            } else {
                babble(accepted);
            }
        }
        if (!isSilent) {
            linux.shutdown(accepted);
        }
    }

    private void babble(final int accepted) throws IOException {
        final byte[] client = new Message(MessageType.CLIENT, 1, 0, 0, 0, "x").toBytes();
        final byte[] limits = Message.of(MessageType.LIMITS, 1).toBytes();
        for (int i = 0; !ended; ) {
            if (linux.send(accepted, i % 2 == 0 ? client : limits, Linux.NONE)) {
                i++;
            } else {
                linux.poll(new int[] {accepted}, new short[] {Linux.WRITABLE}, 1, 50);
            }
        }
    }

    static Stream<byte[]> rubbish() {
        return Stream.of(
                new byte[1],
                new byte[63],
                new byte[64],
                new byte[65],
                Message.of(MessageType.LEASED, 0, 1, UNIT).toBytes(),
                Message.of(MessageType.HELLO, 0, 1, UNIT).toBytes(),
                new Message(MessageType.WELCOME, 0, 0, 0, UNIT, "memory").toBytes(),
                new Message(MessageType.WELCOME, 0, 3, 0, UNIT, "memory").toBytes(),
                new Message(MessageType.WELCOME, 0, Long.MIN_VALUE, 0, UNIT, "memory").toBytes(),
                new Message(MessageType.WELCOME, 0, UNIT, -1, UNIT, "memory").toBytes(),
                new Message(MessageType.WELCOME, 0, UNIT, 0, -1, "memory").toBytes());
    }

    @ParameterizedTest
    @MethodSource("rubbish")
    void shouldNotConnectToWhatIsNoLender(final byte[] answer) {
        answers = List.of(answer);

        assertThrows(IOException.class, () -> LenderConnection.connect(socket, "a"));
        assertThrows(IOException.class, () -> LenderStatus.of(socket));
    }

    @ParameterizedTest
    @MethodSource("rubbish")
    void shouldNotBelieveWhatIsNoLease(final byte[] answer) throws IOException {
        answers = List.of(WELCOME.toBytes(), answer);
        try (LenderConnection connection = LenderConnection.connect(socket, "a")) {
            final DeviceOutOfMemoryException e =
                    assertThrows(DeviceOutOfMemoryException.class, () -> connection.lease(2 * UNIT));

            assertTrue(e.reason().contains("lender"), e::reason);
            assertEquals(0, connection.leasedBytes());
        }
    }

    @ParameterizedTest
    @MethodSource("rubbish")
    void shouldNotBelieveWhatIsNoList(final byte[] answer) {
        answers = List.of(WELCOME.toBytes(), answer);

        assertThrows(IOException.class, () -> LenderStatus.of(socket));
    }

    @Test
    void shouldEndAListWithoutEnd() {
        answers = List.of(WELCOME.toBytes(), new byte[0]);

        final IOException e = assertThrows(IOException.class, () -> LenderStatus.of(socket));

        assertTrue(String.valueOf(e.getMessage()).contains("16384"), e::getMessage);
    }

    @Test
    void shouldNotWaitForEver() {
        isSilent = true;
        answers = List.of(WELCOME.toBytes());

        final IOException e = assertThrows(IOException.class, () -> LenderStatus.of(socket, 100));

        assertTrue(String.valueOf(e.getMessage()).contains("doesn't answer, after 100 ms"), e::getMessage);
    }
}
