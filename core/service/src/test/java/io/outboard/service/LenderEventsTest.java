package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whoever is told of a lender's events may take long, or fail. The lender lends and ends all the same. */
@Timeout(120)
class LenderEventsTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    /** More than a lender keeps of the events that nobody takes. */
    private static final int LEASES = 5000;

    private static final int SLOW_MILLIS = 200;

    @TempDir
    Path folder;

    private final List<LenderEvent> taken = new CopyOnWriteArrayList<>();
    private final CountDownLatch gate = new CountDownLatch(1);

    @BeforeEach
    void requireLeases() {
        Jvm.assumeLeases();
    }

    private Lender lender(final Consumer<LenderEvent> sink) throws IOException {
        return Lender.of(LendingDevice.memory(4 * UNIT)).events(sink).start(folder.resolve("lender"));
    }

    private void takeLate(final LenderEvent event) {
        await(gate);
        taken.add(event);
    }

    private static void await(final CountDownLatch latch) {
        try {
            latch.await();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void lease(final Lender lender, final int times) throws IOException {
        try (LenderConnection client = LenderConnection.connect(lender.socket(), "a")) {
            for (int i = 0; i < times; i++) {
                final Lease lease = client.lease(UNIT);
                client.closeDescriptor(lease);
                client.giveBack(lease.number());
            }
        }
        Await.until(() -> lender.status().clients().isEmpty(), lender::status);
    }

    @Test
    void shouldLendWhileNobodyTakesTheEventsAndCountThoseThatAreDropped() throws IOException {
        try (Lender lender = lender(this::takeLate)) {
            lease(lender, LEASES);

            assertEquals(List.of(), taken);
            gate.countDown();
        }

        final List<LenderEvent> dropped = taken.stream()
                .filter(event -> event.kind() == LenderEvent.Kind.DROPPED)
                .toList();
        assertEquals(1, dropped.size(), taken::toString);
        final int count = Integer.parseInt(dropped.get(0).detail().replace(" events", ""));
        final int all = 1 + 1 + 2 * LEASES + 1 + 1;
        assertTrue(count > 0 && count < all, dropped::toString);
        assertEquals(all, taken.size() - 1 + count);
        assertEquals(LenderEvent.Kind.STARTED, taken.get(0).kind());
    }

    @Test
    void shouldTellInOrderAndEndWithTheEnd() throws IOException {
        gate.countDown();
        try (Lender lender = lender(this::takeLate)) {
            lease(lender, 1);
        }

        assertEquals(
                List.of("STARTED", "CONNECTED", "LEASED", "RETURNED", "DISCONNECTED", "ENDED"),
                taken.stream().map(event -> event.kind().name()).toList());
    }

    @Test
    void shouldEndThoughNobodyTakesTheEvents() throws IOException {
        try (Lender lender = lender(this::takeLate)) {
            lease(lender, 1);
        }

        assertEquals(List.of(), taken);
        gate.countDown();
    }

    /** The sink takes its time, and the end waits for it. */
    private void takeSlowly(final LenderEvent event) {
        try {
            Thread.sleep(SLOW_MILLIS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        taken.add(event);
    }

    private Lender lenderOf(final Runnable onClose) throws IOException {
        final LendingDevice device = new MemoryDevice(UNIT) {
            @Override
            public void close() {
                onClose.run();
            }
        };
        return Lender.of(device).events(this::takeSlowly).start(folder.resolve("lender"));
    }

    @Test
    void shouldTellAllThoughTheClosingThreadIsInterrupted() throws IOException {
        final Lender lender = lenderOf(() -> Thread.currentThread().interrupt());

        lender.close();

        assertTrue(Thread.interrupted());
        assertEquals(2, taken.size(), taken::toString);
    }

    @Test
    void shouldTellAllThoughTheDeviceFailsToClose() throws IOException {
        final Lender lender = lenderOf(() -> {
            throw new IllegalStateException("the device's own");
        });

        assertThrows(IllegalStateException.class, lender::close);

        assertEquals(2, taken.size(), taken::toString);
    }

    @Test
    void shouldTellOnThoughTheSinkFails() throws IOException {
        try (Lender lender = lender(event -> {
            taken.add(event);
            if (event.kind() == LenderEvent.Kind.STARTED) {
                throw new AssertionError("the sink's own");
            }
        })) {
            lease(lender, 1);
        }

        assertEquals(6, taken.size(), taken::toString);
    }

    @Test
    void shouldLetTheSinkAskAndEndTheLender() throws IOException, InterruptedException {
        final CountDownLatch known = new CountDownLatch(1);
        final Lender[] own = new Lender[1];
        try (Lender lender = lender(event -> {
            await(known);
            if (event.kind() == LenderEvent.Kind.CONNECTED) {
                assertFalse(own[0].status().device().isEmpty());
                own[0].close();
            }
            taken.add(event);
        })) {
            own[0] = lender;
            known.countDown();
            try (LenderConnection client = LenderConnection.connect(lender.socket(), "a")) {
                assertEquals(UNIT, client.unitBytes());
                lender.awaitEnd();
            }
        }

        assertEquals(
                List.of("STARTED", "CONNECTED", "DISCONNECTED", "ENDED"),
                taken.stream().map(event -> event.kind().name()).toList());
    }
}
