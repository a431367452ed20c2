package io.outboard.cuda;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.pool.Pool;
import io.outboard.service.Lender;
import io.outboard.service.LenderConnection;
import io.outboard.service.LendingDevice;
import io.outboard.service.Quota;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * This class tests a lender with its socket and descriptors, which are files in memory, and a client's simulated driver
 * that imports them. The tests need JDK 22 or newer, and the service's classes in their jar.
 */
@Timeout(60)
class LenderTest {

    private static final long MIB = 1L << 20;
    private static final long LIMIT = 64 * MIB;

    @TempDir
    Path folder;

    private final FakeCuda cuda = new FakeCuda(1);
    private final FakeVirtualMemory memory = new FakeVirtualMemory(0);
    private final FakeSharedMemory shared = new FakeSharedMemory(memory, LIMIT);
    private Lender lender;

    /** The files in memory have the simulated GPU's name. */
    private record Named(LendingDevice files, String name) implements LendingDevice {

        @Override
        public long unitBytes() {
            return files.unitBytes();
        }

        @Override
        public long limitBytes() {
            return files.limitBytes();
        }

        @Override
        public Memory create(final long bytes) throws IOException {
            return files.create(bytes);
        }

        @Override
        public void close() {
            files.close();
        }
    }

    @BeforeEach
    void start() {
        lender = started();
    }

    private Lender started() {
        try {
            return Lender.of(new Named(LendingDevice.memory(LIMIT), LeasedMemory.nameOf(shared, 0)))
                    .quota("small", new Quota(0, 4 * MIB))
                    .start(folder.resolve("gpu0"));
        } catch (final IOException e) {
            return Assumptions.abort(
                    "skipped, needs Linux, JDK 22 or newer, and the service in its jar: " + e.getMessage());
        }
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    private CudaMemorySource connect(final String name) throws IOException {
        return CudaMemorySource.connect(
                cuda,
                (socket, as, device) ->
                        LeasedMemory.over(memory, shared, () -> LenderConnection.connect(socket, as), socket, device),
                0,
                lender.socket(),
                name);
    }

    private void awaitLent(final long bytes) {
        for (int i = 0; i < 20_000 && lender.status().lentBytes() != bytes; i++) {
            LockSupport.parkNanos(1_000_000);
        }
        assertEquals(bytes, lender.status().lentBytes());
    }

    @Test
    void shouldLendToAPoolAndTakeBack() throws IOException {
        try (CudaMemorySource source = connect("day");
                Pool pool = Pool.over(source).firstRegionBytes(2 * MIB).build()) {
            final long block = pool.allocate(20 * MIB);
            assertTrue(memory.isAccessible(block, 20 * MIB, 0));
            assertEquals(pool.statistics().heldBytes(), memory.usedBytes());
            assertTrue(lender.status().lentBytes() >= 20 * MIB);
            pool.free(block);

            assertEquals(0, pool.trimTo(0));

            assertEquals(0, memory.usedBytes());
            awaitLent(0);
        }
        for (int i = 0; i < 20_000 && !lender.status().clients().isEmpty(); i++) {
            LockSupport.parkNanos(1_000_000);
        }
        assertEquals(0, lender.status().clients().size());
    }

    /** One client has all the memory, and needs none of it. */
    @Test
    void shouldTakeFromOneWhatAnotherNeeds() throws IOException {
        try (CudaMemorySource first = connect("day");
                Pool day = Pool.over(first).firstRegionBytes(2 * MIB).build();
                CudaMemorySource second = connect("night");
                Pool night = Pool.over(second).firstRegionBytes(2 * MIB).build()) {
            day.free(day.allocate(48 * MIB));
            assertTrue(memory.isAccessible(night.allocate(40 * MIB), 40 * MIB, 0));
            assertTrue(day.statistics().heldBytes() <= 24 * MIB);
        }
        awaitLent(0);
    }

    @Test
    void shouldSayWhichLimitItWas() throws IOException {
        try (CudaMemorySource small = connect("small");
                CudaMemorySource large = connect("large");
                Pool pool = Pool.over(large).firstRegionBytes(2 * MIB).build()) {
            assertEquals(4 * MIB, small.availableBytes());
            final DeviceOutOfMemoryException quota =
                    assertThrows(DeviceOutOfMemoryException.class, () -> small.take(6 * MIB));
            assertTrue(quota.reason().contains("quota"), quota::reason);
            pool.allocate(62 * MIB);

            final DeviceOutOfMemoryException full =
                    assertThrows(DeviceOutOfMemoryException.class, () -> small.take(4 * MIB));
            assertTrue(
                    full.reason()
                            .contains("held by large (pid "
                                    + ProcessHandle.current().pid() + ")"),
                    full::reason);

            lender.close();
            final DeviceOutOfMemoryException gone =
                    assertThrows(DeviceOutOfMemoryException.class, () -> small.take(2 * MIB));
            assertTrue(gone.reason().contains("lender gone"), gone::reason);
            assertEquals(62 * MIB, pool.statistics().usedBytes());
        }
        assertEquals(0, memory.usedBytes());
    }

    @Test
    void shouldRefuseALenderOfFiles() throws IOException {
        try (LendingDevice files = LendingDevice.memory(LIMIT);
                Lender other = Lender.of(files).start(folder.resolve("memory"))) {
            final IOException thrown = assertThrows(
                    IOException.class,
                    () -> LeasedMemory.over(
                            memory,
                            shared,
                            () -> LenderConnection.connect(other.socket(), "day"),
                            Objects.requireNonNull(other.socket()),
                            0));

            assertTrue(messageOf(thrown).endsWith(", and lends memory"), messageOf(thrown));
        }
    }
}
