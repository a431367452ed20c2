package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.pool.Pool;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A pool has leased memory, in the lender's own process and in another. */
@Timeout(60)
class LeasedMemoryTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final long LIMIT = 32 * UNIT;

    @TempDir
    Path folder;

    private Lender lender;

    @BeforeEach
    void start() throws IOException {
        Jvm.assumeLeases();
        lender = Lender.of(LendingDevice.memory(LIMIT)).start(folder.resolve("lender"));
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    @Test
    void shouldLendToAPool() throws IOException {
        try (LeasedMemorySource source = LeasedMemorySource.connect(lender.socket(), "day");
                Pool pool = Pool.over(source).firstRegionBytes(UNIT).build()) {
            final long address = pool.allocate(3 * UNIT);

            source.view(address, 8).putLong(0, 17);
            assertEquals(17, source.view(address, 8).getLong(0));
            final LenderStatus.Client client = lender.status().clients().get(0);
            assertEquals("day", client.name());
            assertEquals(ProcessHandle.current().pid(), client.pid());
            // A prefetched lease may be on its way, too.
            final long heldBytes = pool.statistics().heldBytes();
            assertTrue(heldBytes >= 3 * UNIT && heldBytes <= client.leasedBytes(), client::toString);
            assertTrue(client.leasedBytes() <= heldBytes + UNIT, client::toString);

            pool.free(address);
            assertEquals(0, pool.trimTo(0));
            Await.until(() -> lender.status().lentBytes() == 0, lender::status);
        }
    }

    @Test
    void shouldLendToAnotherProcess() throws Exception {
        try (Jvm client = Jvm.client(lender.socket(), "night")) {
            assertEquals("ready", client.answer());

            assertEquals("ok", client.ask("allocate " + 5 * UNIT));
            assertEquals("ok", client.ask("check"));

            final LenderStatus status = LenderStatus.of(lender.socket());
            assertEquals(client.pid(), status.clients().get(0).pid());
            assertTrue(status.lentBytes() >= 5 * UNIT, status::toString);

            assertEquals("ok", client.ask("free"));
            assertEquals("ok", client.ask("trim"));
            Await.until(() -> lender.status().lentBytes() == 0, lender::status);
        }
    }
}
