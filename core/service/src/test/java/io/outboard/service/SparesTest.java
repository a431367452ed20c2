package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.service.internal.linux.Linux;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SparesTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    /** The memory of a device of which an eighth is more than the tests need. */
    private static final long FAR_MORE = 1000;

    private static final class Made implements LendingDevice.Memory {

        private volatile boolean closed;

        @Override
        public int descriptor() {
            return 0;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private final Spares spares = new Spares(2, FAR_MORE);

    @Test
    void shouldBeOfTheCommonestSizeAndNoMoreThanThatMany() {
        assertEquals(0, spares.next(100, 0));
        spares.asked(8, 0);
        spares.asked(4, 0);
        spares.asked(4, 0);

        assertEquals(4, spares.next(100, 0));
        assertEquals(4, spares.next(100, 0));
        assertEquals(0, spares.next(100, 0));
        assertEquals(8, spares.bytes());

        final Made made = new Made();
        spares.came(made);
        spares.came(null);
        assertEquals(4, spares.bytes());
        assertNull(spares.take(8));
        assertSame(made, spares.take(4));
        assertNull(spares.take(4));
        assertFalse(made.closed);
    }

    @Test
    void shouldRememberTheLastRequestsHoweverManyThereWere() {
        for (int i = 0; i < 1000; i++) {
            spares.asked(8, 0);
        }
        for (int i = 0; i < 9; i++) {
            spares.asked(4, 0);
        }

        assertEquals(4, spares.next(100, 0));
    }

    @Test
    void shouldLeaveRoomForClients() {
        spares.asked(4, 0);

        assertEquals(0, spares.next(3, 0));
        assertEquals(4, spares.next(7, 0));
        assertEquals(0, spares.next(7, 0));
    }

    @Test
    void shouldGoWhenAnotherSizeIsWanted() {
        spares.asked(4, 0);
        spares.next(100, 0);
        final Made made = new Made();
        spares.came(made);
        spares.asked(8, 0);
        spares.asked(8, 0);

        assertEquals(8, spares.next(100, 0));

        assertTrue(made.closed);
    }

    /** A maker may take longer than the lender waits for it. */
    @Test
    void shouldGoIfItComesAfterTheEnd() {
        spares.asked(4, 0);
        spares.next(100, 0);
        spares.next(100, 0);
        final Made before = new Made();
        final Made after = new Made();
        spares.came(before);

        spares.end();
        spares.came(after);

        assertTrue(before.closed);
        assertTrue(after.closed);
        assertEquals(0, spares.next(100, 0));
    }

    /** A spare is made, and the lender only hears of it when its thread does nothing any more. */
    @Test
    void shouldGoIfItIsMadeWhileTheLenderEnds(@TempDir final Path folder) throws Exception {
        Jvm.assumeLeases();
        final CompletableFuture<Made> spare = new CompletableFuture<>();
        final CountDownLatch isMaking = new CountDownLatch(1);
        final CountDownLatch never = new CountDownLatch(1);
        final LendingDevice device = new MemoryDevice(8 * UNIT) {

            private int created;

            @Override
            public Memory create(final long bytes) throws IOException {
                if (created++ == 0) {
                    return super.create(bytes);
                }
                final Made made = new Made();
                try {
                    isMaking.countDown();
                    never.await();
                } catch (final InterruptedException e) {
                    // The lender ends, and interrupts this wait.
                    spare.complete(made);
                }
                return made;
            }
        };
        try (Lender lender = Lender.of(device).spares(1).start(folder.resolve("lender"));
                LenderConnection client = LenderConnection.connect(lender.socket(), "a")) {
            client.closeDescriptor(client.lease(UNIT));
            isMaking.await();
        }

        final Made made = spare.get(20, TimeUnit.SECONDS);
        assertTrue(made.closed);
    }

    @Test
    void shouldTakeAnEighthOfTheMemoryAtMost(@TempDir final Path folder) throws Exception {
        Jvm.assumeLeases();
        try (Lender lender =
                        Lender.of(LendingDevice.memory(16 * UNIT)).spares(8).start(folder.resolve("lender"));
                LenderConnection client = LenderConnection.connect(lender.socket(), "a")) {
            for (int i = 0; i < 12; i++) {
                client.closeDescriptor(client.lease(UNIT));
                Await.until(() -> lender.status().spareBytes() >= 2 * UNIT, lender::status);
                assertTrue(
                        lender.status().spareBytes() <= 2 * UNIT,
                        () -> lender.status().toString());
            }
        }
    }

    /** A client for which spares were made may be long gone. */
    @Test
    void shouldGoWhenNobodyHasAskedForThemForAWhile(@TempDir final Path folder) throws Exception {
        Jvm.assumeLeases();
        final LenderBuilder builder = Lender.of(LendingDevice.memory(64 * UNIT)).spares(2);
        final AtomicInteger sleepsMillis = new AtomicInteger();
        final Linux linux = FakeLender.hooked((call, arguments) -> {
            if (call.equals("poll")) {
                sleepsMillis.set((int) arguments[3]);
            }
        });
        try (SteppedLender lender =
                        new SteppedLender(builder, linux, folder.resolve("lender"), Duration.ZERO, event -> {});
                LenderConnection client = LenderConnection.connect(folder.resolve("lender"), "a")) {
            client.closeDescriptor(client.lease(UNIT));
            Await.until(() -> lender.status().spareBytes() == 2 * UNIT, lender::status);
            // The lender wakes by itself when that time is over.
            Await.until(() -> sleepsMillis.get() == 10_000, sleepsMillis::get);
            lender.nanos.set(TimeUnit.SECONDS.toNanos(9));
            client.closeDescriptor(client.lease(UNIT));
            lender.nanos.set(TimeUnit.SECONDS.toNanos(18));
            Await.until(() -> lender.status().spareBytes() == 2 * UNIT, lender::status);

            lender.nanos.set(TimeUnit.SECONDS.toNanos(19));

            Await.until(() -> lender.status().spareBytes() == 0, lender::status);
            // They are made again once somebody asks.
            client.closeDescriptor(client.lease(UNIT));
            Await.until(() -> lender.status().spareBytes() == 2 * UNIT, lender::status);
        }
    }

    @Test
    void shouldBeNoneUnlessToldTo() {
        final Spares none = new Spares(0, FAR_MORE);
        none.asked(4, 0);

        assertEquals(0, none.next(100, 0));
    }
}
