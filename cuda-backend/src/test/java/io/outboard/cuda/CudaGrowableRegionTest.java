package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** This class tests regions that grow in place, over simulated devices. */
class CudaGrowableRegionTest {

    private static final long MIB = 1L << 20;
    private static final long DEVICE_BYTES = 128 * MIB;

    private final FakeCuda cuda = new FakeCuda(8);
    private final FakeVirtualMemory memory = new FakeVirtualMemory(DEVICE_BYTES);

    private CudaMemorySource open() {
        return CudaMemorySource.open(cuda, () -> Optional.of(memory), 1);
    }

    private static GrowableRegion reserve(final CudaMemorySource source) {
        return source.reserve(1L << 62, 1L << 62).orElseThrow();
    }

    @Test
    void shouldReserveAddressesForTheWholeDeviceAndTakeNoMemory() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            assertEquals(16 * FakeCuda.TOTAL_BYTES, growable.region().sizeBytes());
            assertEquals(FakeVirtualMemory.UNIT_BYTES, growable.unitBytes());
            assertEquals(0, growable.committedBytes());
            assertEquals(0, memory.usedBytes());
            assertEquals(48 * MIB, sizeOfReserved(source, 3 * MIB, 1L << 62));
            assertEquals(100 * MIB, sizeOfReserved(source, 1L << 62, 101 * MIB));
            assertTrue(source.reserve(growable.unitBytes() - 1, 1L << 62).isEmpty());
            assertTrue(source.reserve(1L << 62, growable.unitBytes() - 1).isEmpty());
        }
        assertEquals(0, memory.reservedBytes());
    }

    private static long sizeOfReserved(final CudaMemorySource source, final long bytes, final long addressBytes) {
        return source.reserve(bytes, addressBytes).orElseThrow().region().sizeBytes();
    }

    @Test
    void shouldOfferNothingWhereTheCallsAreMissing() {
        try (CudaMemorySource source = CudaMemorySource.open(cuda, 0)) {
            assertTrue(source.reserve(1L << 40, 1L << 40).isEmpty());
        }
    }

    @Test
    void shouldOfferNothingWhereTheDeviceCannot() {
        try (CudaMemorySource source = open()) {
            memory.failAt(1, CUresult.CUDA_ERROR_NOT_SUPPORTED);
            assertTrue(source.reserve(MIB << 10, MIB << 10).isEmpty());
            memory.failAt(2, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
            assertTrue(source.reserve(MIB << 10, MIB << 10).isEmpty());
            memory.failAt(2, CUresult.CUDA_ERROR_UNKNOWN);
            assertThrows(CudaFailureException.class, () -> source.reserve(MIB << 10, MIB << 10));
        }
    }

    @Test
    void shouldMapPiecesAsLargeAsTold() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            final long base = growable.region().address();
            growable.commit(base, 4 * MIB, 8 * MIB);
            growable.commit(base + 4 * MIB, 16 * MIB, 6 * MIB);

            assertEquals(20 * MIB, growable.committedBytes());
            assertEquals(20 * MIB, memory.usedBytes());
            assertEquals(4, memory.mappings());
            assertEquals(4 * MIB, growable.pieceBytes(base + 16 * MIB));
            assertTrue(memory.isAccessible(base, 20 * MIB));
            assertFalse(memory.isAccessible(base, 20 * MIB + 1));
        }
    }

    /** The call that sets access takes longest, so there must be one for all pieces. */
    @Test
    void shouldShowAllPiecesAtOnce() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            final long base = growable.region().address();
            memory.failAt(9, CUresult.CUDA_ERROR_UNKNOWN);

            assertThrows(CudaFailureException.class, () -> growable.commit(base, 8 * MIB, 2 * MIB));

            assertEquals("setAccess", memory.failedCall());
            assertEquals(0, memory.usedBytes());
            memory.failAt(10, CUresult.CUDA_ERROR_UNKNOWN);
            growable.commit(base, 8 * MIB, 2 * MIB);
            assertEquals("", memory.failedCall());
            memory.failAt(Integer.MAX_VALUE, CUresult.CUDA_ERROR_UNKNOWN);
        }
    }

    /**
     * Memory that the device can't reach must be unmapped, even if undoing fails, too: a kernel that used it would end
     * the context.
     */
    @ParameterizedTest
    @CsvSource({"map, none, 0", "setAccess, none, 0", "setAccess, unmap, 8", "map, release, 2"})
    void shouldHaveNothingThatTheDeviceCannotReach(final String call, final String undo, final long lostMiB) {
        final GrowableRegion growable = reserve(open());
        final long base = growable.region().address();
        memory.runOutOfHostMemory(call, undo);

        assertThrows(OutOfMemoryError.class, () -> growable.commit(base, 8 * MIB, 2 * MIB));

        assertEquals(0, growable.committedBytes());
        assertEquals(lostMiB * MIB, memory.usedBytes());
    }

    /** The caller knows that no work uses the pieces. */
    @Test
    void shouldGiveBackPiecesFromAnywhereWithoutAWait() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            final long base = growable.region().address();
            growable.commit(base, 16 * MIB, 2 * MIB);

            growable.giveBack(new long[] {base, base + 2 * MIB, base + 14 * MIB, base + 8 * MIB, 0}, 4);

            assertEquals(0, cuda.synchronizations());
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
            growable.commit(base, 4 * MIB, 4 * MIB);
            assertTrue(memory.isAccessible(base, 4 * MIB));
        }
        assertEquals(0, memory.usedBytes());
        assertEquals(1, cuda.synchronizations(), "to close does wait");
    }

    @Test
    void shouldMovePiecesBehindTheLast() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            final long base = growable.region().address();
            growable.commit(base, DEVICE_BYTES, 4 * MIB);

            growable.move(new long[] {base, base + 8 * MIB}, 2);

            assertEquals(0, cuda.synchronizations());
            assertEquals(DEVICE_BYTES, growable.committedBytes());
            assertEquals(DEVICE_BYTES + 8 * MIB, growable.endBytes());
            assertTrue(memory.isAccessible(base + 12 * MIB, DEVICE_BYTES - 4 * MIB));
            assertFalse(memory.isAccessible(base, 2 * MIB));
            assertEquals(base + 4 * MIB, growable.pieceFrom(base));
            final long address = base;
            assertThrows(DeviceOutOfMemoryException.class, () -> growable.commit(address, 4 * MIB, 4 * MIB));
            assertThrows(IllegalArgumentException.class, () -> growable.move(new long[] {address}, 1));
        }
        assertEquals(0, memory.usedBytes());
    }

    /** Each piece has memory of its own, and its contents show which. */
    @Test
    void shouldLoseNothingWhicheverCallOfAMoveFails() {
        int call = 0;
        boolean failed;
        do {
            call++;
            try (CudaMemorySource source = open();
                    GrowableRegion growable = reserve(source)) {
                final long base = growable.region().address();
                growable.commit(base, 16 * MIB, 2 * MIB);
                memory.failAt(call, CUresult.CUDA_ERROR_UNKNOWN);
                try {
                    growable.move(new long[] {base, base + 2 * MIB, base + 8 * MIB, base + 12 * MIB}, 4);
                } catch (final CudaFailureException e) {
                    assertEquals("CUDA_ERROR_UNKNOWN", e.codeName());
                }
                failed = !memory.failedCall().isEmpty();
                memory.failAt(0, 0);
                assertEquals(16 * MIB, growable.committedBytes(), "one failure is made good: call=" + call);
                assertEquals(growable.committedBytes(), memory.usedBytes());
                for (long unit = base; unit < base + 32 * MIB; unit += 2 * MIB) {
                    assertEquals(growable.pieceBytes(unit) > 0, memory.isAccessible(unit, 2 * MIB));
                }
            }
            assertEquals(0, memory.usedBytes());
        } while (failed);
        // Each of four pieces is unmapped and mapped, and then all are made accessible; in the last run no call was
        // left to fail.
        assertTrue(call > 9, "calls=" + call);
    }

    @Test
    void shouldShowItselfToOtherDevices() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            final long base = growable.region().address();
            growable.commit(base, 4 * MIB, 2 * MIB);
            source.show(3);
            source.show(3);
            growable.commit(base + 4 * MIB, 4 * MIB, 4 * MIB);
            growable.move(new long[] {base}, 1);
            assertTrue(memory.isAccessible(base + 2 * MIB, 8 * MIB, 3));
            assertTrue(memory.isAccessible(base + 2 * MIB, 8 * MIB, 1));
            try (GrowableRegion later = reserve(source)) {
                later.commit(later.region().address(), 2 * MIB, 2 * MIB);
                assertTrue(memory.isAccessible(later.region().address(), 2 * MIB, 3));
            }

            source.hide(3);
            source.hide(1);

            assertFalse(memory.isAccessible(base + 2 * MIB, 2 * MIB, 3));
            assertTrue(memory.isAccessible(base + 2 * MIB, 8 * MIB, 1));
            memory.failAt(1, CUresult.CUDA_ERROR_INVALID_DEVICE);
            assertThrows(CudaFailureException.class, () -> source.show(5));
            assertThrows(IllegalArgumentException.class, () -> source.show(-1));
        }
    }

    /** Access for the other device was once asked for again with each piece, so that the region never grew again. */
    @Test
    void shouldGrowThoughAnotherDeviceCannotSeeIt() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            final long base = growable.region().address();
            growable.commit(base, 4 * MIB, 2 * MIB);
            memory.failAt(2, CUresult.CUDA_ERROR_INVALID_DEVICE);
            assertThrows(CudaFailureException.class, () -> source.show(7));
            assertFalse(memory.isAccessible(base, 2 * MIB, 7), "nothing is half shown");
            growable.commit(base + 4 * MIB, 4 * MIB, 2 * MIB);
            assertFalse(memory.isAccessible(base + 4 * MIB, 2 * MIB, 7));
            source.show(3);
            // The memory is created, mapped, shown to its own device, and then to the other.
            memory.failAt(4, CUresult.CUDA_ERROR_INVALID_DEVICE);
            growable.commit(base + 8 * MIB, 2 * MIB, 2 * MIB);
            assertTrue(memory.isAccessible(base + 8 * MIB, 2 * MIB));
        }
    }

    /** This pool has no device to ask. Formerly, such a pool didn't wait, and unmapped memory under a kernel. */
    @Test
    void shouldWaitBeforeAPoolThatReusesAtOnceGivesBack() {
        try (CudaMemorySource source = open();
                Pool pool = Pool.over(source)
                        .reuse(ReusePolicy.IMMEDIATE, DeviceWork.NONE)
                        .firstRegionBytes(2 * MIB)
                        .build()) {
            final AtomicInteger asked = new AtomicInteger();
            cuda.setDevice(1);
            cuda.streams().submit(cuda.currentContextOrZero(), 0, () -> asked.incrementAndGet() > 3);
            pool.free(pool.allocate(100 * MIB));

            pool.trimTo(0);

            assertTrue(memory.usedBytes() > 0 || asked.get() > 3, "unmapped under a kernel");
            asked.set(4);
            pool.trimTo(0);
            assertEquals(0, memory.usedBytes());
        }
    }

    /**
     * The context is broken as after a kernel's wrong access; memory that belongs to no context would otherwise be
     * lost.
     */
    @Test
    void shouldGiveAllBackThoughTheContextIsBroken() {
        final CudaMemorySource source = open();
        final GrowableRegion growable = reserve(source);
        growable.commit(growable.region().address(), 4 * MIB, 2 * MIB);
        cuda.setDevice(1);
        cuda.streams().breakContext(cuda.currentContextOrZero());

        assertThrows(CudaFailureException.class, source::close);

        assertEquals(0, memory.usedBytes());
        assertEquals(0, memory.reservedBytes());
    }

    @Test
    void shouldSayWhatTheDeviceHasWhenItRunsOut() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            final long base = growable.region().address();
            growable.commit(base, 2 * MIB, 2 * MIB);

            final DeviceOutOfMemoryException thrown = assertThrows(
                    DeviceOutOfMemoryException.class, () -> growable.commit(base + 2 * MIB, DEVICE_BYTES, 8 * MIB));

            assertEquals(DEVICE_BYTES, thrown.requestedBytes());
            assertEquals("cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2)", thrown.reason());
            assertEquals(2 * MIB, growable.committedBytes());
            assertEquals(2 * MIB, memory.usedBytes());
            growable.commit(base + 2 * MIB, DEVICE_BYTES - 2 * MIB, 8 * MIB);
        }
    }

    @Test
    void shouldLeaveTheCurrentDeviceAsFound() {
        try (CudaMemorySource source = open();
                GrowableRegion growable = reserve(source)) {
            growable.commit(growable.region().address(), 4 * MIB, 4 * MIB);
            growable.giveBack(new long[] {growable.region().address()}, 1);

            assertEquals(0, cuda.current());
        }
        assertEquals(0, cuda.current());
    }

    @Test
    void shouldRefuseWhatIsWrongOrTooLate() {
        final CudaMemorySource source = open();
        final GrowableRegion growable = reserve(source);
        final long base = growable.region().address();

        assertThrows(IllegalArgumentException.class, () -> source.reserve(0, 1));
        assertThrows(IllegalArgumentException.class, () -> source.reserve(1, 0));
        assertThrows(IllegalArgumentException.class, () -> growable.commit(base + 1, 2 * MIB, 2 * MIB));
        growable.close();
        growable.close();
        assertThrows(IllegalStateException.class, () -> growable.commit(base, 2 * MIB, 2 * MIB));
        assertThrows(IllegalStateException.class, () -> growable.giveBack(new long[0], 0));
        assertThrows(IllegalStateException.class, () -> growable.move(new long[0], 0));
        source.close();
        assertThrows(IllegalStateException.class, () -> source.reserve(1, 1));
    }

    @Test
    void shouldGiveAllBackWithTheSource() {
        final CudaMemorySource source = open();
        for (int i = 0; i < 2; i++) {
            final GrowableRegion growable = reserve(source);
            growable.commit(growable.region().address(), 4 * MIB, 2 * MIB);
        }

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

    /** Runs a scenario in which a failed call changes nothing, so that it can be repeated. */
    private void run(final CudaMemorySource source) {
        final GrowableRegion growable = reserve(source);
        final long base = growable.region().address();
        for (int i = 0; i < 3; i++) {
            final long before = growable.committedBytes();
            try {
                growable.commit(base + before, 4 * MIB, 2 * MIB);
            } catch (final CudaFailureException e) {
                assertEquals(before, growable.committedBytes());
                assertEquals(before, memory.usedBytes());
                growable.commit(base + before, 4 * MIB, 2 * MIB);
            }
            assertTrue(memory.isAccessible(base, before + 4 * MIB));
        }
        try {
            growable.giveBack(new long[] {base, base + 4 * MIB}, 2);
        } catch (final CudaFailureException e) {
            assertEquals(memory.usedBytes(), growable.committedBytes());
        }
        growable.close();
    }

    /** The device has less memory than the reserved addresses. */
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

            assertEquals(44 * MIB, pool.trimTo(44 * MIB));

            assertEquals(44 * MIB, memory.usedBytes());
            pool.free(first);
            assertEquals(16 * MIB, pool.trimTo(16 * MIB));
            assertEquals(0, pool.trimTo(0));
            assertEquals(0, memory.usedBytes());
        }
        assertEquals(0, memory.reservedBytes());
        assertEquals(0, cuda.usedBytes(1));
    }

    /** The device is full, and half of it free, in blocks of 8 MiB; the test asks for a block of half the device. */
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
