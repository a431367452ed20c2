package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.FakeLender.Line;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A lender answers with memory, but not with what was asked for. The client doesn't take the memory, and leaves no
 * descriptor of it open.
 */
@Timeout(60)
class WrongAnswersTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final String TICKET = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path folder;

    private Linux linux;
    private FakeLender lender;
    private Path socket;
    private int file = Linux.NONE;
    private volatile MessageType type = MessageType.OPENED;
    private volatile long bytes = UNIT;

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        linux = LinuxCalls.find();
        file = linux.memory(2 * UNIT);
        socket = folder.resolve("lender");
        lender = new FakeLender(socket, this::heard);
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
        if (file != Linux.NONE) {
            linux.close(file);
        }
    }

    private void heard(final Line line, final Message message) throws IOException {
        if (message.type() == MessageType.LEASE
                || message.type() == MessageType.SHARE
                || message.type() == MessageType.OPEN) {
            line.say(new Message(type, message.request(), 1, bytes, 0, ""), file);
        } else if (message.type() == MessageType.RETURN) {
            line.say(new Message(MessageType.RETURNED, message.request(), message.a(), 0, 0, ""));
        }
    }

    /** Counts this process's descriptors of leases. */
    private static long descriptors() throws IOException {
        long found = 0;
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (final Path each : all.toList()) {
                try {
                    found += Files.readSymbolicLink(each).toString().contains("outboard-lease") ? 1 : 0;
                } catch (final IOException e) {
                    // This descriptor was that of the listing, and is closed by now.
                }
            }
        }
        return found;
    }

    @Test
    void shouldNotTakeSharedMemoryForALease() throws IOException {
        type = MessageType.OPENED;
        try (LenderConnection connection = LenderConnection.connect(socket, "a")) {
            assertThrows(DeviceOutOfMemoryException.class, () -> connection.lease(UNIT));
            assertEquals(1, descriptors());
        }
    }

    @Test
    void shouldNotTakeALeaseForSharedMemory() throws IOException {
        type = MessageType.LEASED;
        try (LeasedMemorySource source = LeasedMemorySource.connect(socket, "a")) {
            assertThrows(IOException.class, () -> source.open(TICKET, false));
            assertEquals(1, descriptors());
        }
    }

    @Test
    void shouldNotTakeSharedMemoryOfASizeThatNoLeaseHas() throws IOException {
        try (LeasedMemorySource source = LeasedMemorySource.connect(socket, "a")) {
            for (final long wrong : new long[] {UNIT + 1, UNIT - 4096, 0, -UNIT}) {
                bytes = wrong;
                final IOException thrown = assertThrows(IOException.class, () -> source.open(TICKET, false));
                assertTrue(
                        String.valueOf(thrown.getMessage()).contains("wrong size from the lender"), thrown::toString);
                assertEquals(1, descriptors());
            }
            bytes = UNIT;
            source.open(TICKET, false).close();
        }
    }
}
