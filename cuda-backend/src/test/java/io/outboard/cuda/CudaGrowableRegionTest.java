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
    void shouldMapPiecesOneBehindTheOther() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            growable.commit(3 * MIB);
            growable.commit(4 * MIB);
            growable.commit(20 * MIB);

            assertEquals(20 * MIB, growable.committedBytes());
            assertEquals(20 * MIB, memory.usedBytes());
            assertEquals(2, memory.mappings());
            assertTrue(memory.isAccessible(growable.region().address(), 20 * MIB));
            assertFalse(memory.isAccessible(growable.region().address(), 20 * MIB + 1));
        }
    }

    @Test
    void shouldUnmapWholePiecesOnceTheDeviceHasFinished() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            growable.commit(4 * MIB);
            growable.commit(20 * MIB);
            growable.commit(22 * MIB);

            growable.decommit(22 * MIB);
            assertEquals(0, memory.synchronizations);
            growable.decommit(8 * MIB);
            assertEquals(20 * MIB, growable.committedBytes());
            assertEquals(1, memory.synchronizations);
            growable.decommit(4 * MIB);

            assertEquals(4 * MIB, growable.committedBytes());
            assertEquals(4 * MIB, memory.usedBytes());
            growable.commit(6 * MIB);
            assertTrue(memory.isAccessible(growable.region().address(), 6 * MIB));
        }
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

    /** Pieces that are larger than the unit, and a device that has less than addresses were reserved for. */
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

            assertEquals(32 * MIB, pool.trimTo(60 * MIB), "the second piece begins before that");

            assertEquals(32 * MIB, memory.usedBytes());
            pool.free(first);
            assertEquals(0, pool.trimTo(16 * MIB));
            assertEquals(0, memory.usedBytes());
        }
        assertEquals(0, memory.reservedBytes());
        assertEquals(0, cuda.usedBytes(1));
    }
}
