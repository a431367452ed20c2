package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a client held is there for whoever asks after that client has hung up, however late the lender hears of both. */
@Timeout(60)
class HangUpTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final Duration SETTLING = Duration.ofSeconds(1);
    private static final int MOST_CLIENTS = 3;

    @TempDir
    Path folder;

    private final AtomicReference<FakeLender.@Nullable Hook> hook = new AtomicReference<>();
    private final CountDownLatch gate = new CountDownLatch(1);
    private final List<LenderEvent> events = new CopyOnWriteArrayList<>();
    private Path socket;
    private @Nullable SteppedLender lender;

    @BeforeEach
    void requireLeases() {
        Jvm.assumeLeases();
        socket = folder.resolve("lender");
    }

    private SteppedLender start(final Duration settling) throws IOException {
        return start(settling, LendingDevice.memory(8 * UNIT));
    }

    private SteppedLender start(final Duration settling, final LendingDevice device) throws IOException {
        final Linux linux = FakeLender.hooked((call, arguments) -> {
            final FakeLender.Hook present = hook.get();
            if (present != null) {
                present.before(call, arguments);
            }
        });
        final LenderBuilder builder =
                Lender.of(device).quota("raw", new Quota(0, UNIT)).mostClients(MOST_CLIENTS);
        final SteppedLender started = new SteppedLender(builder, linux, socket, settling, events::add);
        lender = started;
        return started;
    }

    @AfterEach
    void end() {
        gate.countDown();
        if (lender != null) {
            lender.close();
        }
    }

    private static void ask(final RawClient client) throws IOException {
        client.send(Message.of(MessageType.LEASE, 2, UNIT));
    }

    /** An action of a test. */
    private interface Action {
        void run() throws IOException;
    }

    /** Acts once the lender has looked who has sent something, just before it reads the next message. */
    private void beforeItReads(final SteppedLender here, final Action sends, final Action acts) throws Exception {
        beforeItReads(here, 1, sends, acts);
    }

    /** Acts before the lender reads for the {@code times}th time. */
    private void beforeItReads(final SteppedLender here, final int times, final Action sends, final Action acts)
            throws Exception {
        here.holdUp(gate);
        sends.run();
        final AtomicInteger reads = new AtomicInteger();
        hook.set((call, arguments) -> {
            if (call.equals("receive") && reads.incrementAndGet() == times) {
                try {
                    acts.run();
                } catch (final IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        gate.countDown();
    }

    /** Returns a client of a name without a quota, which has leases of one unit each. */
    private RawClient clientWith(final int leases) throws IOException {
        final RawClient client = RawClient.known(socket, "free");
        for (int i = 1; i <= leases; i++) {
            ask(client);
            assertEquals(i, client.answer().a());
        }
        return client;
    }

    /** Returns a client that waits for units until a time that doesn't come. */
    private RawClient waiting(final SteppedLender here, final int units) throws IOException {
        final RawClient client = RawClient.known(socket, "waits");
        client.send(Message.of(MessageType.LEASE, 3, units * UNIT, 600_000));
        Await.until(
                () -> here.status().clients().stream().anyMatch(each -> each.waitingBytes() == units * UNIT),
                here::status);
        return client;
    }

    private static void assertLent(final RawClient client, final int units) throws IOException {
        final Message answer = client.answer();
        assertEquals(MessageType.LEASED, answer.type(), answer::toString);
        assertEquals(units * UNIT, answer.b());
        client.close();
    }

    private static void ease(final RawClient pressed) throws IOException {
        assertEquals(MessageType.PRESS, pressed.answer().type());
        pressed.send(Message.of(MessageType.EASED, 0));
    }

    private void awaitEased() {
        Await.until(() -> events.toString().contains("eased"), () -> events);
    }

    @Test
    void shouldTakeBackFromAllThatHaveHungUpBeforeItRefuses() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = clientWith(4);
        final RawClient second = clientWith(4);
        final RawClient third = waiting(here, 8);
        ease(second);
        awaitEased();
        here.holdUp(gate);
        first.close();
        second.close();

        gate.countDown();

        assertLent(third, 8);
    }

    /** The first client hangs up when the lender has refused the second one's request, and not yet the third one's. */
    @Test
    void shouldLookForHangUpsAgainForEachClient() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = clientWith(8);
        final RawClient second = RawClient.known(socket, "free");
        final RawClient third = RawClient.known(socket, "free");

        beforeItReads(
                here,
                3,
                () -> {
                    ask(second);
                    ask(third);
                },
                first::close);

        assertEquals(MessageType.REFUSED, second.answer().type());
        assertLent(third, 1);
        second.close();
    }

    @Test
    void shouldLookForHangUpsAgainForEachPostedAction() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = RawClient.known(socket);
        final List<Boolean> found = new CopyOnWriteArrayList<>();

        here.holdUp(gate);
        here.loop.post(() -> found.add(here.requests.takeOffHungUp()));
        here.loop.post(() -> {
            first.close();
            found.add(here.requests.takeOffHungUp());
        });
        gate.countDown();

        Await.until(() -> found.size() == 2, () -> found);
        assertEquals(List.of(false, true), found);
    }

    /** Nobody is left to be waited for when the second client has answered. */
    @Test
    void shouldLookForHangUpsBeforeItRefusesWhenAClientHasEased() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = clientWith(4);
        final RawClient second = clientWith(4);
        final RawClient third = waiting(here, 4);
        ease(first);
        awaitEased();

        beforeItReads(here, () -> ease(second), first::close);

        assertLent(third, 4);
        second.close();
    }

    /** The time to wait for the first client's answer is over. */
    @Test
    void shouldLookForHangUpsBeforeItRefusesWhenAClientReturnsALease() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = clientWith(4);
        final RawClient second = clientWith(4);
        final RawClient third = waiting(here, 4);

        beforeItReads(here, () -> second.send(Message.of(MessageType.RETURN, 4, 1)), () -> {
            here.nanos.set(Admission.PATIENCE_NANOS);
            first.close();
        });

        assertLent(third, 4);
        second.close();
    }

    /** There is room for the second client's request, which only doesn't wait for the one before it. */
    @Test
    void shouldNotRefuseWhatWouldWaitBehindAClientThatHasHungUp() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = clientWith(7);
        final RawClient second = RawClient.known(socket, "free");
        final RawClient third = waiting(here, 4);

        beforeItReads(here, () -> ask(second), third::close);

        assertLent(second, 1);
        first.close();
    }

    @Test
    void shouldCountWhatIsStatedThoughOneThatHasHungUpStatedAsMuch() throws Exception {
        final SteppedLender here = start(SETTLING);
        final RawClient first = RawClient.known(socket);
        first.send(Message.of(MessageType.HELD, 0, 1, UNIT));
        Await.until(() -> events.toString().contains("held"), () -> events);
        final RawClient second = RawClient.known(socket);

        beforeItReads(here, () -> second.send(Message.of(MessageType.HELD, 0, 1, UNIT)), first::close);

        final List<String> held = List.of("", "");
        Await.until(
                () -> events.stream()
                        .filter(event -> event.kind() == LenderEvent.Kind.HELD)
                        .map(LenderEvent::detail)
                        .toList()
                        .equals(held),
                () -> events);
        assertEquals(UNIT, here.status().lentBytes());
        second.close();
    }

    /** Who states what it holds may itself be gone. Nothing may be counted for it. */
    @Test
    void shouldNotCountWhatIsStatedByOneThatHasHungUp() throws Exception {
        final SteppedLender here = start(SETTLING);
        final RawClient first = RawClient.known(socket);
        first.send(Message.of(MessageType.HELD, 0, 1, UNIT));
        Await.until(() -> events.toString().contains("held"), () -> events);
        final RawClient second = RawClient.known(socket);

        beforeItReads(here, () -> second.send(Message.of(MessageType.HELD, 0, 1, UNIT)), () -> {
            first.close();
            second.close();
        });

        Await.until(() -> here.status().clients().isEmpty(), here::status);
        assertEquals(0, here.status().lentBytes());
    }

    /** This device makes little memory, whatever it is asked for, and does what a test wants before it has made it. */
    private static final class LittleDevice extends MemoryDevice {

        private static final long PAGE_BYTES = 4096;

        private final AtomicReference<@Nullable Action> action = new AtomicReference<>();

        LittleDevice() throws IOException {
            super(2L * Shares.MOST * UNIT);
        }

        @Override
        public Memory create(final long bytes) throws IOException {
            final Action present = action.getAndSet(null);
            if (present != null) {
                present.run();
            }
            return super.create(PAGE_BYTES);
        }
    }

    /** Returns an action that has a client hang up before the lender hears that the device has done its work. */
    private Action hangUpMeanwhile(final SteppedLender here, final RawClient client) {
        return () -> {
            try {
                here.holdUp(gate);
            } catch (final InterruptedException e) {
                throw new IOException(e);
            }
            client.close();
            hook.set((call, arguments) -> {
                if (call.equals("signal")) {
                    gate.countDown();
                }
            });
        };
    }

    @Test
    void shouldLookForHangUpsBeforeItRefusesASharedLease() throws Exception {
        final LittleDevice device = new LittleDevice();
        final SteppedLender here = start(Duration.ZERO, device);
        final RawClient first = RawClient.known(socket, "free");
        for (int i = 0; i < Shares.MOST; i++) {
            first.send(Message.of(MessageType.SHARE, 2, UNIT));
            assertEquals(MessageType.LEASED, first.answer().type());
        }
        final RawClient second = RawClient.known(socket, "free");

        device.action.set(hangUpMeanwhile(here, first));
        second.send(Message.of(MessageType.SHARE, 2, UNIT));

        assertLent(second, 1);
    }

    @Test
    void shouldNameNoHolderThatHasHungUp() throws Exception {
        final LittleDevice device = new LittleDevice();
        final SteppedLender here = start(Duration.ZERO, device);
        final RawClient first = clientWith(4);
        final RawClient second = RawClient.known(socket, "free");

        final Action meanwhile = hangUpMeanwhile(here, first);
        device.action.set(() -> {
            meanwhile.run();
            throw DeviceOutOfMemoryException.ofDevice(UNIT, 0, "not back yet");
        });
        ask(second);

        assertEquals(MessageType.REFUSED, second.answer().type());
        second.close();
    }

    /** A lender without descriptors gets those of a client that has hung up. */
    @Test
    void shouldAdmitWithTheDescriptorOfOneThatHasHungUp() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = RawClient.known(socket);
        here.holdUp(gate);
        final RawClient second = new RawClient(socket);
        second.send(new Message(MessageType.HELLO, 1, Message.VERSION, 0, 0, "raw"));
        final AtomicBoolean done = new AtomicBoolean();
        hook.set((call, arguments) -> {
            if (call.equals("accept") && done.compareAndSet(false, true)) {
                first.close();
                throw new LinuxException("accept", LinuxException.EMFILE);
            }
        });
        gate.countDown();

        assertEquals(MessageType.WELCOME, second.answer().type());
        second.close();
    }

    private RawClient clientWithAllItsQuota() throws IOException {
        final RawClient client = RawClient.known(socket);
        ask(client);
        assertEquals(MessageType.LEASED, client.answer().type());
        return client;
    }

    @Test
    void shouldLendWhatAClientHeldThatHasHungUpMeanwhile() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = clientWithAllItsQuota();
        try (RawClient second = RawClient.known(socket)) {
            here.holdUp(gate);
            first.close();
            ask(second);

            gate.countDown();

            assertEquals(MessageType.LEASED, second.answer().type());
        }
    }

    /** The lender has already begun to read the second client's messages when the first client hangs up. */
    @Test
    void shouldLookForHangUpsBeforeItRefuses() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = clientWithAllItsQuota();
        final RawClient second = new RawClient(socket);
        here.holdUp(gate);
        second.send(new Message(MessageType.HELLO, 1, Message.VERSION, 0, 0, "raw"));
        final AtomicLong received = new AtomicLong();
        hook.set((call, arguments) -> {
            if (call.equals("receive") && received.incrementAndGet() == 2) {
                first.close();
                try {
                    ask(second);
                } catch (final IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        gate.countDown();

        assertEquals(MessageType.WELCOME, second.answer().type());
        assertEquals(MessageType.LEASED, second.answer().type());
        second.close();
    }

    @Test
    void shouldNotCountWhoHasHungUpWhenItHasSettled() throws Exception {
        final SteppedLender here = start(SETTLING);
        final RawClient first = RawClient.known(socket);
        first.send(Message.of(MessageType.HELD, 0, 1, UNIT));
        Await.until(() -> events.toString().contains("held"), () -> events);
        try (RawClient second = RawClient.known(socket)) {
            ask(second);
            here.holdUp(gate);
            first.close();
            here.nanos.set(SETTLING.toNanos());

            gate.countDown();

            assertEquals(MessageType.LEASED, second.answer().type());
        }
    }

    @Test
    void shouldLetOneInForOneThatHasHungUp() throws Exception {
        final SteppedLender here = start(Duration.ZERO);
        final RawClient first = RawClient.known(socket);
        try (RawClient second = RawClient.known(socket);
                RawClient other = RawClient.known(socket, "other")) {
            here.holdUp(gate);
            final RawClient third = new RawClient(socket);
            third.send(new Message(MessageType.HELLO, 1, Message.VERSION, 0, 0, "raw"));
            first.close();
            gate.countDown();

            assertEquals(MessageType.WELCOME, third.answer().type());
            third.close();
            for (final RawClient each : List.of(second, other)) {
                ask(each);
                assertEquals(MessageType.LEASED, each.answer().type());
            }
        }
    }
}
