package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
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
    private static final int MOST_CLIENTS = 2;

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
        final Linux linux = FakeLender.hooked((call, arguments) -> {
            final FakeLender.Hook present = hook.get();
            if (present != null) {
                present.before(call, arguments);
            }
        });
        final LenderBuilder builder = Lender.of(LendingDevice.memory(8 * UNIT))
                .quota("raw", new Quota(0, UNIT))
                .mostClients(MOST_CLIENTS);
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
        try (RawClient second = RawClient.known(socket)) {
            here.holdUp(gate);
            final RawClient third = new RawClient(socket);
            third.send(new Message(MessageType.HELLO, 1, Message.VERSION, 0, 0, "raw"));
            first.close();
            gate.countDown();

            assertEquals(MessageType.WELCOME, third.answer().type());
            third.close();
            ask(second);
            assertEquals(MessageType.LEASED, second.answer().type());
        }
    }
}
