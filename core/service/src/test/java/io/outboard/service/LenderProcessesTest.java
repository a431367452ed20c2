package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Effort;
import io.outboard.core.GrowableRegion;
import io.outboard.pool.Pool;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients run in processes of their own. They are killed and stopped, and outlive their lender. */
@Timeout(120)
class LenderProcessesTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final long LIMIT = 32 * UNIT;

    @TempDir
    Path folder;

    private final List<Jvm> clients = new ArrayList<>();
    private Lender lender;

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        lender = lender();
    }

    private Lender lender() throws IOException {
        return Lender.of(LendingDevice.memory(LIMIT))
                .quota("sure", new Quota(8 * UNIT, LIMIT))
                .quota("little", new Quota(0, 4 * UNIT))
                .settling(Duration.ofMillis(600))
                .spares(1)
                .start(folder.resolve("lender"));
    }

    @AfterEach
    void end() {
        clients.forEach(Jvm::close);
        if (lender != null) {
            lender.close();
        }
    }

    private Jvm client(final String name) throws IOException {
        final Jvm client = Jvm.client(folder.resolve("lender"), name);
        clients.add(client);
        return client;
    }

    private Jvm readyClient(final String name) throws IOException {
        final Jvm client = client(name);
        assertEquals("ready", client.answer());
        return client;
    }

    private void awaitLent(final long bytes) {
        Await.until(() -> lender.status().lentBytes() == bytes, lender::status);
    }

    /**
     * Clients are killed at any moment of leasing, writing and giving back. The bytes of others stay, and fresh leases
     * are zero.
     */
    @Test
    void shouldTakeBackWhatTheKilledHeld() throws Exception {
        final Random random = new Random(17);
        final Jvm other = readyClient("other");
        assertEquals("ok", other.ask("allocate " + 6 * UNIT));
        for (int round = 0; round < Effort.tries(8); round++) {
            final List<Jvm> killed = List.of(client("a"), client("b"));
            for (final Jvm client : killed) {
                assertEquals("ready", client.answer());
                assertEquals("ok", client.ask("allocate " + 2 * UNIT));
                client.tell("churn 1000000");
            }
            LockSupport.parkNanos(random.nextInt(40_000_000));
            for (final Jvm client : killed) {
                client.kill();
            }
            Await.until(() -> lender.status().clients().size() == 1, lender::status);
            assertEquals("ok", other.ask("check"));
        }

        final LenderStatus status = lender.status();
        assertEquals(status.clients().get(0).leasedBytes(), status.lentBytes());
        assertEquals("ok", other.ask("free"));
        assertEquals("ok", other.ask("trim"));
        awaitLent(0);
    }

    @Test
    void shouldNameTheHoldersWhereTheDeviceIsFullAndTheQuotaWhereItIsUsedUp() throws Exception {
        final Jvm big = readyClient("big");
        assertEquals("ok", big.ask("allocate " + 20 * UNIT));
        final Jvm other = readyClient("other");
        assertEquals("ok", other.ask("allocate " + 2 * UNIT));

        final String full = other.ask("allocate " + 10 * UNIT);
        assertTrue(full.startsWith("refused:"), full);
        assertTrue(full.contains("the device is full") && full.contains("big (pid " + big.pid() + ") 40MiB"), full);

        final Jvm little = readyClient("little");
        final String quota = little.ask("allocate " + 5 * UNIT);
        assertTrue(quota.startsWith("refused:") && quota.contains("quota"), quota);

        // Guaranteed memory is there, though other clients would have taken it.
        final Jvm sure = readyClient("sure");
        assertEquals("ok", sure.ask("allocate " + 8 * UNIT));
        assertEquals("ok", big.ask("check"));
        assertEquals("ok", other.ask("check"));
    }

    /** A pool has free memory that another process needs. */
    @Test
    void shouldMakePoolsGiveBackWhatTheyDoNotUse() throws Exception {
        final Jvm idle = readyClient("idle");
        assertEquals("ok", idle.ask("allocate " + 4 * UNIT));
        assertEquals("ok", idle.ask("allocate " + 18 * UNIT));
        assertEquals("ok", idle.ask("free"));
        final Jvm other = readyClient("other");

        assertEquals("ok", other.ask("allocate " + 14 * UNIT));

        assertEquals("ok", idle.ask("check"));
        assertEquals("ok", other.ask("check"));
    }

    @Test
    void shouldNotWaitLongForAStoppedClientWhichKeepsWhatItHas() throws Exception {
        final Jvm stopped = readyClient("stopped");
        assertEquals("ok", stopped.ask("allocate " + 20 * UNIT));
        assertEquals("ok", stopped.ask("free"));
        stopped.signal("STOP");
        final Jvm other = readyClient("other");
        assertEquals("ok", other.ask("deadline 30"));

        final String refused = other.ask("allocate " + 10 * UNIT);

        assertTrue(refused.startsWith("refused:"), refused);
        stopped.signal("CONT");
        // The stopped client goes on, and answers what it was asked meanwhile.
        Await.until(() -> lender.status().lentBytes() < 20 * UNIT, lender::status);
        assertEquals("ok", other.ask("allocate " + 10 * UNIT));
        assertEquals("ok", stopped.ask("allocate " + 2 * UNIT));
    }

    @Test
    void shouldLearnFromClientsWhatTheyHoldWhenItIsStartedAnew() throws Exception {
        final Jvm one = readyClient("one");
        final Jvm two = readyClient("sure");
        assertEquals("ok", one.ask("allocate " + 5 * UNIT));
        assertEquals("ok", two.ask("allocate " + 3 * UNIT));
        final long before = Long.parseLong(one.ask("leased"));
        lender.close();

        final String refused = one.ask("allocate " + 4 * UNIT);
        assertTrue(refused.startsWith("refused:") && refused.contains("lender gone"), refused);
        assertEquals("ok", one.ask("check"));

        lender = lender();
        Await.until(() -> lender.status().clients().size() == 2, lender::status);
        Await.until(
                () -> lender.status().lentBytes()
                        == lender.status().clients().stream()
                                .mapToLong(LenderStatus.Client::leasedBytes)
                                .sum(),
                lender::status);
        assertTrue(before >= 5 * UNIT, "leased " + before);
        assertEquals("ok", one.ask("check"));
        assertEquals("ok", one.ask("allocate " + 4 * UNIT));
        one.kill();
        assertEquals("ok", two.ask("free"));
        assertEquals("ok", two.ask("trim"));
        awaitLent(0);
    }

    @Test
    void shouldHearHowMuchIsInUse() throws Exception {
        final Jvm client = readyClient("client");
        assertEquals("ok", client.ask("allocate " + UNIT));

        Await.until(() -> lender.status().clients().get(0).usedBytes() == UNIT, lender::status);
        // The next lender is told, too, though nothing has changed.
        lender.close();
        lender = lender();
        Await.until(() -> lender.status().clients().size() == 1, lender::status);
        Await.until(() -> lender.status().clients().get(0).usedBytes() == UNIT, lender::status);
    }

    /** A client that grows steadily has one prefetched lease. It goes back when growth ends. */
    @Test
    void shouldHaveALeaseAheadInSteadyGrowth() throws Exception {
        try (LeasedMemorySource source = LeasedMemorySource.connect(lender.socket())) {
            final GrowableRegion region = source.reserve(LIMIT, LIMIT).orElseThrow();
            final long first = region.region().address();
            for (int i = 0; i < 4; i++) {
                region.commit(first + i * UNIT, UNIT, UNIT);
            }
            Await.until(() -> source.connection().leasedBytes() == 5 * UNIT, lender::status);
            assertEquals(4 * UNIT, region.committedBytes());

            Await.until(() -> source.connection().leasedBytes() == 4 * UNIT, lender::status);
            awaitLent(4 * UNIT);
        }
        awaitLent(0);
    }

    /** A client gets the last memory that its quota allows, though a prefetched lease is in the way. */
    @Test
    void shouldGiveUpWhatIsAheadBeforeItRefuses() throws Exception {
        try (LeasedMemorySource source = LeasedMemorySource.connect(lender.socket(), "little")) {
            final GrowableRegion region = source.reserve(LIMIT, LIMIT).orElseThrow();
            final long first = region.region().address();
            for (int i = 0; i < 3; i++) {
                region.commit(first + i * UNIT, UNIT, UNIT);
            }
            region.giveBack(new long[] {first + 2 * UNIT}, 1);

            region.commit(first + 2 * UNIT, 2 * UNIT, 2 * UNIT);

            assertEquals(4 * UNIT, region.committedBytes());
            assertEquals(0, source.availableBytes());
            assertThrows(DeviceOutOfMemoryException.class, () -> region.commit(first + 4 * UNIT, UNIT, UNIT));
        }
    }

    @Test
    void shouldKeepBytesThatMoveAndLoseThoseThatGo() throws Exception {
        try (LeasedMemorySource source = LeasedMemorySource.connect(lender.socket());
                Pool pool = Pool.over(source).firstRegionBytes(UNIT).build()) {
            final List<Long> blocks = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                blocks.add(pool.allocate(2 * UNIT));
                source.view(blocks.get(i), 8).putLong(0, i + 1);
            }
            for (int i = 0; i < 12; i += 2) {
                pool.free(blocks.get(i));
            }

            final long large = pool.allocate(12 * UNIT);
            source.view(large, 8).putLong(0, 99);

            for (int i = 1; i < 12; i += 2) {
                assertEquals(i + 1, source.view(blocks.get(i), 8).getLong(0));
                pool.free(blocks.get(i));
            }
            pool.free(large);
            assertTrue(pool.statistics().movedBytes() > 0);
            assertEquals(0, pool.trimTo(0));
        }
        awaitLent(0);
    }
}
