package io.outboard.cuda.kernels;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.CudaWork;
import io.outboard.cuda.Gpu;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.Arrays;
import java.util.stream.Stream;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * This class tests in-kernel heaps and each allocator, with kernels that use them. The twin without a GPU is {@link
 * DeviceHeapTest}. A heap is made before the kernels, since the driver's limit can't be raised
 * once a kernel that allocates has run.
 */
@Tag("gpu")
class DeviceHeapGpuTest {

    private static final long HEAP_BYTES = 64L << 20;
    private static final int THREADS = 4096;
    private static final int LARGEST_BYTES = 1000;

    private final CUdeviceptr memory = new CUdeviceptr();

    /** A variant is an allocator with or without coalescing, or its checked build where there is one. */
    record Variant(DeviceAllocator allocator, boolean coalesced, boolean checked) {

        /** Returns whether the host can read the heap's state, and a free does something. */
        boolean isList() {
            return allocator.canFree() && !allocator.usesDriverHeap();
        }

        HeapKernels kernels() {
            return new HeapKernels(allocator, coalesced, checked);
        }
    }

    static Stream<Variant> all() {
        return Stream.of(DeviceAllocator.values())
                .flatMap(allocator -> Stream.of(false, true)
                        .flatMap(coalesced -> Stream.of(false, true)
                                .filter(checked -> !checked || allocator.hasCheckedBuild())
                                .map(checked -> new Variant(allocator, coalesced, checked))));
    }

    static Stream<Variant> lists() {
        return all().filter(Variant::isList);
    }

    /** Returns the variants that detect a second free, and a pointer into a block. */
    static Stream<Variant> strict() {
        return lists().filter(each -> each.allocator() != DeviceAllocator.BIT_MALLOC || each.checked());
    }

    /** Returns the variants of the default allocator. */
    static Stream<Variant> bits() {
        return lists().filter(each -> each.allocator() == DeviceAllocator.BIT_MALLOC);
    }

    /** Returns the variants that report when there is no more memory. */
    static Stream<Variant> bounded() {
        return all().filter(each -> each.isList() || each.allocator() == DeviceAllocator.ATOMIC_MALLOC);
    }

    @BeforeEach
    void requireGpu() {
        Gpu.require();
        succeed(JCudaDriver.cuMemAlloc(memory, HEAP_BYTES));
    }

    @AfterEach
    void freeMemory() {
        if (DevicePointers.address(memory) != 0) {
            succeed(JCudaDriver.cuMemFree(memory));
        }
    }

    private DeviceHeapBuilder over(final Variant variant) {
        return over(variant, 0, HEAP_BYTES);
    }

    private DeviceHeapBuilder over(final Variant variant, final long offset, final long bytes) {
        return DeviceHeap.over(DevicePointers.address(memory) + offset, bytes)
                .allocator(variant.allocator())
                .checked(variant.checked());
    }

    private static void assertServedWell(final HeapKernels.Counts counts, final long served) {
        assertAll(
                () -> assertEquals(served, counts.served(), counts::toString),
                () -> assertEquals(0, counts.nulls(), counts::toString),
                () -> assertEquals(0, counts.misaligned(), counts::toString),
                () -> assertEquals(0, counts.overwritten(), counts::toString));
    }

    static void assertAllFree(final DeviceHeapStatistics statistics, final long misuses) {
        assertAll(
                () -> assertEquals(0, statistics.usedChunks(), statistics::toString),
                () -> assertEquals(0, statistics.usedBytes(), statistics::toString),
                () -> assertTrue(statistics.freeChunks() > 0, statistics::toString),
                () -> assertEquals(statistics.capacityBytes(), statistics.freeBytes(), statistics::toString),
                () -> assertEquals(statistics.capacityBytes(), statistics.largestFreeBytes(), statistics::toString),
                () -> assertEquals(misuses, statistics.misuses(), statistics::toString));
    }

    @ParameterizedTest
    @MethodSource("all")
    void shouldServeManyThreadsOverRawMemory(final Variant variant) {
        try (DeviceHeap heap = over(variant).build();
                HeapKernels kernels = variant.kernels()) {
            kernels.useAndFree(heap, THREADS, LARGEST_BYTES, 3);

            assertServedWell(kernels.counts(), 4L * 3 * THREADS);
            if (variant.isList()) {
                assertAllFree(heap.statistics(), 0);
            } else if (variant.allocator() == DeviceAllocator.ATOMIC_MALLOC) {
                assertTrue(heap.statistics().usedBytes() >= kernels.counts().servedBytes());
            }
        }
    }

    /** A thread that was served for a warp was once served from the first lane's heap, and freed into it. */
    @ParameterizedTest
    @MethodSource("all")
    void shouldServeLanesOfAWarpFromHeapsOfTheirOwn(final Variant variant) {
        try (DeviceHeap heap = over(variant, 0, HEAP_BYTES / 2).build();
                DeviceHeap other = over(variant, HEAP_BYTES / 2, HEAP_BYTES / 2).build();
                HeapKernels kernels = variant.kernels()) {
            kernels.useBoth(heap, other, THREADS, LARGEST_BYTES, 4);

            assertServedWell(kernels.counts(), 4L * THREADS);
            if (variant.isList()) {
                assertAllFree(heap.statistics(), 0);
                assertAllFree(other.statistics(), 0);
            }
        }
    }

    /**
     * Groups of cooperative groups, and masks of votes alone, fail here where they are linked: threads get memory of
     * others, or hang. The heap is half full, so some threads search longer, which separates the threads of a warp.
     */
    @ParameterizedTest
    @MethodSource("lists")
    void shouldServeGroupsOfAnyThreadsOfAWarp(final Variant variant) {
        final long smallBytes = 1 << 20;
        try (DeviceHeap heap = DeviceHeap.over(DevicePointers.address(memory), smallBytes)
                        .allocator(variant.allocator())
                        .checked(variant.checked())
                        .preSplit(PreSplit.binaryHeap(64))
                        .build();
                HeapKernels kernels = variant.kernels()) {
            kernels.partWays(heap, THREADS, 256, 2000);

            final HeapKernels.Counts counts = kernels.counts();
            assertAll(
                    () -> assertTrue(counts.served() > counts.nulls(), counts::toString),
                    () -> assertEquals(0, counts.misaligned(), counts::toString),
                    () -> assertEquals(0, counts.overwritten(), counts::toString));
            assertAllFree(heap.statistics(), 0);
        }
    }

    /** Freed memory joins, whatever was there before: the whole of a fresh heap can be allocated again. */
    @ParameterizedTest
    @MethodSource("bits")
    void shouldServeTheLargestRequestAfterAnyHistory(final Variant variant) {
        final CUdeviceptr blocks = HeapKernels.pointers(1);
        try (DeviceHeap heap = over(variant).build();
                HeapKernels kernels = variant.kernels()) {
            final long capacityBytes = heap.statistics().capacityBytes();
            kernels.partWays(heap, 16 * THREADS, 4 * LARGEST_BYTES, 200);
            kernels.useAndFree(heap, 4 * THREADS, 2 * LARGEST_BYTES, 20);
            kernels.exhaust(heap, THREADS, 48);
            assertAllFree(heap.statistics(), 0);
            final HeapKernels.Counts before = kernels.counts();

            kernels.hold(heap, (int) (capacityBytes >> 16 << 16), blocks, 1);

            final HeapKernels.Counts counts = kernels.counts();
            assertAll(
                    () -> assertEquals(before.served() + 1, counts.served(), counts::toString),
                    () -> assertEquals(0, counts.overwritten(), counts::toString));
        } finally {
            succeed(JCudaDriver.cuMemFree(blocks));
        }
    }

    @ParameterizedTest
    @MethodSource("bits")
    void shouldServeAlignments(final Variant variant) {
        try (DeviceHeap heap = over(variant).build();
                HeapKernels kernels = variant.kernels()) {
            kernels.holdAligned(heap, 256, LARGEST_BYTES, 50);

            final HeapKernels.Counts counts = kernels.counts();
            assertAll(
                    () -> assertEquals(256 * 50, counts.served(), counts::toString),
                    () -> assertEquals(0, counts.misaligned(), counts::toString),
                    () -> assertEquals(0, counts.overwritten(), counts::toString));
            assertAllFree(heap.statistics(), 0);
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void shouldServeManyThreadsInABlockOfAPool(final Variant variant) {
        try (CudaMemorySource source = CudaMemorySource.open(0);
                Pool pool = Pool.over(source)
                        .firstRegionBytes(2 * HEAP_BYTES)
                        .reuse(ReusePolicy.STRICT, CudaWork.open(0))
                        .build()) {
            try (DeviceHeap heap = DeviceHeap.in(pool, HEAP_BYTES)
                            .allocator(variant.allocator())
                            .checked(variant.checked())
                            .build();
                    HeapKernels kernels = variant.kernels()) {
                kernels.useAndFree(heap, THREADS, LARGEST_BYTES, 3);

                assertServedWell(kernels.counts(), 4L * 3 * THREADS);
                if (variant.isList()) {
                    assertAllFree(heap.statistics(), 0);
                }
            }
            assertEquals(0, pool.statistics().usedBytes());
        }
    }

    @ParameterizedTest
    @MethodSource("lists")
    void shouldCountWhatIsHeldAndForgetItOnReset(final Variant variant) {
        final CUdeviceptr blocks = HeapKernels.pointers(THREADS);
        try (DeviceHeap heap = over(variant).trackRequests(true).build();
                HeapKernels kernels = variant.kernels()) {
            final DeviceHeapStatistics fresh = heap.statistics();
            kernels.hold(heap, 100, blocks, THREADS);

            final DeviceHeapStatistics held = heap.statistics();

            assertServedWell(kernels.counts(), THREADS);
            assertAll(
                    () -> assertEquals(THREADS, held.usedChunks(), held::toString),
                    () -> assertTrue(held.usedBytes() >= 112L * THREADS, held::toString),
                    () -> assertEquals(fresh.capacityBytes(), held.usedBytes() + held.freeBytes(), held::toString),
                    () -> assertTrue(held.internalFragmentation() >= 12 / 112.0 - 1e-9, held::toString),
                    () -> assertTrue(held.internalFragmentation() < 0.5, held::toString),
                    () -> assertTrue(held.largestFreeChunkBytes() <= held.largestFreeBytes(), held::toString));

            kernels.release(heap, 100, blocks, THREADS);
            assertEquals(0, kernels.counts().overwritten());
            assertAllFree(heap.statistics(), 0);

            kernels.hold(heap, 100, blocks, THREADS);
            heap.reset();
            assertEquals(fresh, heap.statistics());
        } finally {
            succeed(JCudaDriver.cuMemFree(blocks));
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void shouldLeaveRawMemoryToItsOwnerWhenClosedTwice(final Variant variant) {
        final DeviceHeap heap = over(variant).build();

        heap.close();
        heap.close();

        succeed(JCudaDriver.cuMemsetD8(memory, (byte) 1, HEAP_BYTES));
        succeed(JCudaDriver.cuCtxSynchronize());
    }

    @ParameterizedTest
    @MethodSource("strict")
    void shouldRefuseASecondFreeAndForeignPointers(final Variant variant) {
        final CUdeviceptr blocks = HeapKernels.pointers(THREADS);
        try (DeviceHeap heap = over(variant).build();
                HeapKernels kernels = variant.kernels()) {
            kernels.hold(heap, 64, blocks, THREADS);
            final long[] held = HeapKernels.read(blocks, THREADS);
            kernels.freeOne(heap, held[0]);
            final DeviceHeapStatistics before = heap.statistics();

            kernels.freeOne(heap, held[0]);
            // The addresses are inside a block, not aligned, in the tables, and before and behind the heap.
            kernels.freeOne(heap, held[1] + 16);
            kernels.freeOne(heap, held[1] + 1);
            kernels.freeOne(heap, heap.address());
            kernels.freeOne(heap, heap.address() - 256);
            kernels.freeOne(heap, heap.address() + heap.sizeBytes());
            kernels.freeOne(heap, 0);

            final DeviceHeapStatistics after = heap.statistics();
            assertAll(
                    () -> assertEquals(0, before.misuses()),
                    () -> assertEquals(6, after.misuses(), after::toString),
                    () -> assertEquals(THREADS - 1, after.usedChunks(), after::toString),
                    () -> assertEquals(before.usedBytes(), after.usedBytes(), after::toString));
        } finally {
            succeed(JCudaDriver.cuMemFree(blocks));
        }
    }

    @ParameterizedTest
    @MethodSource("bounded")
    void shouldEndWhenThereIsNoMore(final Variant variant) {
        try (DeviceHeap heap = over(variant).build();
                HeapKernels kernels = variant.kernels()) {
            final long capacityBytes = heap.statistics().capacityBytes();

            kernels.exhaust(heap, THREADS, 1024);

            final HeapKernels.Counts counts = kernels.counts();
            assertAll(
                    () -> assertEquals(THREADS, counts.nulls(), counts::toString),
                    () -> assertTrue(counts.servedBytes() >= 0.9 * capacityBytes, counts::toString),
                    () -> assertEquals(0, counts.misaligned(), counts::toString));
            if (variant.isList()) {
                assertAllFree(heap.statistics(), 0);
            }
        }
    }

    /** What XMalloc keeps would fill the driver's heap in a few rounds, if a heap that is closed left it there. */
    @Test
    void shouldGiveTheBlocksInQueuesBackToTheDriver() {
        final Variant variant = new Variant(DeviceAllocator.XMALLOC, true, false);
        over(variant).build().close();
        try (HeapKernels kernels = variant.kernels()) {
            final int rounds = 100;
            for (int round = 0; round < rounds; round++) {
                try (DeviceHeap heap = over(variant).build()) {
                    kernels.useAndFree(heap, THREADS, LARGEST_BYTES, 1);
                }
            }

            assertServedWell(kernels.counts(), 4L * rounds * THREADS);
        }
    }

    @ParameterizedTest
    @MethodSource("lists")
    void shouldServeFromAHeapOfManyGigabytes(final Variant variant) {
        final long largeBytes = 9L << 30;
        final int blockBytes = 1 << 20;
        final int count = 8 << 10;
        final CUdeviceptr large = new CUdeviceptr();
        final boolean taken = JCudaDriver.cuMemAlloc(large, largeBytes) == 0;
        Assumptions.assumeTrue(taken, "skipped, needs " + largeBytes + " bytes of free device memory");
        final CUdeviceptr blocks = HeapKernels.pointers(count);
        try (DeviceHeap heap = DeviceHeap.over(DevicePointers.address(large), largeBytes)
                        .allocator(variant.allocator())
                        .checked(variant.checked())
                        .preSplit(PreSplit.binaryHeap(blockBytes))
                        .build();
                HeapKernels kernels = variant.kernels()) {
            kernels.hold(heap, blockBytes, blocks, count);
            final long[] held = HeapKernels.read(blocks, count);
            final long last = Arrays.stream(held).max().orElseThrow();

            kernels.release(heap, blockBytes, blocks, count);

            assertServedWell(kernels.counts(), count);
            assertTrue(last - heap.address() > 8L << 30, "last=" + last);
            assertAllFree(heap.statistics(), 0);
        } finally {
            succeed(JCudaDriver.cuMemFree(blocks));
            succeed(JCudaDriver.cuMemFree(large));
        }
    }
}
