package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.DriverLibrary;
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
import jcuda.runtime.cudaStream_t;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests regions that grow in place on a real device. The tests need JDK 22 or newer, and Outboard's classes
 * in their jar, as the GPU bundle has them. The twin without a GPU is {@link CudaGrowableRegionTest}.
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
                DriverLibrary.virtualMemory().isPresent(),
                "skipped, needs JDK 22 or newer, and the classes in their jar");
        source = CudaMemorySource.open(0);
        // The first allocation of a process may cost the driver memory that it never returns.
        source.giveBack(source.take(1));
        usedBefore = source.usedBytes();
        // Other tests may have left an error on this thread.
        JCuda.cudaGetLastError();
        final Optional<GrowableRegion> reserved = source.reserve(1L << 62, 1L << 62);
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

    /** Commits memory behind the last memory. */
    private void grow(final long bytes, final long pieceBytes) {
        growable.commit(growable.region().address() + growable.endBytes(), bytes, pieceBytes);
    }

    @Test
    void shouldReserveAddressesForTheDeviceAndTakeNoMemory() {
        assertTrue(growable.region().sizeBytes() > 16 * (source.device().totalBytes() - growable.unitBytes()));
        assertEquals(0, growable.region().address() % growable.unitBytes());
        assertUsed(0);
    }

    @Test
    void shouldGrowAndShrinkOnTheDevice() {
        final long base = growable.region().address();
        grow(GIB, GIB);
        assertUsed(GIB);
        grow(2 * GIB, 64 * MIB);
        assertUsed(3 * GIB);

        growable.giveBack(new long[] {base, base + GIB + 64 * MIB}, 2);
        assertUsed(2 * GIB - 64 * MIB);
        growable.close();

        assertUsed(0);
    }

    @Test
    void shouldBeOneRangeAcrossBorders() {
        final long address = growable.region().address();
        for (int piece = 0; piece < 8; piece++) {
            grow(growable.unitBytes(), growable.unitBytes());
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
        final long address = growable.region().address();
        grow(growable.unitBytes(), growable.unitBytes());
        set(address, 0x3C, growable.unitBytes());

        grow(2 * GIB, 2 * GIB);
        growable.giveBack(new long[] {address + growable.unitBytes()}, 1);

        assertHolds(0x3C, address);
        assertHolds(0x3C, address + growable.unitBytes() - PROBE_BYTES);
    }

    /** Without the wait, memory that work still uses would be gone. */
    @Test
    void shouldWaitForTheDeviceBeforeItEnds() {
        grow(8 * GIB, GIB);
        for (int i = 0; i < 20; i++) {
            assertEquals(
                    cudaError.cudaSuccess,
                    JCuda.cudaMemsetAsync(
                            DevicePointers.pointerTo(growable.region().address()), i, 8 * GIB, null));
        }

        growable.close();

        assertEquals(cudaError.cudaSuccess, JCuda.cudaDeviceSynchronize());
        assertUsed(0);
    }

    /** A pool knows that no work uses what it moves, so the device may be busy elsewhere. */
    @Test
    void shouldNotWaitForTheDeviceWhileItMovesOrGivesBack(final TestReporter reporter) {
        final long base = growable.region().address();
        grow(8 * GIB, 8 * GIB);
        grow(64 * MIB, 16 * MIB);
        assertEquals(cudaError.cudaSuccess, JCuda.cudaDeviceSynchronize());
        final cudaStream_t stream = new cudaStream_t();
        assertEquals(cudaError.cudaSuccess, JCuda.cudaStreamCreateWithFlags(stream, JCuda.cudaStreamNonBlocking));
        for (int i = 0; i < 200; i++) {
            assertEquals(
                    cudaError.cudaSuccess, JCuda.cudaMemsetAsync(DevicePointers.pointerTo(base), i, 8 * GIB, stream));
        }
        final long begin = System.nanoTime();

        growable.move(new long[] {base + 8 * GIB, base + 8 * GIB + 32 * MIB}, 2);
        growable.giveBack(new long[] {base + 8 * GIB + 16 * MIB}, 1);

        final long took = System.nanoTime() - begin;
        assertEquals(cudaError.cudaErrorNotReady, JCuda.cudaStreamQuery(stream), "took " + took + " ns");
        reporter.publishEntry("two moved, one given back in " + took / 1000 + " us while the device works");
        assertEquals(cudaError.cudaSuccess, JCuda.cudaStreamDestroy(stream));
        assertEquals(cudaError.cudaSuccess, JCuda.cudaDeviceSynchronize());
        assertHolds(199, base + 8 * GIB - PROBE_BYTES);
    }

    @Test
    void shouldSayThatTheDeviceIsFull() {
        final DeviceOutOfMemoryException thrown = assertThrows(
                DeviceOutOfMemoryException.class, () -> grow((source.device().totalBytes() & -GIB) + GIB, GIB));

        assertEquals("cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2)", thrown.reason());
        assertEquals(0, growable.committedBytes());
        assertEquals(cudaError.cudaSuccess, JCuda.cudaGetLastError());
        grow(GIB, GIB);
    }

    /** Each of the driver's calls costs about as much for a piece of any size. */
    @ParameterizedTest
    @ValueSource(longs = {2, 8, 32, 64, 128})
    void shouldMovePieces(final long pieceMib, final TestReporter reporter) {
        final int count = 64;
        final long bytes = pieceMib * MIB;
        final long base = growable.region().address();
        final long begin = System.nanoTime();
        grow(4 * count * bytes, bytes);
        final long committed = System.nanoTime();
        set(base, 0x77, 4 * count * bytes);
        assertEquals(cudaError.cudaSuccess, JCuda.cudaDeviceSynchronize());
        final long[] every =
                LongStream.range(0, count).map(i -> base + 2 * i * bytes).toArray();
        final long behind = base + growable.endBytes();

        final long beforeMove = System.nanoTime();
        growable.move(every, count);
        final long moved = System.nanoTime();

        for (int i = 0; i < count; i++) {
            assertHolds(0x77, every[i] + bytes);
            assertEquals(0, growable.pieceBytes(every[i]));
            set(behind + i * bytes, 0x22, bytes);
        }
        assertHolds(0x22, behind + 3 * bytes);
        final long[] some = Arrays.stream(every).map(piece -> piece + bytes).toArray();
        final long beforeBack = System.nanoTime();
        growable.giveBack(some, count);
        final long back = System.nanoTime();
        reporter.publishEntry(String.format(
                Locale.ROOT,
                "pieces of %d MiB, microseconds each: added %.1f, moved %.1f, given back %.1f",
                pieceMib,
                (committed - begin) * 1e-3 / count / 4,
                (moved - beforeMove) * 1e-3 / count,
                (back - beforeBack) * 1e-3 / count));
    }

    /** A program could allocate this block with {@code cudaMalloc}, so a pool has to serve it, too. */
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
            assertTrue(pool.trimTo(0) <= 66 * MIB);

            assertUsed(pool.statistics().heldBytes());
            assertHolds(0x5A, first);
        }
        assertUsed(0);
    }
}
