package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.cuda.memory.CudaFailureException;
import io.outboard.cuda.memory.FakeCuda;
import io.outboard.pool.Pool;
import java.util.Optional;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;

/** Regions that grow in place, over simulated devices. */
class CudaGrowableRegionTest {

    private static final long MIB = 1L << 20;
    private static final long DEVICE_BYTES = 128 * MIB;

    private final FakeCuda cuda = new FakeCuda(2);
    private final FakeVirtualMemory memory = new FakeVirtualMemory(DEVICE_BYTES);

    private CudaMemorySource open() {
        return CudaMemorySource.open(cuda, () -> Optional.of(memory), 1);
    }

    private static GrowableRegion reserve(final CudaMemorySource source) {
        return source.reserve(1L << 62).orElseThrow();
    }

    @Test
    void shouldReserveAddressesForTheWholeDeviceAndTakeNoMemory() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            assertEquals(FakeCuda.TOTAL_BYTES, growable.region().sizeBytes());
            assertEquals(FakeVirtualMemory.UNIT_BYTES, growable.unitBytes());
            assertEquals(0, growable.committedBytes());
            assertEquals(0, memory.usedBytes());
            assertEquals(5 * MIB & -growable.unitBytes(), sizeOfReserved(source, 5 * MIB));
            assertTrue(source.reserve(growable.unitBytes() - 1).isEmpty());
        }
        assertEquals(0, memory.reservedBytes());
    }

    private static long sizeOfReserved(final CudaMemorySource source, final long bytes) {
        return source.reserve(bytes).orElseThrow().region().sizeBytes();
    }

    @Test
    void shouldOfferNothingWhereTheCallsAreMissing() {
        try (CudaMemorySource source = CudaMemorySource.open(cuda, 0)) {
            assertTrue(source.reserve(1L << 40).isEmpty());
        }
    }

    @Test
    void shouldOfferNothingWhereTheDeviceCannot() {
        try (CudaMemorySource source = open()) {
            memory.failAt(1, CUresult.CUDA_ERROR_NOT_SUPPORTED);
            assertTrue(source.reserve(MIB << 10).isEmpty());
            memory.failAt(2, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
            assertTrue(source.reserve(MIB << 10).isEmpty());
            memory.failAt(2, CUresult.CUDA_ERROR_UNKNOWN);
            assertThrows(CudaFailureException.class, () -> source.reserve(MIB << 10));
        }
    }

    @Test
    void shouldMapUnitsOneBehindTheOther() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            growable.commit(3 * MIB);
            growable.commit(4 * MIB);
            growable.commit(20 * MIB);

            assertEquals(20 * MIB, growable.committedBytes());
            assertEquals(20 * MIB, memory.usedBytes());
            assertEquals(10, memory.mappings());
            assertTrue(memory.isAccessible(growable.region().address(), 20 * MIB));
            assertFalse(memory.isAccessible(growable.region().address(), 20 * MIB + 1));
        }
    }

    @Test
    void shouldUnmapUnitsOnceTheDeviceHasFinished() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            growable.commit(20 * MIB);

            growable.decommit(20 * MIB);
            assertEquals(0, memory.synchronizations);
            growable.decommit(7 * MIB);

            assertEquals(1, memory.synchronizations);
            assertEquals(8 * MIB, growable.committedBytes());
            assertEquals(8 * MIB, memory.usedBytes());
            growable.commit(10 * MIB);
            assertTrue(memory.isAccessible(growable.region().address(), 10 * MIB));
        }
    }

    @Test
    void shouldHaveMoreAddressesThanMemoryWhereItMoves() {
        try (CudaMemorySource source = open()) {
            assertTrue(source.canMove());
            assertEquals(16 * FakeCuda.TOTAL_BYTES, sizeToMove(source, 1L << 62, 1L << 62));
            assertEquals(48 * MIB, sizeToMove(source, 3 * MIB, 1L << 62));
            assertEquals(100 * MIB, sizeToMove(source, 1L << 62, 101 * MIB));
            assertThrows(IllegalArgumentException.class, () -> source.reserveToMove(1, 0));
            assertThrows(IllegalArgumentException.class, () -> source.reserveToMove(0, 1));
        }
        try (CudaMemorySource source = CudaMemorySource.open(cuda, 0)) {
            assertFalse(source.canMove());
            assertTrue(source.reserveToMove(1L << 40, 1L << 40).isEmpty());
        }
    }

    private static long sizeToMove(final CudaMemorySource source, final long bytes, final long addressBytes) {
        return source.reserveToMove(bytes, addressBytes).orElseThrow().region().sizeBytes();
    }

    @Test
    void shouldMoveMemoryIntoHolesAndBehindTheLast() {
        try (CudaMemorySource source = open();
                GrowableRegion growable =
                        source.reserveToMove(DEVICE_BYTES, 1L << 62).orElseThrow()) {
            growable.commit(DEVICE_BYTES);
            final long base = growable.region().address();
            final long[] from = {base, base + 2 * MIB, base + 8 * MIB};
            final long[] to = {base + DEVICE_BYTES, base + DEVICE_BYTES + 2 * MIB, base + DEVICE_BYTES + 4 * MIB};

            growable.move(from, to, 3);

            assertEquals(DEVICE_BYTES, growable.committedBytes());
            assertEquals(DEVICE_BYTES + 6 * MIB, growable.endBytes());
            assertTrue(memory.isAccessible(base + 10 * MIB, DEVICE_BYTES - 4 * MIB));
            assertFalse(growable.hasMemory(base + 2 * MIB));
            assertTrue(growable.hasMemory(base + 4 * MIB));
            assertEquals(1, memory.synchronizations);
            growable.move(new long[] {base + DEVICE_BYTES}, new long[] {base + 8 * MIB}, 1);
            assertThrows(DeviceOutOfMemoryException.class, () -> growable.fill(base, 4 * MIB));
            growable.decommit(16 * MIB);
            growable.fill(base, 4 * MIB);
            assertTrue(memory.isAccessible(base, 16 * MIB));
            assertEquals(16 * MIB, memory.usedBytes());
        }
        assertEquals(0, memory.usedBytes());
    }

    @Test
    void shouldGiveBackUnitsFromAnywhere() {
        try (CudaMemorySource source = open();
                GrowableRegion growable =
                        source.reserveToMove(DEVICE_BYTES, 1L << 62).orElseThrow()) {
            growable.commit(16 * MIB);
            final long base = growable.region().address();

            growable.giveBack(new long[] {base, base + 2 * MIB, base + 14 * MIB, base + 8 * MIB, 0}, 4);

            assertEquals(1, memory.synchronizations);
            assertEquals(8 * MIB, growable.committedBytes());
            assertEquals(14 * MIB, growable.endBytes());
            assertEquals(8 * MIB, memory.usedBytes());
            assertTrue(memory.isAccessible(base + 4 * MIB, 4 * MIB));
            assertTrue(memory.isAccessible(base + 10 * MIB, 4 * MIB));
            assertThrows(IllegalArgumentException.class, () -> growable.giveBack(new long[] {base}, 1));
            memory.failAt(2, CUresult.CUDA_ERROR_UNKNOWN);
            assertThrows(
                    CudaFailureException.class,
                    () -> growable.giveBack(new long[] {base + 4 * MIB, base + 10 * MIB}, 2));
            assertEquals(memory.usedBytes(), growable.committedBytes());
        }
        assertEquals(0, memory.usedBytes());
    }

    @Test
    void shouldRefuseToMoveWhatIsntThereOrToWhereSomethingIs() {
        try (CudaMemorySource source = open();
                GrowableRegion growable =
                        source.reserveToMove(DEVICE_BYTES, 1L << 62).orElseThrow()) {
            growable.commit(8 * MIB);
            final long base = growable.region().address();

            assertMoveRefused(growable, "from=" + (base + 8 * MIB), base + 8 * MIB, base + 10 * MIB);
            assertMoveRefused(growable, "from=" + (base + 1), base + 1, base + 8 * MIB);
            assertMoveRefused(growable, "to=" + base, base + 2 * MIB, base);
            assertMoveRefused(growable, "to=" + (base + 10 * MIB), base, base + 10 * MIB);
            assertMoveRefused(growable, "to=" + (base - 2 * MIB), base, base - 2 * MIB);
            assertThrows(IllegalArgumentException.class, () -> growable.fill(base, 2 * MIB));
            assertThrows(IllegalArgumentException.class, () -> growable.fill(base + 8 * MIB, MIB));
            assertThrows(IllegalArgumentException.class, () -> growable.fill(base + 10 * MIB, 2 * MIB));
            assertEquals(8 * MIB, memory.usedBytes());
        }
    }

    private static void assertMoveRefused(
            final GrowableRegion growable, final String named, final long from, final long to) {
        final IllegalArgumentException thrown = assertThrows(
                IllegalArgumentException.class, () -> growable.move(new long[] {from}, new long[] {to}, 1));
        assertTrue(String.valueOf(thrown.getMessage()).startsWith(named), thrown::toString);
    }

    /** Each unit has memory of its own or none, and what it says is so. */
    @Test
    void shouldLoseNothingWhicheverCallOfAMoveFails() {
        int call = 0;
        boolean failed;
        do {
            call++;
            try (CudaMemorySource source = open();
                    GrowableRegion growable =
                            source.reserveToMove(DEVICE_BYTES, 1L << 62).orElseThrow()) {
                growable.commit(16 * MIB);
                final long base = growable.region().address();
                memory.failAt(call, CUresult.CUDA_ERROR_UNKNOWN);
                try {
                    growable.move(
                            new long[] {base, base + 2 * MIB, base + 8 * MIB, base + 12 * MIB},
                            new long[] {base + 16 * MIB, base + 18 * MIB, base + 20 * MIB, base + 22 * MIB},
                            4);
                } catch (final CudaFailureException e) {
                    assertEquals("CUDA_ERROR_UNKNOWN", e.codeName());
                }
                failed = !memory.failedCall().isEmpty();
                memory.failAt(0, 0);
                assertEquals(16 * MIB, growable.committedBytes(), "one failure is made good: call=" + call);
                assertEquals(growable.committedBytes(), memory.usedBytes());
                for (long unit = base; unit < base + 32 * MIB; unit += 2 * MIB) {
                    assertEquals(growable.hasMemory(unit), memory.isAccessible(unit, 2 * MIB));
                }
            }
            assertEquals(0, memory.usedBytes());
        } while (failed);
        // The wait, a row and two units unmapped, four mapped, access for one row; in the last run none was left to
        // fail.
        assertTrue(call > 8, "calls=" + call);
    }

    @Test
    void shouldSayWhatTheDeviceHasWhenItRunsOut() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            growable.commit(MIB);

            final DeviceOutOfMemoryException thrown =
                    assertThrows(DeviceOutOfMemoryException.class, () -> growable.commit(DEVICE_BYTES + 1));

            assertEquals(DEVICE_BYTES, thrown.requestedBytes());
            assertEquals("CUDA_ERROR_OUT_OF_MEMORY (2)", thrown.reason());
            assertEquals(2 * MIB, growable.committedBytes());
            growable.commit(DEVICE_BYTES);
        }
    }

    @Test
    void shouldLeaveTheCurrentDeviceAsFound() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            growable.commit(4 * MIB);
            growable.decommit(0);

            assertEquals(0, cuda.current());
        }
        assertEquals(0, cuda.current());
    }

    @Test
    void shouldRefuseWhatIsOutsideOfTheRegionOrTooLate() {
        final CudaMemorySource source = open();
        final GrowableRegion growable = reserve(source);

        assertThrows(IllegalArgumentException.class, () -> source.reserve(0));
        assertThrows(IllegalArgumentException.class, () -> growable.commit(-1));
        assertThrows(IllegalArgumentException.class, () -> growable.commit(FakeCuda.TOTAL_BYTES + 1));
        assertThrows(IllegalArgumentException.class, () -> growable.decommit(-1));
        growable.close();
        growable.close();
        assertThrows(IllegalStateException.class, () -> growable.commit(1));
        assertThrows(IllegalStateException.class, () -> growable.decommit(0));
        source.close();
        assertThrows(IllegalStateException.class, () -> source.reserve(1));
    }

    @Test
    void shouldGiveAllBackWithTheSource() {
        final CudaMemorySource source = open();
        reserve(source).commit(4 * MIB);
        reserve(source).commit(6 * MIB);

        source.close();

        assertEquals(0, memory.usedBytes());
        assertEquals(0, memory.reservedBytes());
    }

    @Test
    void shouldLeakNothingWhicheverCallFails() {
        int call = 0;
        do {
            call++;
            memory.failAt(call, CUresult.CUDA_ERROR_UNKNOWN);
            try (CudaMemorySource source = open()) {
                run(source);
            } catch (final CudaFailureException e) {
                assertEquals("CUDA_ERROR_UNKNOWN", e.codeName());
            }
            assertEquals(0, memory.usedBytes(), memory.failedCall());
            assertEquals(0, memory.reservedBytes(), memory.failedCall());
        } while (!memory.failedCall().isEmpty());
        assertTrue(call > 15, "calls=" + call);
    }

    /** A failed call changes nothing, so it can be made again. */
    private void run(final CudaMemorySource source) {
        final GrowableRegion growable = reserve(source);
        for (final long bytes : new long[] {4 * MIB, 8 * MIB, 10 * MIB}) {
            final long before = growable.committedBytes();
            try {
                growable.commit(bytes);
            } catch (final CudaFailureException e) {
                assertEquals(before, growable.committedBytes());
                assertEquals(before, memory.usedBytes());
                growable.commit(bytes);
            }
            assertTrue(memory.isAccessible(growable.region().address(), bytes));
        }
        try {
            growable.decommit(4 * MIB);
        } catch (final CudaFailureException e) {
            assertEquals(memory.usedBytes(), growable.committedBytes());
        }
        growable.close();
    }

    /** A device that has less than addresses were reserved for. */
    @Test
    void shouldServeAPool() {
        try (CudaMemorySource source = open();
                Pool pool = Pool.over(source).firstRegionBytes(32 * MIB).build()) {
            final long first = pool.allocate(MIB);
            final long second = pool.allocate(40 * MIB);
            assertEquals(first + MIB, second);
            assertTrue(memory.isAccessible(second, 40 * MIB));
            assertEquals(64 * MIB, memory.usedBytes());
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(100 * MIB));
            pool.free(second);

            assertEquals(60 * MIB, pool.trimTo(60 * MIB));

            assertEquals(60 * MIB, memory.usedBytes());
            pool.free(first);
            assertEquals(16 * MIB, pool.trimTo(16 * MIB));
            assertEquals(0, pool.trimTo(0));
            assertEquals(0, memory.usedBytes());
        }
        assertEquals(0, memory.reservedBytes());
        assertEquals(0, cuda.usedBytes(1));
    }

    /** The device is full, and half of it free, in blocks of 8 MiB: a block of half the device. */
    @Test
    void shouldServeAPoolFromMemoryThatIsScattered() {
        try (CudaMemorySource source = open();
                Pool pool = Pool.over(source).build()) {
            final long[] blocks = new long[16];
            for (int i = 0; i < blocks.length; i++) {
                blocks[i] = pool.allocate(8 * MIB);
            }
            for (int i = 0; i < blocks.length; i += 2) {
                pool.free(blocks[i]);
            }

            final long half = pool.allocate(64 * MIB);

            assertTrue(memory.isAccessible(half, 64 * MIB));
            for (int i = 1; i < blocks.length; i += 2) {
                assertTrue(memory.isAccessible(blocks[i], 8 * MIB));
            }
            assertEquals(DEVICE_BYTES, memory.usedBytes());
            assertEquals(DEVICE_BYTES, pool.statistics().heldBytes());
        }
        assertEquals(0, memory.usedBytes());
    }
}
