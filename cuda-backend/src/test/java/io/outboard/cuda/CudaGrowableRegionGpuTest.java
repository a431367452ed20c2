package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.cuda.memory.DevicePointers;
import io.outboard.cuda.memory.VirtualMemory;
import io.outboard.pool.Pool;
import java.util.Arrays;
import java.util.Optional;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaMemcpyKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Regions that grow in place on a real device. Needs JDK 22 or newer, and Outboard's classes in their jar, as the GPU bundle
 * has them. Its CPU twin is {@link CudaGrowableRegionTest}.
 */
@Tag("gpu")
class CudaGrowableRegionGpuTest {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final int PROBE_BYTES = 4096;

    /** The driver may keep or take a few pages of its own between two readings. */
    private static final long TOLERANCE_BYTES = 32 * MIB;

    private CudaMemorySource source;
    private GrowableRegion growable;
    private long usedBefore;

    @BeforeEach
    void open() {
        Gpu.require();
        Assumptions.assumeTrue(
                VirtualMemory.find().isPresent(), "skipped, needs JDK 22 or newer, and the classes in their jar");
        source = CudaMemorySource.open(0);
        // The first allocation of a process may cost the driver memory that it never gives back.
        source.giveBack(source.take(1));
        usedBefore = source.usedBytes();
        // What other tests left on this thread.
        JCuda.cudaGetLastError();
        final Optional<GrowableRegion> reserved = source.reserve(1L << 62);
        growable = reserved.orElseThrow();
    }

    @AfterEach
    void close() {
        if (source != null) {
            source.close();
        }
    }

    private void assertUsed(final long bytes) {
        final long used = source.usedBytes() - usedBefore;
        assertTrue(Math.abs(used - bytes) <= TOLERANCE_BYTES, () -> "used=" + used + ", expected " + bytes);
    }

    private static void set(final long address, final int value, final long bytes) {
        assertEquals(cudaError.cudaSuccess, JCuda.cudaMemset(DevicePointers.pointerTo(address), value, bytes));
    }

    private static void assertHolds(final int value, final long address) {
        final byte[] expected = new byte[PROBE_BYTES];
        Arrays.fill(expected, (byte) value);
        final byte[] actual = new byte[PROBE_BYTES];
        assertEquals(
                cudaError.cudaSuccess,
                JCuda.cudaMemcpy(
                        Pointer.to(actual),
                        DevicePointers.pointerTo(address),
                        PROBE_BYTES,
                        cudaMemcpyKind.cudaMemcpyDeviceToHost));
        assertArrayEquals(expected, actual);
    }

    @Test
    void shouldReserveTheWholeDeviceAndTakeNoMemory() {
        assertTrue(growable.region().sizeBytes() > source.device().totalBytes() - growable.unitBytes());
        assertEquals(0, growable.region().address() % growable.unitBytes());
        assertUsed(0);
    }

    @Test
    void shouldGrowAndShrinkOnTheDevice() {
        growable.commit(GIB);
        assertUsed(GIB);
        growable.commit(3 * GIB);
        assertUsed(3 * GIB);

        growable.decommit(GIB);
        assertUsed(GIB);
        growable.close();

        assertUsed(0);
    }

    @Test
    void shouldBeOneRangeAcrossBorders() {
        final long address = growable.region().address();
        for (int piece = 1; piece <= 8; piece++) {
            growable.commit(piece * growable.unitBytes());
        }
        final long half = 4 * growable.unitBytes();

        set(address, 0xA5, half);
        assertEquals(
                cudaError.cudaSuccess,
                JCuda.cudaMemcpy(
                        DevicePointers.pointerTo(address + half),
                        DevicePointers.pointerTo(address),
                        half,
                        cudaMemcpyKind.cudaMemcpyDeviceToDevice));

        for (int piece = 1; piece < 8; piece++) {
            assertHolds(0xA5, address + piece * growable.unitBytes() - PROBE_BYTES / 2);
        }
        assertHolds(0xA5, address + 2 * half - PROBE_BYTES);
    }

    @Test
    void shouldKeepContentsWhileItGrowsAndShrinks() {
        growable.commit(1);
        final long address = growable.region().address();
        set(address, 0x3C, growable.unitBytes());

        growable.commit(2 * GIB);
        growable.decommit(1);

        assertHolds(0x3C, address);
        assertHolds(0x3C, address + growable.unitBytes() - PROBE_BYTES);
    }

    /** Unmapping doesn't wait by itself; memory that work still uses would be gone. */
    @Test
    void shouldWaitForTheDeviceBeforeItShrinks() {
        growable.commit(8 * GIB);
        for (int i = 0; i < 20; i++) {
            assertEquals(
                    cudaError.cudaSuccess,
                    JCuda.cudaMemsetAsync(
                            DevicePointers.pointerTo(growable.region().address()), i, 8 * GIB, null));
        }

        growable.decommit(0);

        assertEquals(cudaError.cudaSuccess, JCuda.cudaDeviceSynchronize());
        assertUsed(0);
    }

    @Test
    void shouldSayThatTheDeviceIsFull() {
        final DeviceOutOfMemoryException thrown = assertThrows(
                DeviceOutOfMemoryException.class,
                () -> growable.commit(growable.region().sizeBytes()));

        assertEquals("CUDA_ERROR_OUT_OF_MEMORY (2)", thrown.reason());
        assertEquals(0, growable.committedBytes());
        assertEquals(cudaError.cudaSuccess, JCuda.cudaGetLastError());
        growable.commit(GIB);
    }

    @Test
    void shouldServeAPoolFromAnyThread() throws InterruptedException {
        try (Pool pool = Pool.over(source).build()) {
            final long first = pool.allocate(48 * MIB);
            final long[] second = new long[1];
            final Thread other = new Thread(() -> second[0] = pool.allocate(2 * GIB + 3));
            other.start();
            other.join();
            assertEquals(first + 48 * MIB, second[0]);
            set(first, 0x5A, 48 * MIB);
            set(second[0], 0xC3, 2 * GIB + 3);
            assertHolds(0x5A, second[0] - PROBE_BYTES);
            assertHolds(0xC3, second[0]);
            assertUsed(pool.statistics().heldBytes());

            pool.free(second[0]);
            assertTrue(pool.trimTo(0) <= 64 * MIB);

            assertUsed(pool.statistics().heldBytes());
            assertHolds(0x5A, first);
        }
        assertUsed(0);
    }
}
