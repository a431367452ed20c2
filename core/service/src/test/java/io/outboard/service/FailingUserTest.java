package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.MemoryUser;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Users of the memory fail when threads of the connection call them; the connection still works. */
@Timeout(60)
class FailingUserTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    @TempDir
    Path folder;

    private final CountDownLatch called = new CountDownLatch(1);

    @BeforeEach
    void start() {
        Jvm.assumeLeases();
    }

    private MemoryUser user(final Runnable gives, final LongSupplier used) {
        return new MemoryUser() {
            @Override
            public void giveBack(final long bytes) {
                gives.run();
            }

            @Override
            public long usedBytes() {
                return used.getAsLong();
            }
        };
    }

    private long fail(final Throwable thrown) {
        called.countDown();
        if (thrown instanceof final Error e) {
            throw e;
        }
        throw (RuntimeException) thrown;
    }

    private void shouldLeaseThough(final Throwable thrown) throws Exception {
        try (Lender lender = Lender.of(LendingDevice.memory(4 * UNIT)).start(folder.resolve("lender"));
                LenderConnection connection = LenderConnection.connect(lender.socket(), "a")) {
            connection.addUser(user(() -> {}, () -> fail(thrown)));
            assertTrue(called.await(20, TimeUnit.SECONDS));

            connection.closeDescriptor(connection.lease(UNIT));

            assertEquals(UNIT, lender.status().lentBytes());
        }
    }

    @Test
    void shouldLeaseThoughAUserThrowsAnException() throws Exception {
        shouldLeaseThough(new IllegalStateException("the user's own"));
    }

    @Test
    void shouldLeaseThoughAUserThrowsAnError() throws Exception {
        shouldLeaseThough(new AssertionError("the user's own"));
    }

    /** One user fails. The other is still asked, and the lender gets its answer. */
    @Test
    void shouldAnswerPressureThoughAUserFails() throws IOException {
        final List<MessageType> heard = new CopyOnWriteArrayList<>();
        final CountDownLatch other = new CountDownLatch(1);
        final Path socket = folder.resolve("lender");
        try (FakeLender lender = new FakeLender(socket, (line, message) -> heard.add(message.type()));
                LenderConnection connection = LenderConnection.connect(socket, "a")) {
            connection.addUser(user(() -> fail(new StackOverflowError()), () -> 0));
            connection.addUser(user(other::countDown, () -> 0));

            lender.lines().get(0).say(Message.of(MessageType.PRESS, 0, UNIT));

            Await.until(() -> heard.contains(MessageType.EASED), () -> heard);
            assertEquals(0, other.getCount());
        }
    }
}
