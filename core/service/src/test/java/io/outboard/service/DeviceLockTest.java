package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.linux.LinuxException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
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
    private static final long MOST_REST_NANOS = 10_000_000;

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
        // Without leases there is neither.
        for (final int socket : sockets) {
            linux.close(socket);
        }
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
                // Two that look at the same time are both refused.
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MOST_REST_NANOS));
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
        linux.bindName(socket(), DeviceLock.nameOf(device) + "0");
        try (Lender lender = start("lender")) {
            assertEquals(device, lender.status().device());
        }

        assertTrue(events.toString().contains("another user's lender has the device, too"), events::toString);
    }

    /** This user is another one's other user, and has the same file open. */
    @Test
    void shouldNotBeRefusedForAnotherUsersLender() throws IOException {
        final DeviceLock own = take(linux.user());

        final DeviceLock other = take(OTHER_USER);

        assertTrue(other.isLentByOthers);
        assertFalse(own.isLentByOthers);
        other.close();
        own.close();
    }

    /** Any user can have names of the device, and any bytes in them. */
    @Test
    void shouldTakeAnyNames() throws IOException {
        linux.bindName(socket(), DeviceLock.nameOf(device) + "\u00e4".repeat(30));
        linux.bindName(socket(), device + "\n0: 2 0 00000000 0005 01 7 @" + DeviceLock.nameOf(device));

        try (Lender first = start("first")) {
            assertRefused();
            assertEquals(device, first.status().device());
        }
    }

    @Test
    void shouldLeaveNothingOpenIfItCannotHaveAName() throws IOException {
        final Linux nameless = FakeLender.hooked((call, arguments) -> {
            if (call.equals("bindName")) {
                throw new LinuxException("bind", LinuxException.EADDRINUSE);
            }
        });

        assertThrows(LinuxException.class, () -> DeviceLock.take(nameless, device, linux.user()));

        take(linux.user()).close();
    }
}
