package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import io.outboard.service.internal.wire.Refusal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lender is sent what it must not believe, or fails to do what it is asked. Other clients are served as before. */
@Timeout(60)
class LenderRefusalTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    @TempDir
    Path folder;

    private final List<LenderEvent> events = new CopyOnWriteArrayList<>();
    private Path socket;
    private Lender lender;
    private Linux linux;

    /** This device fails when a test tells it to. */
    private final class Device extends MemoryDevice {

        Device() throws IOException {
            super(16 * UNIT);
        }

        @Override
        public Memory create(final long bytes) throws IOException {
            final IOException e = failure;
            if (e != null) {
                throw e;
            }
            if (fullTimes.getAndUpdate(times -> Math.max(0, times - 1)) > 0) {
                throw DeviceOutOfMemoryException.ofDevice(bytes, 0, "not back yet");
            }
            return super.create(bytes);
        }
    }

    private volatile @Nullable IOException failure;
    private final AtomicInteger fullTimes = new AtomicInteger();

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        linux = LinuxCalls.find();
        socket = folder.resolve("lender");
        lender = Lender.of(new Device())
                .quota("little", new Quota(0, 2 * UNIT))
                .events(events::add)
                .start(socket);
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    /** The lender has closed the connection, and lends to others. */
    private void assertClosed(final RawClient raw) throws IOException {
        raw.assertClosed();
        assertLends();
    }

    private void assertLends() throws IOException {
        try (LenderConnection connection = LenderConnection.connect(socket, "other")) {
            connection.closeDescriptor(connection.lease(UNIT));
        }
        Await.until(() -> lender.status().clients().isEmpty(), lender::status);
        assertEquals(0, lender.status().lentBytes());
    }

    @Test
    void shouldRefuseAnotherVersion() throws IOException {
        final RawClient raw = new RawClient(socket);
        raw.send(new Message(MessageType.HELLO, 1, 2, 0, 0, "raw"));

        final Message refused = raw.answer();

        assertEquals(MessageType.REFUSED, refused.type());
        assertEquals(Refusal.VERSION.code(), refused.a());
        assertEquals("version 1", refused.text());
        assertClosed(raw);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 32, 63, 65, 4096})
    void shouldCloseWhatIsNoMessage(final int length) throws IOException {
        final RawClient raw = RawClient.known(socket);

        raw.send(new byte[length], Linux.NONE);

        assertClosed(raw);
    }

    /** A client names leases that it hasn't, sends messages of the lender's, or asks for a lease before its hello. */
    @Test
    void shouldCloseWhatBreaksTheProtocol() throws IOException {
        final RawClient silent = new RawClient(socket);
        silent.send(Message.of(MessageType.LEASE, 1, UNIT));
        assertClosed(silent);
        for (final Message wrong : List.of(
                Message.of(MessageType.RETURN, 1, 7),
                Message.of(MessageType.HELD, 1, 7, UNIT + 1),
                Message.of(MessageType.HELD, 1, -1, UNIT),
                Message.of(MessageType.WELCOME, 1),
                new Message(MessageType.HELLO, 1, Message.VERSION, 0, 0, "raw"))) {
            final RawClient raw = RawClient.known(socket);
            raw.send(wrong);
            assertClosed(raw);
        }
    }

    /**
     * Linux would close a descriptor that comes in the lender's thread, which may take the time that a client chooses
     * ({@code SO_LINGER}).
     */
    @Test
    void shouldHaveLinuxRefuseDescriptors() throws IOException {
        final Matcher release = Pattern.compile("(\\d+)\\.(\\d+).*").matcher(System.getProperty("os.version"));
        assumeTrue(
                release.matches()
                        && 1000 * Integer.parseInt(release.group(1)) + Integer.parseInt(release.group(2)) >= 6016,
                "skipped, needs Linux 6.16");
        final int file = linux.memory(UNIT);
        try (RawClient raw = RawClient.known(socket)) {
            final LinuxException e = assertThrows(
                    LinuxException.class,
                    () -> raw.send(Message.of(MessageType.LIST, 2).toBytes(), file));

            assertEquals(LinuxException.EPERM, e.number());
            raw.send(Message.of(MessageType.LIST, 3));
            assertEquals(3, raw.answer().request());
        } finally {
            linux.close(file);
        }
    }

    /** Returns the calls of a Linux that can't refuse descriptors. */
    private static Linux older() throws IOException {
        return FakeLender.hooked((call, arguments) -> {
            if (call.equals("refuseDescriptors")) {
                throw new LinuxException("setsockopt", LinuxException.ENOPROTOOPT);
            }
        });
    }

    @Test
    void shouldCloseWhoSendsADescriptorOnOlderLinux() throws IOException {
        try (SteppedLender here = new SteppedLender(
                Lender.of(LendingDevice.memory(UNIT)), older(), folder.resolve("other"), Duration.ZERO, events::add)) {
            final RawClient raw = RawClient.known(folder.resolve("other"));
            final int file = linux.memory(UNIT);
            raw.send(new byte[3], file);
            linux.close(file);

            raw.assertClosed();
            assertEquals(0, here.status().clients().size());
        }
    }

    @Test
    void shouldRefuseSizesThatAreNone() throws IOException {
        final RawClient raw = RawClient.known(socket);
        for (final long bytes : new long[] {0, -UNIT, UNIT + 1, Long.MIN_VALUE}) {
            raw.send(Message.of(MessageType.LEASE, 5, bytes));
            final Message refused = raw.answer();
            assertEquals(MessageType.REFUSED, refused.type());
            assertEquals(Refusal.WRONG.code(), refused.a());
            assertEquals(5, refused.request());
        }
        raw.close();
        assertLends();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "\u00e4", "a\nb"})
    void shouldRefuseNamesThatAreNone(final String name) throws IOException {
        final RawClient raw = new RawClient(socket);
        raw.send(new Message(MessageType.HELLO, 1, Message.VERSION, 0, 0, name));

        assertEquals(Refusal.WRONG.code(), raw.answer().a());
        assertClosed(raw);
        assertThrows(IllegalArgumentException.class, () -> LenderConnection.connect(socket, name));
    }

    @Test
    void shouldRefuseAnotherUsersClients() throws IOException {
        lender.close();
        lender = Lender.of(LendingDevice.memory(UNIT))
                .user(4711)
                .events(events::add)
                .start(socket);

        final IOException e = assertThrows(IOException.class, () -> LenderConnection.connect(socket, "a"));

        assertTrue(String.valueOf(e.getMessage()).contains("another user's"), e::getMessage);
        assertEquals(0, lender.status().clients().size());
    }

    @Test
    void shouldSayThatThereAreTooManyClients() throws IOException {
        lender.close();
        lender = Lender.of(LendingDevice.memory(UNIT)).mostClients(1).start(socket);
        try (LenderConnection one = LenderConnection.connect(socket, "a")) {
            final IOException e = assertThrows(IOException.class, () -> LenderConnection.connect(socket, "b"));

            assertEquals("turned away: the lender has too many clients: connections: 1", e.getMessage());
            assertEquals(UNIT, one.unitBytes());
        }
        assertLends();
    }

    /** Linux would report that the connection was reset if the lender left something unread when it closes. */
    @Test
    void shouldLetARefusedClientReadWhyAtOnce() throws Exception {
        try (SteppedLender here = new SteppedLender(
                Lender.of(LendingDevice.memory(UNIT)).mostClients(1),
                older(),
                folder.resolve("other"),
                Duration.ZERO,
                events::add)) {
            final CountDownLatch gate = new CountDownLatch(1);
            here.holdUp(gate);
            final RawClient other = new RawClient(folder.resolve("other"));
            final RawClient crowded = new RawClient(folder.resolve("other"));
            final int file = linux.memory(UNIT);
            for (final RawClient each : List.of(other, crowded)) {
                each.send(new Message(MessageType.HELLO, 1, 2, 0, 0, "raw"));
                each.send(Message.of(MessageType.HELD, 0, 1, UNIT));
                each.send(new byte[3], file);
                each.send(Message.of(MessageType.HELD, 0, 1, UNIT));
            }
            linux.close(file);
            gate.countDown();
            Await.until(() -> events.toString().contains("another version"), () -> events);

            assertEquals(Refusal.VERSION.code(), other.answer().a());
            assertEquals(Refusal.CROWDED.code(), crowded.answer().a());
            other.assertClosed();
            crowded.assertClosed();
        }
    }

    /** Each connection that the lender takes has another one behind it, whose client is gone by then. */
    @Test
    void shouldDoAllElseWhileConnectionsComeWithoutEnd() throws IOException {
        final Path crowded = folder.resolve("other");
        final AtomicBoolean comes = new AtomicBoolean(true);
        final AtomicInteger accepts = new AtomicInteger();
        final Linux endless = FakeLender.hooked((call, arguments) -> {
            if (call.equals("accept") && comes.get()) {
                accepts.incrementAndGet();
                final int client = linux.socket(false);
                linux.connect(client, crowded);
                linux.close(client);
            }
        });
        try (SteppedLender here = new SteppedLender(
                Lender.of(LendingDevice.memory(UNIT)).mostClients(1), endless, crowded, Duration.ZERO, event -> {})) {
            new RawClient(crowded).close();
            Await.until(() -> accepts.get() > 0, () -> accepts);
            final AtomicBoolean ran = new AtomicBoolean();

            here.loop.post(() -> ran.set(true));

            try {
                Await.until(ran::get, () -> accepts);
            } finally {
                comes.set(false);
            }
        }
    }

    @Test
    void shouldRefuseASecondLenderAtOnePath() throws IOException {
        final IOException e = assertThrows(
                IOException.class, () -> Lender.of(LendingDevice.memory(UNIT)).start(socket));

        assertTrue(String.valueOf(e.getMessage()).contains("another lender has it"), e::getMessage);
        assertLends();
    }

    /**
     * A second lender of the same process, by whatever path, must not release the first one's lock when it is refused.
     */
    @Test
    void shouldRefuseAnotherProcessOnceItHasRefusedItsOwn() throws IOException {
        final Path link =
                Files.createSymbolicLink(folder.resolve("link"), folder).resolve("lender");
        for (final Path path : List.of(socket, link)) {
            final IOException e = assertThrows(
                    IOException.class,
                    () -> Lender.of(LendingDevice.memory(UNIT)).start(path));
            assertTrue(String.valueOf(e.getMessage()).contains("another lender has it"), e::getMessage);
        }

        try (Jvm other = Jvm.start(List.of(), OtherLender.class.getName(), socket.toString())) {
            assertEquals("socket=" + socket + " must be free, but another lender has it", other.answer());
        }
        assertLends();
        lender.close();
        lender = Lender.of(LendingDevice.memory(UNIT)).start(link);
    }

    @Test
    void shouldLeaveAFileThatIsNoSocket() throws IOException {
        final Path file = Files.writeString(folder.resolve("file"), "mine");

        assertThrows(
                IOException.class, () -> Lender.of(LendingDevice.memory(UNIT)).start(file));

        assertEquals("mine", Files.readString(file));
        assertThrows(
                IllegalArgumentException.class,
                () -> Lender.of(LendingDevice.memory(UNIT)).start(folder.resolve("x".repeat(120))));
    }

    @Test
    void shouldSayWhyThereIsNoLender() {
        final IOException e =
                assertThrows(IOException.class, () -> LenderConnection.connect(folder.resolve("none"), "a"));

        assertTrue(String.valueOf(e.getMessage()).contains("no lender at"), e::getMessage);
    }

    @Test
    void shouldNameTheQuota() throws IOException {
        try (LenderConnection connection = LenderConnection.connect(socket, "little")) {
            connection.closeDescriptor(connection.lease(UNIT));

            final DeviceOutOfMemoryException e =
                    assertThrows(DeviceOutOfMemoryException.class, () -> connection.lease(2 * UNIT));

            assertTrue(e.reason().contains("quota") && e.reason().contains("little may have 4MiB"), e::reason);
            assertEquals(UNIT, connection.leasedBytes());
            assertThrows(IllegalArgumentException.class, () -> connection.lease(UNIT + 1));
        }
        assertLends();
    }

    @Test
    void shouldRefuseOneRequestWhenTheDeviceFails() throws IOException {
        try (LenderConnection connection = LenderConnection.connect(socket, "a")) {
            failure = new LinuxException("memfd_create", LinuxException.EMFILE);

            final DeviceOutOfMemoryException e =
                    assertThrows(DeviceOutOfMemoryException.class, () -> connection.lease(UNIT));

            assertTrue(e.reason().contains("memfd_create: EMFILE"), e::reason);
            assertEquals(0, lender.status().lentBytes());
            failure = null;
            connection.closeDescriptor(connection.lease(UNIT));
            assertEquals(UNIT, lender.status().lentBytes());
        }
    }

    /** What a dead client held isn't back yet. One client waits for it, others don't. */
    @Test
    void shouldTryAgainUntilTheDeadlineWhatTheDeviceHasNotBackYet() throws IOException {
        try (LenderConnection connection = LenderConnection.connect(socket, "a")) {
            fullTimes.set(7);
            connection.closeDescriptor(connection.lease(UNIT));
            assertEquals(0, fullTimes.get());

            fullTimes.set(Integer.MAX_VALUE);
            connection.deadline(Duration.ofMillis(40));
            final DeviceOutOfMemoryException e =
                    assertThrows(DeviceOutOfMemoryException.class, () -> connection.lease(UNIT));
            assertTrue(e.reason().contains("the device is full"), e::reason);
            assertEquals(UNIT, lender.status().lentBytes());
        }
    }

    /** The lender and its client share a process, so both run out of descriptors. */
    @Test
    void shouldServeOnWhenDescriptorsWereUsedUp() throws IOException {
        try (LenderConnection connection = LenderConnection.connect(socket, "a")) {
            final List<Integer> taken = new ArrayList<>();
            try {
                while (true) {
                    taken.add(linux.event());
                }
            } catch (final LinuxException e) {
                assertTrue(e.isOutOfDescriptors(), e::getMessage);
            }
            final String reason;
            try {
                reason = assertThrows(DeviceOutOfMemoryException.class, () -> connection.lease(UNIT))
                        .reason();
                linux.close(taken.remove(0));
                // The client's end of the connection takes the last descriptor.
                assertThrows(IOException.class, () -> LenderConnection.connect(socket, "b"));
            } finally {
                taken.forEach(linux::close);
            }

            assertTrue(reason.contains("EMFILE"), reason);
            connection.closeDescriptor(connection.lease(UNIT));
            Await.until(() -> lender.status().lentBytes() == UNIT, lender::status);
        }
        assertLends();
        Await.until(() -> events.stream().anyMatch(event -> event.detail().contains("EMFILE")), events::toString);
    }

    /** The lender has only the descriptor that it keeps for this. */
    @Test
    void shouldSayThatItHasNoDescriptorForAClient() throws Exception {
        final Path path = folder.resolve("other");
        final AtomicInteger accepts = new AtomicInteger();
        final Linux without = FakeLender.hooked((call, arguments) -> {
            if (call.equals("accept") && accepts.incrementAndGet() == 1) {
                throw new LinuxException("accept", LinuxException.EMFILE);
            }
        });
        try (SteppedLender here =
                new SteppedLender(Lender.of(LendingDevice.memory(UNIT)), without, path, Duration.ZERO, events::add)) {
            final CountDownLatch gate = new CountDownLatch(1);
            here.holdUp(gate);
            final RawClient raw = new RawClient(path);
            raw.send(new Message(MessageType.HELLO, 1, Message.VERSION, 0, 0, "raw"));
            gate.countDown();

            final Message refused = raw.answer();

            assertEquals(MessageType.REFUSED, refused.type());
            assertEquals(Refusal.CROWDED.code(), refused.a());
            assertEquals("no descriptors left", refused.text());
            raw.assertClosed();
        }
    }

    @Test
    void shouldSayWhatItDoes() throws IOException {
        assertLends();
        lender.close();

        final List<LenderEvent.Kind> kinds =
                events.stream().map(LenderEvent::kind).toList();
        assertEquals(
                List.of(
                        LenderEvent.Kind.STARTED,
                        LenderEvent.Kind.CONNECTED,
                        LenderEvent.Kind.LEASED,
                        LenderEvent.Kind.DISCONNECTED,
                        LenderEvent.Kind.ENDED),
                kinds);
        assertEquals(
                "leased client=other pid=" + ProcessHandle.current().pid() + " bytes=2097152",
                events.get(2).toString());
        assertFalse(Files.exists(socket));
    }
}
