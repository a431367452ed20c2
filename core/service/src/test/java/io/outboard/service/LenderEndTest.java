package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.timer.Timer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A lender that ends leaves nothing open, and touches nothing that it has closed. */
@Timeout(120)
class LenderEndTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final int LENDERS = 50;

    /** The time given to another thread to do what it mustn't. */
    private static final int WRONG_MILLIS = 300;

    @TempDir
    Path folder;

    @BeforeEach
    void requireLeases() {
        Jvm.assumeLeases();
    }

    /** The lenders have a process of their own, in which nobody else opens or closes anything. */
    @Test
    void shouldCloseAllThatItOpened() throws IOException {
        try (Jvm lenders = Jvm.start(List.of(), LenderEndTest.class.getName(), folder.toString())) {
            assertEquals("[]", lenders.answer());
        }
    }

    /**
     * Starts lenders that fail, since JMX has another bean of their name, and lenders that end while they make spares.
     * Prints what is open afterwards.
     */
    public static void main(final String[] arguments) throws Exception {
        final Path socket = Path.of(arguments[0]).resolve("lender");
        final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        final ObjectName name = new ObjectName("io.outboard:type=Lender,socket=" + ObjectName.quote(socket.toString()));
        server.registerMBean(new Timer(), name);
        for (int i = 0; i < LENDERS; i++) {
            assertThrows(
                    IllegalStateException.class,
                    () -> Lender.of(LendingDevice.memory(UNIT)).start(socket));
        }
        server.unregisterMBean(name);
        for (int i = 0; i < LENDERS; i++) {
            final LenderBuilder builder =
                    Lender.of(LendingDevice.memory(64 * UNIT)).spares(8).settling(Duration.ZERO);
            try (Lender lender = builder.start(socket);
                    LenderConnection client = LenderConnection.connect(lender.socket(), "a")) {
                client.closeDescriptor(client.lease(UNIT));
            }
        }
        // The clients close their ends in threads of their own.
        final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!open().isEmpty() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(1_000_000);
        }
        System.out.println(open());
    }

    private static List<String> open() {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .map(LenderEndTest::target)
                    // The class path has files of these names, too.
                    .filter(target -> !target.endsWith(".jar"))
                    .filter(target -> target.contains("outboard")
                            || target.contains("lender")
                            || target.startsWith("socket")
                            || target.startsWith("anon_inode"))
                    .toList();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(final Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (final IOException e) {
            // This descriptor was that of the listing, and is closed by now.
            return "";
        }
    }

    /** Whoever posts an action while the lender ends must not signal a descriptor that is closed, or another file's. */
    @Test
    void shouldSignalNoDescriptorThatIsClosed() throws Exception {
        final AtomicInteger event = new AtomicInteger(Linux.NONE);
        final AtomicInteger signals = new AtomicInteger();
        final CountDownLatch closed = new CountDownLatch(1);
        final AtomicBoolean closedTooEarly = new AtomicBoolean();
        final AtomicReference<@Nullable LenderLoop> started = new AtomicReference<>();
        final Linux linux = FakeLender.hooked((call, arguments) -> {
            if (call.equals("signal") && signals.incrementAndGet() == 1) {
                event.set((int) arguments[0]);
                // The loop's thread ends while this one is about to signal.
                Objects.requireNonNull(started.get()).end();
                closedTooEarly.set(isClosedSoon(closed));
            } else if (call.equals("close") && (int) arguments[0] == event.get()) {
                closed.countDown();
            }
        });
        final Requests requests = new Requests(
                Lender.of(LendingDevice.memory(UNIT)), told -> {}, new MemoryMakers(Runnable::run), 0, 0, () -> 0);
        final SocketFile file = SocketFile.open(LinuxCalls.find(), folder.resolve("lender"));
        final LenderLoop loop = new LenderLoop(linux, file, null, requests, 1, () -> {});
        started.set(loop);
        final Thread thread = new Thread(loop);
        thread.start();

        loop.post(() -> {});
        thread.join();

        assertFalse(closedTooEarly.get());
        assertEquals(0, closed.getCount());
        final int before = signals.get();
        final AtomicBoolean ran = new AtomicBoolean();
        loop.post(() -> ran.set(true));
        assertTrue(ran.get());
        assertEquals(before, signals.get());
    }

    private LenderLoop loop(final Linux linux, final Runnable onEnd) throws IOException {
        final Requests requests = new Requests(
                Lender.of(LendingDevice.memory(UNIT)), told -> {}, new MemoryMakers(Runnable::run), 0, 0, () -> 0);
        return new LenderLoop(linux, SocketFile.open(linux, folder.resolve("lender")), null, requests, 1, onEnd);
    }

    @Test
    void shouldCloseAllAndRunWhatIsPostedThoughAStepOfItsEndFails() throws Exception {
        final AtomicInteger open = new AtomicInteger();
        final Linux linux = FakeLender.hooked((call, arguments) -> {
            if (call.equals("event")) {
                open.incrementAndGet();
            } else if (call.equals("close")) {
                open.decrementAndGet();
            }
        });
        final LenderLoop loop = loop(linux, () -> {
            throw new AssertionError("the step's own");
        });
        final Thread thread = new Thread(loop);
        thread.start();

        loop.end();
        thread.join();

        final AtomicBoolean ran = new AtomicBoolean();
        loop.post(() -> ran.set(true));
        assertTrue(ran.get());
        assertTrue(Files.notExists(folder.resolve("lender")));
        // The two events, the socket and its lock are closed.
        assertEquals(-2, open.get());
    }

    @Test
    void shouldGoOnWhenWhatIsPostedFails() throws Exception {
        final Path socket = folder.resolve("lender");
        final List<String> told = new CopyOnWriteArrayList<>();
        try (SteppedLender lender = new SteppedLender(
                Lender.of(LendingDevice.memory(UNIT)),
                LinuxCalls.find(),
                socket,
                Duration.ZERO,
                event -> told.add(event.toString()))) {
            lender.loop.post(() -> {
                throw new AssertionError("the action's own");
            });

            RawClient.known(socket).close();
        }

        assertTrue(told.get(0).startsWith("failed") && told.get(0).contains("the action's own"), told::toString);
    }

    @Test
    void shouldCloseItsEventWhereThereIsNoDescriptorForASecondOne() throws IOException {
        final AtomicInteger events = new AtomicInteger();
        final AtomicInteger closed = new AtomicInteger();
        final Linux linux = FakeLender.hooked((call, arguments) -> {
            if (call.equals("event") && events.incrementAndGet() == 2) {
                throw new LinuxException("eventfd", LinuxException.EMFILE);
            } else if (call.equals("close")) {
                closed.incrementAndGet();
            }
        });

        assertThrows(LinuxException.class, () -> loop(linux, () -> {}));

        assertEquals(1, closed.get());
    }

    /** The lender fails once it has its socket, in whose place there is something then that it can't delete. */
    @Test
    void shouldLeaveTheDeviceToOthersThoughItCannotDeleteItsSocket() throws IOException {
        final Path socket = folder.resolve("lender");
        final AtomicBoolean fails = new AtomicBoolean(true);
        final LendingDevice device = new MemoryDevice(UNIT) {
            @Override
            public String name() {
                return "end " + ProcessHandle.current().pid();
            }

            @Override
            public boolean isExclusive() {
                return true;
            }

            @Override
            public long limitBytes() {
                if (Files.exists(socket) && fails.getAndSet(false)) {
                    try {
                        Files.delete(socket);
                        Files.createDirectories(socket.resolve("folder"));
                    } catch (final IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    throw new IllegalStateException("the device's own");
                }
                return super.limitBytes();
            }
        };
        assertThrows(DirectoryNotEmptyException.class, () -> Lender.of(device).start(socket));

        try (Lender other = Lender.of(device).start(folder.resolve("other"))) {
            assertEquals(device.name(), other.status().device());
        }
    }

    private static boolean isClosedSoon(final CountDownLatch closed) {
        try {
            return closed.await(WRONG_MILLIS, TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
