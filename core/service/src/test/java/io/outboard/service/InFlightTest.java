package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Linux refuses to send a descriptor while a user other than root has too many on their way, such as those that other
 * clients don't take. A lease is then sent later.
 */
@Timeout(60)
class InFlightTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final int ETOOMANYREFS = 109;
    private static final int SENDMSG_DESCRIPTOR = 2;

    @TempDir
    Path folder;

    private final AtomicBoolean isFull = new AtomicBoolean(true);
    private final AtomicInteger tries = new AtomicInteger();

    @BeforeEach
    void requireLeases() {
        Jvm.assumeLeases();
    }

    private void refuseDescriptors(final String call, final Object... arguments) throws LinuxException {
        if (call.equals("send") && (int) arguments[SENDMSG_DESCRIPTOR] != Linux.NONE && isFull.get()) {
            tries.incrementAndGet();
            throw new LinuxException("sendmsg", ETOOMANYREFS);
        }
    }

    @Test
    void shouldSendALeaseOnceItsDescriptorMayBeSent() throws IOException {
        final Path socket = folder.resolve("lender");
        try (SteppedLender lender = new SteppedLender(
                        Lender.of(LendingDevice.memory(4 * UNIT)),
                        FakeLender.hooked(this::refuseDescriptors),
                        socket,
                        Duration.ZERO,
                        event -> {});
                RawClient client = RawClient.known(socket);
                RawClient other = RawClient.known(socket)) {
            client.send(Message.of(MessageType.LEASE, 7, UNIT));
            Await.until(() -> tries.get() >= 3, tries::get);
            // Whoever needs no descriptor is answered meanwhile.
            other.send(Message.of(MessageType.LEASE, 8, 1));
            assertEquals(MessageType.REFUSED, other.answer().type());
            assertEquals(UNIT, lender.status().lentBytes());

            isFull.set(false);

            final Message leased = client.answer();
            assertEquals(MessageType.LEASED, leased.type());
            assertEquals(7, leased.request());
        }
    }

    /** The socket has room all the while, so the lender must not ask for room in a loop. */
    @Test
    void shouldTryAgainAfterAPauseOnly() throws IOException {
        final Path socket = folder.resolve("lender");
        try (SteppedLender lender = new SteppedLender(
                        Lender.of(LendingDevice.memory(4 * UNIT)),
                        FakeLender.hooked(this::refuseDescriptors),
                        socket,
                        Duration.ZERO,
                        event -> {});
                RawClient client = RawClient.known(socket)) {
            final long start = System.nanoTime();
            client.send(Message.of(MessageType.LEASE, 7, UNIT));
            Await.until(() -> tries.get() >= 20, tries::get);
            final long millis = (System.nanoTime() - start) / 1_000_000;

            assertTrue(millis >= 50, () -> tries + " tries in " + millis + " ms");
            assertEquals(UNIT, lender.status().lentBytes());
        }
    }
}
