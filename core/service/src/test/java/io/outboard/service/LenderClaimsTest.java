package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import io.outboard.service.internal.wire.Refusal;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients state what they hold, give back what isn't theirs, or leave while they wait for memory or while it is being
 * made. The ledger stays right, and others are served.
 */
@Timeout(60)
class LenderClaimsTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final long LIMIT = 16 * UNIT;

    @TempDir
    Path folder;

    private Path socket;
    private @Nullable Lender lender;

    /** This device only makes memory once the gate is open, and tells which thread closes memory. */
    private static final class SlowDevice extends MemoryDevice {

        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch gate = new CountDownLatch(1);
        private volatile @Nullable Error failure;
        private volatile Runnable onClose = () -> {};

        SlowDevice() throws IOException {
            super(LIMIT);
        }

        @Override
        public Memory create(final long bytes) throws IOException {
            final Error e = failure;
            if (e != null) {
                throw e;
            }
            asked.countDown();
            boolean isOpen = false;
            while (!isOpen) {
                try {
                    isOpen = gate.await(20, TimeUnit.SECONDS);
                } catch (final InterruptedException e2) {
                    // The lender ends, and waits for memory that is being made.
                }
            }
            final Memory made = super.create(bytes);
            return new Memory() {
                @Override
                public int descriptor() {
                    return made.descriptor();
                }

                @Override
                public void close() {
                    onClose.run();
                    made.close();
                }
            };
        }
    }

    @BeforeEach
    void start() {
        Jvm.assumeLeases();
        socket = folder.resolve("lender");
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    private Lender lender() throws IOException {
        return lender(LendingDevice.memory(LIMIT));
    }

    private Lender lender(final LendingDevice device) throws IOException {
        lender = Lender.of(device).start(socket);
        return lender;
    }

    private static void held(final RawClient raw, final long lease, final long bytes) throws IOException {
        raw.send(Message.of(MessageType.HELD, 0, lease, bytes));
    }

    private static long lease(final RawClient raw) throws IOException {
        raw.send(Message.of(MessageType.LEASE, 1, UNIT));
        final Message leased = raw.answer();
        assertEquals(MessageType.LEASED, leased.type());
        return leased.a();
    }

    private static void assertNothingLent(final Lender lender) {
        Await.until(() -> lender.status().clients().isEmpty(), lender::status);
        assertEquals(0, lender.status().lentBytes());
    }

    @Test
    void shouldNumberLeasesBehindTheHighestThatMayBeStated() throws IOException {
        final Lender here = lender();
        try (RawClient raw = RawClient.known(socket)) {
            held(raw, Account.MOST_STATED_LEASE, UNIT);
            final Set<Long> leases = new HashSet<>();
            for (int i = 0; i < 3; i++) {
                leases.add(lease(raw));
            }

            assertEquals(3, leases.size());
            assertEquals(4 * UNIT, here.status().lentBytes());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Account.MOST_STATED_LEASE + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE, 0, -1, Long.MIN_VALUE})
    void shouldRefuseNumbersThatNoLenderGave(final long lease) throws IOException {
        final Lender here = lender();
        final RawClient raw = RawClient.known(socket);

        held(raw, lease, UNIT);

        raw.assertClosed();
        assertNothingLent(here);
    }

    private static void assertCounted(final Lender lender, final RawClient raw, final long bytes) throws IOException {
        // The lender answers after all earlier messages of the client.
        raw.send(Message.of(MessageType.LEASE, 9, 1));
        assertEquals(Refusal.WRONG.code(), raw.answer().a());
        assertEquals(bytes, lender.status().lentBytes());
    }

    private static void assertTakenBack(final RawClient raw, final long lease) throws IOException {
        raw.send(Message.of(MessageType.RETURN, 8, lease));
        assertEquals(MessageType.RETURNED, raw.answer().type());
    }

    /** What a client states doesn't keep others from what is guaranteed to them, however much it is. */
    @ParameterizedTest
    @ValueSource(longs = {12 * UNIT + UNIT, LIMIT, 2 * LIMIT, 1L << 47, Long.MAX_VALUE / UNIT * UNIT})
    void shouldNotCountWhatThereIsNoRoomFor(final long bytes) throws IOException {
        lender = Lender.of(LendingDevice.memory(LIMIT))
                .quota("sure", new Quota(4 * UNIT, LIMIT))
                .start(socket);
        final Lender here = lender;
        try (RawClient raw = RawClient.known(socket);
                LenderConnection sure = LenderConnection.connect(socket, "sure")) {
            held(raw, 5, bytes);
            held(raw, 6, bytes);

            assertCounted(here, raw, 0);
            sure.closeDescriptor(sure.lease(4 * UNIT));
            assertEquals(4 * UNIT, here.status().lentBytes());
            // The client may have the lease all the same.
            assertTakenBack(raw, 5);
            assertEquals(4 * UNIT, here.status().lentBytes());
            raw.send(Message.of(MessageType.RETURN, 8, 5));
            raw.assertClosed();
        }
    }

    @Test
    void shouldCountWhatIsStatedUpToTheQuotaOfTheName() throws IOException {
        lender = Lender.of(LendingDevice.memory(LIMIT))
                .quota("raw", new Quota(0, 3 * UNIT))
                .start(socket);
        final Lender here = lender;
        try (RawClient one = RawClient.known(socket);
                RawClient other = RawClient.known(socket)) {
            held(one, 1, 2 * UNIT);
            assertCounted(here, one, 2 * UNIT);
            held(other, 1, 2 * UNIT);
            held(other, 2, UNIT);
            assertCounted(here, other, 3 * UNIT);

            assertTakenBack(one, 1);

            assertEquals(UNIT, here.status().lentBytes());
        }
    }

    @Test
    void shouldNotCountASharedLeaseThatThereIsNoRoomFor() throws IOException {
        final Lender here = lender();
        final String ticket = "0123456789abcdef0123456789abcdef";
        try (RawClient one = RawClient.known(socket);
                RawClient other = RawClient.known(socket)) {
            one.send(new Message(MessageType.HELD, 0, 1, 2 * LIMIT, 0, ticket));
            assertCounted(here, one, 0);
            other.send(new Message(MessageType.HELD, 0, 1, 2 * LIMIT, 0, ticket));
            assertCounted(here, other, 0);

            assertTakenBack(one, 1);
            assertEquals(0, here.status().lentBytes());
            assertTakenBack(other, 1);
        }
    }

    /** Who opened the share states it before its maker does. */
    @Test
    void shouldCountASharedLeaseForTheFirstThatHasRoom() throws IOException {
        lender = Lender.of(LendingDevice.memory(LIMIT))
                .quota("small", new Quota(0, UNIT))
                .start(socket);
        final Lender here = lender;
        final String ticket = "0123456789abcdef0123456789abcdef";
        try (RawClient small = RawClient.known(socket, "small");
                RawClient maker = RawClient.known(socket);
                RawClient third = RawClient.known(socket)) {
            small.send(new Message(MessageType.HELD, 0, 1, 4 * UNIT, 0, ticket));
            assertCounted(here, small, 0);
            maker.send(new Message(MessageType.HELD, 0, 1, 4 * UNIT, 0, ticket));
            assertCounted(here, maker, 4 * UNIT);
            third.send(new Message(MessageType.HELD, 0, 1, 4 * UNIT, 0, ticket));
            assertCounted(here, third, 4 * UNIT);
        }
    }

    /** By then, all clients of an earlier lender have found this one. */
    @Test
    void shouldCountOnlyWhatIsStatedSoonAfterItsStart() throws IOException {
        final AtomicReference<@Nullable LenderEvent> last = new AtomicReference<>();
        try (SteppedLender here = new SteppedLender(
                        Lender.of(LendingDevice.memory(LIMIT)),
                        LinuxCalls.find(),
                        socket,
                        Duration.ofSeconds(1),
                        last::set);
                RawClient soon = RawClient.known(socket);
                RawClient late = RawClient.known(socket)) {
            here.nanos.set(TimeUnit.SECONDS.toNanos(60));
            held(soon, 1, LIMIT - UNIT);
            Await.until(() -> String.valueOf(last.get()).startsWith("held"), last::get);
            assertEquals("", Objects.requireNonNull(last.get()).detail());
            here.nanos.set(TimeUnit.SECONDS.toNanos(61));
            held(late, 1, UNIT);

            Await.until(() -> String.valueOf(last.get()).contains("not counted"), last::get);
        }
    }

    @Test
    void shouldBoundHowManyLeasesOneClientStates() throws IOException {
        final Lender here = lender();
        final RawClient raw = RawClient.known(socket);
        for (int i = 1; i <= Account.MOST_STATED; i++) {
            held(raw, i, UNIT);
        }
        Await.until(() -> here.status().lentBytes() == LIMIT, here::status);

        held(raw, Account.MOST_STATED + 1, UNIT);

        raw.assertClosed();
        assertNothingLent(here);
    }

    /** A client knows what it holds of an earlier lender as soon as it connects, so it must not state more later. */
    @Test
    void shouldRefuseWhatIsStatedLater() throws IOException {
        final Lender here = lender();
        final RawClient raw = RawClient.known(socket);
        final long lease = lease(raw);

        held(raw, lease + 1, UNIT);

        raw.assertClosed();
        assertNothingLent(here);
    }

    /** If the lease went off the ledger, its memory would exist without being on the ledger. */
    @Test
    void shouldNotTakeBackWhatIsStillBeingMade() throws Exception {
        final SlowDevice device = new SlowDevice();
        final Lender here = lender(device);
        final CountDownLatch closed = new CountDownLatch(1);
        device.onClose = closed::countDown;
        final RawClient raw = RawClient.known(socket);
        raw.send(Message.of(MessageType.LEASE, 1, UNIT));
        assertTrue(device.asked.await(20, TimeUnit.SECONDS));

        raw.send(Message.of(MessageType.RETURN, 2, 1));

        raw.assertClosed();
        device.gate.countDown();
        assertTrue(closed.await(20, TimeUnit.SECONDS));
        assertEquals(0, here.status().lentBytes());
    }

    @Test
    void shouldLetClientsDifferAboutASharedLease() throws IOException {
        final Lender here = lender();
        final String ticket = "0123456789abcdef0123456789abcdef";
        try (RawClient liar = RawClient.known(socket);
                RawClient honest = RawClient.known(socket)) {
            liar.send(new Message(MessageType.HELD, 0, 1, 2 * UNIT, 0, ticket));
            Await.until(() -> here.status().lentBytes() == 2 * UNIT, here::status);
            honest.send(new Message(MessageType.HELD, 0, 1, UNIT, 0, ticket));
            Await.until(() -> here.status().lentBytes() == 3 * UNIT, here::status);

            honest.send(Message.of(MessageType.RETURN, 7, 1));

            assertEquals(MessageType.RETURNED, honest.answer().type());
            assertEquals(2 * UNIT, here.status().lentBytes());
        }
    }

    /** While a lender settles, requests wait. The many requests of one client don't count against another. */
    @Test
    void shouldCountWhatWaitsByClient() throws IOException {
        lender().close();
        lender = Lender.of(LendingDevice.memory(LIMIT))
                .settling(Duration.ofMillis(500))
                .start(socket);
        try (RawClient greedy = RawClient.known(socket);
                RawClient other = RawClient.known(socket)) {
            final int many = 1024;
            for (int i = 1; i <= many; i++) {
                greedy.send(Message.of(MessageType.LEASE, i, UNIT));
            }
            final Lender here = lender;
            Await.until(() -> here.status().clients().get(0).waitingBytes() == many * UNIT, here::status);

            other.send(Message.of(MessageType.LEASE, 5, UNIT));

            assertEquals(5, other.answer().request());
        }
    }

    /** Only the lender's thread uses the ledger, until the end. */
    @Test
    void shouldDoNothingInAnotherThreadWhileItEnds() throws Exception {
        final SlowDevice device = new SlowDevice();
        final AtomicReference<@Nullable Thread> telling = new AtomicReference<>();
        final AtomicReference<@Nullable Thread> meanwhile = new AtomicReference<>();
        device.onClose = () -> {
            if (telling.get() != null && telling.get() != Thread.currentThread()) {
                meanwhile.set(Thread.currentThread());
            }
        };
        final Consumer<LenderEvent> told = event -> {
            if (event.kind() == LenderEvent.Kind.DISCONNECTED) {
                telling.set(Thread.currentThread());
                device.gate.countDown();
                pause();
                telling.set(null);
            }
        };
        try (SteppedLender here = new SteppedLender(Lender.of(device), LinuxCalls.find(), socket, Duration.ZERO, told);
                RawClient raw = RawClient.known(socket)) {
            raw.send(Message.of(MessageType.LEASE, 1, UNIT));
            assertTrue(device.asked.await(20, TimeUnit.SECONDS));

            here.end();
        }

        assertNull(meanwhile.get());
    }

    /** Sleeps long enough for another thread to do what it mustn't. */
    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(200);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldRefuseWhereTheDeviceThrowsAnError() throws IOException {
        final SlowDevice device = new SlowDevice();
        device.failure = new OutOfMemoryError("of the heap");
        final Lender here = lender(device);
        try (RawClient raw = RawClient.known(socket)) {
            raw.send(Message.of(MessageType.LEASE, 3, UNIT));

            final Message refused = raw.answer();

            assertEquals(MessageType.REFUSED, refused.type());
            assertEquals(Refusal.FAILED.code(), refused.a());
            assertEquals("of the heap", refused.text());
            assertEquals(0, here.status().lentBytes());
        }
    }
}
