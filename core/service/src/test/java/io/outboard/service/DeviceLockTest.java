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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One lender of a user has a device at a time. Another user's lender is seen, and doesn't keep this one out. */
@Timeout(60)
class DeviceLockTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final int OTHER_USER = 4711;
    private static final int ROUNDS = 100;
    private static final long HELD_NANOS = 20_000;

    /** More connections than a socket that listens takes before they are accepted. */
    private static final int MANY = 300;

    private static final String REFUSED = "must be free, but another lender of this user lends it";

    /** Other runs of this test may have devices at the same time. */
    private final String device = "test " + ProcessHandle.current().pid();

    private final List<LenderEvent> events = new CopyOnWriteArrayList<>();
    private final List<Integer> sockets = new ArrayList<>();

    @TempDir
    Path folder;

    private Linux linux;

    @BeforeEach
    void requireLeases() throws IOException {
        Jvm.assumeLeases();
        linux = LinuxCalls.find();
    }

    @AfterEach
    void end() {
        sockets.forEach(linux::close);
    }

    private int socket() throws LinuxException {
        final int socket = linux.socket(false);
        sockets.add(socket);
        return socket;
    }

    private Lender start(final String socket) throws IOException {
        final LendingDevice exclusive = new MemoryDevice(UNIT) {
            @Override
            public String name() {
                return device;
            }

            @Override
            public boolean isExclusive() {
                return true;
            }
        };
        return Lender.of(exclusive).events(events::add).start(folder.resolve(socket));
    }

    private DeviceLock take(final int user) throws IOException {
        return DeviceLock.take(linux, device, user);
    }

    private void assertRefused() {
        final IOException e = assertThrows(IOException.class, () -> take(linux.user()));
        assertEquals("device=" + device + " " + REFUSED, e.getMessage());
    }

    @Test
    void shouldRefuseASecondLenderUntilTheFirstHasEnded() throws IOException {
        try (Lender first = start("first")) {
            final IOException e = assertThrows(IOException.class, () -> start("second"));

            assertEquals("device=" + device + " " + REFUSED, e.getMessage());
            assertEquals(device, first.status().device());
        }
        try (Lender second = start("second")) {
            assertEquals(device, second.status().device());
        }
        assertFalse(events.toString().contains("another user"), events::toString);
    }

    /** Any process can connect to a name. */
    @Test
    void shouldRefuseASecondLenderHoweverManyHaveConnectedToTheFirst() throws IOException {
        try (Lender first = start("first")) {
            final String name = DeviceLock.namesOf(device).keySet().iterator().next();
            for (int i = 0; i < MANY; i++) {
                connect(name);
            }

            assertRefused();
            assertEquals(device, first.status().device());
        }
    }

    /** Connects, and waits while too many connections aren't accepted yet. */
    private void connect(final String name) throws LinuxException {
        final int connection = socket();
        Await.until(() -> isConnected(connection, name), () -> "connections: " + sockets.size());
    }

    private boolean isConnected(final int connection, final String name) {
        try {
            linux.connectName(connection, name);
            return true;
        } catch (final LinuxException e) {
            assertEquals(LinuxException.EAGAIN, e.number());
            return false;
        }
    }

    /** A lender that is stopped accepts nothing, and neither does a name with which another user keeps lenders out. */
    @Test
    void shouldFindOutWhoseALockIsThatTakesNoConnections() throws IOException {
        final DeviceLock stopped = take(linux.user());
        final String name = DeviceLock.namesOf(device).keySet().iterator().next();
        while (isConnected(socket(), name)) {
            // One more waits.
        }

        assertRefused();
        // This user is another one's other user.
        final DeviceLock other = take(OTHER_USER);

        assertTrue(other.isLentByOthers);
        other.close();
        stopped.close();
    }

    /** The second lender comes when the first one has a name, but doesn't listen yet. */
    @Test
    void shouldRefuseOneOfTwoThatStartAtTheSameTime() throws IOException {
        final List<DeviceLock> second = new ArrayList<>();
        final Linux slow = FakeLender.hooked((call, arguments) -> {
            if (call.equals("listen")) {
                try {
                    second.add(take(linux.user()));
                } catch (final IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });

        final IOException e = assertThrows(IOException.class, () -> DeviceLock.take(slow, device, linux.user()));

        assertTrue(String.valueOf(e.getMessage()).endsWith(REFUSED), e::getMessage);
        second.get(0).close();
    }

    @Test
    void shouldNeverLetTwoLendersHaveADevice() {
        final AtomicInteger taken = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final Runnable rounds = () -> {
            for (int i = 0; i < ROUNDS; i++) {
                final DeviceLock lock = takenOrNull();
                if (lock != null) {
                    most.accumulateAndGet(taken.incrementAndGet(), Math::max);
                    LockSupport.parkNanos(HELD_NANOS);
                    taken.decrementAndGet();
                    lock.close();
                }
            }
        };

        CompletableFuture.allOf(Stream.generate(() -> CompletableFuture.runAsync(rounds))
                        .limit(3)
                        .toArray(CompletableFuture<?>[]::new))
                .join();

        assertEquals(1, most.get());
    }

    private @Nullable DeviceLock takenOrNull() {
        try {
            return take(linux.user());
        } catch (final IOException e) {
            assertTrue(String.valueOf(e.getMessage()).endsWith(REFUSED), e::getMessage);
            return null;
        }
    }

    @Test
    void shouldWarnOfAnotherUsersLender() throws IOException {
        linux.bindName(socket(), DeviceLock.prefixOf(device) + "0");
        try (Lender lender = start("lender")) {
            assertEquals(device, lender.status().device());
        }

        assertTrue(events.toString().contains("another user's lender has the device, too"), events::toString);
    }

    /** Any user can have names of the device, and any bytes in them. */
    @Test
    void shouldRefuseASecondLenderThoughOtherUsersHaveNames() throws IOException {
        linux.bindName(socket(), DeviceLock.prefixOf(device) + linux.user());
        linux.bindName(socket(), DeviceLock.prefixOf(device) + "\u00e4".repeat(30));
        assertEquals(
                Set.of(DeviceLock.prefixOf(device) + linux.user()),
                DeviceLock.namesOf(device).keySet());
        final DeviceLock own = take(linux.user());

        // This user is another one's other user.
        final DeviceLock other = take(OTHER_USER);
        assertRefused();

        assertTrue(other.isLentByOthers);
        own.close();
        other.close();
    }

    /** Another user could have a name that accepts nothing look like one of this user's sockets. */
    @Test
    void shouldNotKnowTheSocketOfANameThatAnotherNameTellsDifferently() throws IOException {
        final String name = DeviceLock.prefixOf(device) + "ab";
        linux.bindName(socket(), name);
        assertTrue(String.valueOf(DeviceLock.namesOf(device).get(name)).matches("[0-9]+"));

        linux.bindName(socket(), device + "\n0: 2 0 00000000 0005 01 7 @" + name);

        assertEquals(DeviceLock.UNKNOWN, DeviceLock.namesOf(device).get(name));
    }
}
