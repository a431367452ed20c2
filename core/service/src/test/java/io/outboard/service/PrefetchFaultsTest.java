package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.FakeLender.Line;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A prefetch isn't answered, is answered wrongly, or can't be sent. Leases that are needed are served as before. */
@Timeout(60)
class PrefetchFaultsTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final long GRACE_NANOS = 1_000_000_000;

    /** The number of leases of one size that make the client prefetch another one. */
    private static final int STEADY = 3;

    /** The mode says what the lender does with a prefetch. */
    private enum Ahead {
        UNANSWERED,
        WITHOUT_DESCRIPTOR
    }

    @TempDir
    Path folder;

    private final AtomicLong lastLease = new AtomicLong();
    private final List<Message> heard = new CopyOnWriteArrayList<>();
    private volatile Ahead mode = Ahead.UNANSWERED;
    private final CompletableFuture<Message> unanswered = new CompletableFuture<>();
    private Linux linux;
    private Path socket;
    private FakeLender lender;
    private int file = Linux.NONE;

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        linux = LinuxCalls.find();
        file = linux.memory(UNIT);
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
        heard.add(message);
        if (isAhead(message)) {
            answerAhead(line, message);
        } else if (message.type() == MessageType.LEASE || message.type() == MessageType.SHARE) {
            lease(line, message, message.a(), file);
        } else if (message.type() == MessageType.RETURN) {
            line.say(Message.of(MessageType.RETURNED, message.request(), message.a()));
        }
    }

    /** Returns whether a message asks for a prefetched lease, since only such a request doesn't wait for others. */
    private static boolean isAhead(final Message message) {
        return message.type() == MessageType.LEASE && message.b() == 0;
    }

    private void answerAhead(final Line line, final Message message) throws IOException {
        switch (mode) {
            case UNANSWERED -> unanswered.complete(message);
            case WITHOUT_DESCRIPTOR -> lease(line, message, message.a(), Linux.NONE);
        }
    }

    private void lease(final Line line, final Message message, final long bytes, final int descriptor)
            throws IOException {
        final String ticket = message.type() == MessageType.SHARE ? "0".repeat(32) : "";
        line.say(
                new Message(MessageType.LEASED, message.request(), lastLease.incrementAndGet(), bytes, 0, ticket),
                descriptor);
    }

    private LenderConnection connect(final Linux calls) throws IOException {
        return LenderConnection.connect(calls, socket, "a", GRACE_NANOS);
    }

    private static void grow(final LenderConnection connection) {
        for (int i = 0; i < STEADY; i++) {
            connection.closeDescriptor(connection.lease(UNIT));
        }
    }

    @Test
    void shouldNotWaitForEverForWhatIsAhead() throws Exception {
        try (LenderConnection connection = connect(linux);
                LeasedMemorySource source = LeasedMemorySource.over(connection, socket)) {
            grow(connection);
            final Message ahead = unanswered.get(20, TimeUnit.SECONDS);
            final CompletableFuture<Long> shared =
                    CompletableFuture.supplyAsync(() -> source.share(UNIT).bytes());

            assertEquals(UNIT, shared.get(10, TimeUnit.SECONDS));
            // The lender answers, but too late.
            lease(lender.lines().get(0), ahead, UNIT, file);
            final long late = lastLease.get();
            Await.until(
                    () -> heard.stream()
                            .anyMatch(message -> message.type() == MessageType.RETURN && message.a() == late),
                    () -> heard);
            assertEquals((STEADY + 1) * UNIT, connection.leasedBytes());
        }
    }

    /** Another thread that grows, for example, or a question of JMX doesn't wait for a prefetch. */
    @Test
    void shouldNotKeepOthersWaitingMeanwhile() throws Exception {
        try (LenderConnection connection = LenderConnection.connect(linux, socket, "a", 30 * GRACE_NANOS);
                LeasedMemorySource source = LeasedMemorySource.over(connection, socket)) {
            grow(connection);
            final Message ahead = unanswered.get(20, TimeUnit.SECONDS);
            final CompletableFuture<Long> shared = new CompletableFuture<>();
            final Thread sharing =
                    new Thread(() -> shared.complete(source.share(UNIT).bytes()));
            sharing.start();
            Await.until(() -> sharing.getState() != Thread.State.RUNNABLE, sharing::getState);

            final CompletableFuture<Long> other = CompletableFuture.supplyAsync(source::availableBytes);

            assertNotEquals(0, other.get(10, TimeUnit.SECONDS));
            lease(lender.lines().get(0), ahead, UNIT, file);
            assertEquals(UNIT, shared.get(10, TimeUnit.SECONDS));
        }
    }

    /** The lease that was needed is there all the same, and so are the next ones. */
    @Test
    void shouldLeaseThoughItCanNotAskAhead() throws Exception {
        final Linux failing = FakeLender.hooked((call, arguments) -> {
            if (call.equals("send") && isAhead(read((byte[]) arguments[1]))) {
                throw new IllegalStateException("out of something");
            }
        });
        try (LenderConnection connection = connect(failing);
                LeasedMemorySource source = LeasedMemorySource.over(connection, socket)) {
            grow(connection);

            final CompletableFuture<Long> shared =
                    CompletableFuture.supplyAsync(() -> source.share(UNIT).bytes());

            assertEquals(UNIT, shared.get(10, TimeUnit.SECONDS));
            assertEquals((STEADY + 1) * UNIT, connection.leasedBytes());
        }
    }

    private static Message read(final byte[] bytes) {
        try {
            return Message.read(bytes, bytes.length);
        } catch (final IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void shouldReturnWhatCameAheadWithoutADescriptor() throws IOException {
        mode = Ahead.WITHOUT_DESCRIPTOR;
        try (LenderConnection connection = connect(linux)) {
            connection.deadline(Duration.ofMillis(1));
            grow(connection);
            // The lease must go back at once, since a prefetched lease that is kept goes back after a while anyway.
            Await.until(() -> connection.leasedBytes() > STEADY * UNIT || isReturned(), () -> heard);

            final Lease lease = connection.lease(UNIT);

            assertNotNull(lease);
            assertTrue(lease.descriptor() != Linux.NONE, lease::toString);
            assertEquals(UNIT, lease.bytes());
            connection.closeDescriptor(lease);
            Await.until(this::isReturned, () -> heard);
        }
    }

    private boolean isReturned() {
        return heard.stream().anyMatch(message -> message.type() == MessageType.RETURN);
    }
}
