package io.outboard.cuda;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.pool.Pool;
import java.io.IOException;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;

/** This class tests regions of leased memory, over a simulated driver and a lender without a socket. */
class CudaLeasesTest {

    private static final long MIB = 1L << 20;
    private static final long DEVICE_BYTES = 256 * MIB;
    private static final long MOST = 128 * MIB;

    private final FakeCuda cuda = new FakeCuda(2);
    private final FakeVirtualMemory memory = new FakeVirtualMemory(0);
    private final FakeSharedMemory shared = new FakeSharedMemory(memory, DEVICE_BYTES);
    private FakeLender lender = new FakeLender(shared, 1, MOST);

    private CudaMemorySource connect() {
        try {
            return CudaMemorySource.connect(cuda, lender.door(memory), 1, FakeLender.socket(), "day");
        } catch (final IOException e) {
            throw new AssertionError(e);
        }
    }

    private void assertNothingIsLeft() {
        assertEquals(0, memory.usedBytes(), memory.failedCall());
        assertEquals(0, memory.reservedBytes(), memory.failedCall());
        assertEquals(0, shared.handles(), memory.failedCall());
        assertEquals(0, shared.descriptors(), memory.failedCall());
    }

    @Test
    void shouldLeaseEachPieceAndGiveItBack() {
        try (CudaMemorySource source = connect();
                GrowableRegion growable = source.reserve(1L << 62, 1L << 62).orElseThrow()) {
            final long base = growable.region().address();
            growable.commit(base, 12 * MIB, 4 * MIB);
            assertEquals(3, lender.leases());
            assertEquals(12 * MIB, lender.leasedBytes());
            assertEquals(0, shared.descriptors(), "those are closed once the memory is imported");
            assertTrue(memory.isAccessible(base, 12 * MIB));
            assertEquals(MOST - 12 * MIB, source.availableBytes());

            assertEquals(4 * MIB, lender.wantedBytes(), "of 12, 8 and 4");

            growable.giveBack(new long[] {base + 4 * MIB}, 1);

            assertEquals(2, lender.leases());
            growable.move(new long[] {base}, 1);
            assertEquals(2, lender.leases(), "what moves stays leased");
            assertTrue(memory.isAccessible(base + 8 * MIB, 8 * MIB));
            assertEquals("day", lender.askedName());
        }
        assertEquals(2, lender.returns(), "the two that were left at once");
        assertTrue(lender.isClosed());
        assertNothingIsLeft();
    }

    @Test
    void shouldLeaseWholeRegions() {
        try (CudaMemorySource source = connect()) {
            final Region odd = source.take(3 * MIB + 1);
            assertEquals(3 * MIB + 1, odd.sizeBytes());
            assertEquals(4 * MIB, lender.leasedBytes());
            assertTrue(memory.isAccessible(odd.address(), 4 * MIB));
            assertEquals(0, cuda.usedBytes(1), "nothing of the driver's own");
            final Region share = source.takeShare(0.5);
            assertEquals(62 * MIB, share.sizeBytes());

            final int before = cuda.synchronizations();
            source.giveBack(odd);
            assertEquals(before + 1, cuda.synchronizations());
            assertEquals(62 * MIB, lender.leasedBytes());
            assertThrows(IllegalArgumentException.class, () -> source.giveBack(odd));
            assertThrows(IllegalArgumentException.class, () -> source.take(0));
        }
        assertNothingIsLeft();
    }

    /** The exception that a program sees has the lender's words in its message. */
    @Test
    void shouldSayWhatTheLenderSays() {
        try (CudaMemorySource source = connect();
                Pool pool = Pool.over(source).firstRegionBytes(2 * MIB).build()) {
            final long block = pool.allocate(60 * MIB);
            final String quota = refusalOf(pool, 100 * MIB);
            assertTrue(quota.contains("the lender's quota for this process leaves less than is missing"), quota);
            lender.lentBytes(64 * MIB);
            final String full = refusalOf(pool, 40 * MIB);
            assertTrue(full.contains(FakeLender.REASON), full);
            lender.lentBytes(MOST);
            pool.free(block);
            pool.free(pool.allocate(MOST));
            final DeviceOutOfMemoryException whole =
                    assertThrows(DeviceOutOfMemoryException.class, () -> source.take(1L << 40));
            assertEquals("the lender's quota for this process leaves less than is missing", whole.reason());
        }
        assertNothingIsLeft();
    }

    private static String refusalOf(final Pool pool, final long sizeBytes) {
        return messageOf(assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(sizeBytes)));
    }

    @Test
    void shouldRefuseAWholeRegionAsTheLenderDoes() {
        try (CudaMemorySource source = connect()) {
            memory.adopt(DEVICE_BYTES - 8 * MIB);
            final DeviceOutOfMemoryException thrown =
                    assertThrows(DeviceOutOfMemoryException.class, () -> source.take(10 * MIB));
            assertTrue(thrown.reason().contains("CUDA_ERROR_OUT_OF_MEMORY"), thrown::reason);
            assertEquals(0, lender.leases());
            assertEquals(0, memory.reservedBytes());
        }
    }

    /** Under pressure a pool returns what is free in it, and keeps what is in use. */
    @Test
    void shouldGiveBackUnderPressure() {
        try (CudaMemorySource source = connect();
                Pool pool = Pool.over(source).firstRegionBytes(2 * MIB).build()) {
            final long kept = pool.allocate(10 * MIB);
            pool.free(pool.allocate(60 * MIB));
            final long before = lender.leasedBytes();

            lender.press(40 * MIB);

            assertTrue(lender.leasedBytes() <= before - 40 * MIB, () -> "leased=" + lender.leasedBytes());
            assertTrue(memory.isAccessible(kept, 10 * MIB));
            assertEquals(pool.statistics().heldBytes(), lender.leasedBytes());
            assertEquals(1, lender.users());
        }
        assertEquals(0, lender.users());
    }

    @Test
    void shouldRefuseALenderOfAnotherDevice() {
        lender = new FakeLender(shared, 0, MOST);
        final IOException thrown = assertThrows(
                IOException.class,
                () -> CudaMemorySource.connect(cuda, lender.door(memory), 1, FakeLender.socket(), "day"));

        assertEquals(
                "socket=/run/outboard/lender must be of a lender of device 1, cuda:a1a2a3a4-a5a6-a7a8-a9aa, and lends"
                        + " cuda:a0a1a2a3-a4a5-a6a7-a8a9",
                messageOf(thrown));
        assertTrue(lender.isClosed());
    }

    /** Whenever no call runs, the ledger is right. */
    @Test
    void shouldLeakNothingWhicheverCallFails() {
        int call = 0;
        do {
            call++;
            lender = new FakeLender(shared, 1, MOST);
            memory.failAt(call, CUresult.CUDA_ERROR_UNKNOWN);
            boolean connected = false;
            try (CudaMemorySource source = connect()) {
                connected = true;
                run(source);
            } catch (final CudaFailureException e) {
                assertEquals("CUDA_ERROR_UNKNOWN", e.codeName());
            }
            assertEquals(connected, lender.isClosed());
            assertNothingIsLeft();
        } while (!memory.failedCall().isEmpty());
        assertTrue(call > 40, "calls=" + call);
    }

    private void run(final CudaMemorySource source) {
        final Region whole = takenAtLast(source);
        final GrowableRegion growable = source.reserve(1L << 62, 1L << 62).orElseThrow();
        final long base = growable.region().address();
        for (int i = 0; i < 3; i++) {
            final long before = growable.committedBytes();
            try {
                growable.commit(base + before, 4 * MIB, 2 * MIB);
            } catch (final CudaFailureException | DeviceOutOfMemoryException e) {
                assertEquals(before, growable.committedBytes());
                assertEquals(before + 4 * MIB, memory.usedBytes());
                assertLedgerIsRight();
                growable.commit(base + before, 4 * MIB, 2 * MIB);
            }
            assertTrue(memory.isAccessible(base, before + 4 * MIB));
        }
        try {
            growable.giveBack(new long[] {base, base + 4 * MIB}, 2);
        } catch (final CudaFailureException e) {
            assertEquals(memory.usedBytes(), growable.committedBytes() + 4 * MIB);
        }
        assertLedgerIsRight();
        growable.close();
        source.giveBack(whole);
        assertLedgerIsRight();
    }

    private static Region takenAtLast(final CudaMemorySource source) {
        try {
            return source.take(3 * MIB);
        } catch (final CudaFailureException | DeviceOutOfMemoryException e) {
            return source.take(3 * MIB);
        }
    }

    /** Checks the ledger. Memory that a failing driver keeps is an exception: it isn't lent again. */
    private void assertLedgerIsRight() {
        assertFalse(lender.isClosed());
        if (memory.failedCall().equals("release")) {
            assertTrue(lender.leasedBytes() >= memory.usedBytes());
        } else {
            assertEquals(memory.usedBytes(), lender.leasedBytes(), memory.failedCall());
        }
    }
}
