package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.cuda.memory.DevicePointers;
import io.outboard.cuda.memory.VirtualMemory;
import io.outboard.pool.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaMemcpyKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

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

    /** Each of the driver's calls costs about as much for a unit of any size. */
    @Test
    void shouldMoveUnits(final TestReporter reporter) {
        final int count = 256;
        final GrowableRegion region = source.reserveToMove(1L << 62, 1L << 62).orElseThrow();
        final long unitBytes = region.unitBytes();
        final long base = region.region().address();
        final long begin = System.nanoTime();
        region.commit(4 * count * unitBytes);
        final long committed = System.nanoTime();
        set(base, 0x77, 4 * count * unitBytes);
        assertEquals(cudaError.cudaSuccess, JCuda.cudaDeviceSynchronize());
        final long[] every =
                LongStream.range(0, count).map(i -> base + 2 * i * unitBytes).toArray();
        final long[] behind = LongStream.range(4 * count, 5 * count)
                .map(i -> base + i * unitBytes)
                .toArray();
        final long[] row = LongStream.range(2 * count, 3 * count)
                .map(i -> base + i * unitBytes)
                .toArray();

        final long beforeScattered = System.nanoTime();
        region.move(every, behind, count);
        final long beforeRow = System.nanoTime();
        region.move(row, every, count);
        final long after = System.nanoTime();

        final double perUnit = 1e-3 / count;
        reporter.publishEntry(String.format(
                Locale.ROOT,
                "units of %d MiB, microseconds each: added %.1f, moved from everywhere to a row %.1f, from a row to everywhere %.1f",
                unitBytes / MIB,
                (committed - begin) * perUnit / 4,
                (beforeRow - beforeScattered) * perUnit,
                (after - beforeRow) * perUnit));
        for (int i = 0; i < count; i++) {
            assertHolds(0x77, every[i] + unitBytes);
            set(every[i], 0x11, unitBytes);
            set(behind[i], 0x22, unitBytes);
            assertFalse(region.hasMemory(row[i]));
        }
        assertHolds(0x11, every[3]);
        assertHolds(0x22, behind[3]);
        region.close();
    }

    /** With {@code cudaMalloc} a program could have this block: so it can with a pool. */
    @Test
    void shouldServeABlockOfScatteredMemory(final TestReporter reporter) {
        final long totalBytes = source.device().totalBytes();
        final SplittableRandom random = new SplittableRandom(7);
        try (Pool pool = Pool.over(source).build()) {
            final List<Long> blocks = new ArrayList<>();
            final long begin = System.nanoTime();
            while (pool.statistics().usedBytes() < totalBytes * 0.85 - 64 * MIB) {
                blocks.add(pool.allocate(random.nextLong(MIB, 64 * MIB)));
            }
            final long filled = System.nanoTime();
            for (int i = 0; i < blocks.size(); i++) {
                set(blocks.get(i), i, PROBE_BYTES);
            }
            for (int i = 0; i < blocks.size(); i += 2) {
                pool.free(blocks.get(i));
            }

            final long before = System.nanoTime();
            final long large = pool.allocate(totalBytes * 2 / 5);
            final long after = System.nanoTime();

            reporter.publishEntry(String.format(
                    Locale.ROOT,
                    "blocks=%d filled in %.1f ms, %d bytes in %.1f ms, held %d",
                    blocks.size(),
                    (filled - begin) * 1e-6,
                    totalBytes * 2 / 5,
                    (after - before) * 1e-6,
                    pool.statistics().heldBytes()));
            set(large, 0x99, totalBytes * 2 / 5);
            assertHolds(0x99, large);
            assertHolds(0x99, large + totalBytes * 2 / 5 - PROBE_BYTES);
            for (int i = 1; i < blocks.size(); i += 2) {
                assertHolds(i, blocks.get(i));
            }
        }
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
