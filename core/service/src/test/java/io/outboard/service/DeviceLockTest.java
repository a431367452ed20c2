package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One lender of a user has a device at a time. Another user's lender is seen, and can't keep this one out. */
@Timeout(60)
class DeviceLockTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final int OTHER_USER = 4711;

    /** Other runs of this test may have devices at the same time. */
    private final String device = "test " + ProcessHandle.current().pid();

    private final List<LenderEvent> events = new CopyOnWriteArrayList<>();

    @TempDir
    Path folder;

    private Linux linux;

    @BeforeEach
    void requireLeases() throws IOException {
        Jvm.assumeLeases();
        linux = LinuxCalls.find();
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

    @Test
    void shouldRefuseASecondLenderUntilTheFirstHasEnded() throws IOException {
        try (Lender first = start("first")) {
            final IOException e = assertThrows(IOException.class, () -> start("second"));

            assertEquals(
                    "device=" + device + " must be free, but another lender of this user lends it", e.getMessage());
            assertEquals(device, first.status().device());
        }
        try (Lender second = start("second")) {
            assertEquals(device, second.status().device());
        }
        assertFalse(events.toString().contains("another user"), events::toString);
    }

    @Test
    void shouldWarnOfAnotherUsersLender() throws IOException {
        final int other = linux.socket(false);
        linux.bindName(other, DeviceLock.nameOf(device, OTHER_USER));
        try (Lender lender = start("lender")) {
            assertEquals(device, lender.status().device());
        } finally {
            linux.close(other);
        }

        assertTrue(events.toString().contains("another user's lender has the device, too"), events::toString);
    }

    /** Any user can take a name. */
    @Test
    void shouldOnlyWarnWhereAnotherUserHasTheName() throws IOException {
        final int squatter = linux.socket(false);
        linux.bindName(squatter, DeviceLock.nameOf(device, OTHER_USER));
        try {
            assertTakenWithAWarning();
            linux.listen(squatter);
            assertTakenWithAWarning();
        } finally {
            linux.close(squatter);
        }
    }

    private void assertTakenWithAWarning() throws IOException {
        final DeviceLock lock = DeviceLock.take(linux, device, OTHER_USER);
        assertTrue(lock.isLentByOthers);
        lock.close();
    }
}
