package io.outboard.cuda.kernels;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static io.outboard.cuda.kernels.HeapKernels.word;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.Gpu;
import io.outboard.cuda.kernels.HeldBlocks.Counts;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests buffers before BitMalloc and CUDA's own allocator, coalesced or not, with many threads ({@code
 * buffered-threads.cu}). The twin without a GPU is {@link BufferedTest}.
 */
@Tag("gpu")
class BufferedGpuTest {

    private static final long HEAP_BYTES = HeldBlocks.HEAP_BYTES;
    private static final long SMALL_BYTES = 1L << 20;
    private static final long QUEUES_BYTES = 1L << 20;
    private static final int THREADS = 8192;
    private static final int FEW_THREADS = 256;
    private static final int LARGEST_BYTES = 1000;
    private static final int LIST_BYTES = 16;

    /** The most blocks that buffers keep: 41 classes of 4 queues of 16. */
    private static final long MOST_KEPT = 41 * 4 * 16;

    /** The size of the headers before blocks that are coalesced and kept, rounded up. */
    private static final long HEADER_BYTES = 64;

    private static final long IMPOSSIBLE_BYTES = 1L << 50;

    private final CUdeviceptr queues = new CUdeviceptr();
    private final CUdeviceptr lists = new CUdeviceptr();
    private HeldBlocks blocks;

    @BeforeEach
    void takeMemory() {
        Gpu.require();
        succeed(JCudaDriver.cuMemAlloc(queues, QUEUES_BYTES));
        succeed(JCudaDriver.cuMemsetD8(queues, (byte) 0, QUEUES_BYTES));
        succeed(JCudaDriver.cuMemAlloc(lists, (long) THREADS * LIST_BYTES));
        blocks = new HeldBlocks("buffered-threads");
    }

    @AfterEach
    void giveMemoryBack() {
        if (blocks != null) {
            blocks.close();
            succeed(JCudaDriver.cuMemFree(lists));
            succeed(JCudaDriver.cuMemFree(queues));
        }
    }

    private static boolean isCuda(final String variant) {
        return variant.endsWith("CudaMalloc");
    }

    private DeviceHeap heap(final String variant, final long bytes) {
        return blocks.heap(isCuda(variant) ? DeviceAllocator.CUDA_MALLOC : DeviceAllocator.BIT_MALLOC, bytes);
    }

    private Counts use(final String variant, final DeviceHeap heap, final int threads, final int rounds) {
        return blocks.run(
                "use",
                variant,
                threads,
                heap.parameter(),
                Pointer.to(queues),
                word(LARGEST_BYTES),
                word(rounds),
                blocks.counts());
    }

    private Counts hold(
            final String variant, final DeviceHeap heap, final int threads, final int bytes, final long most) {
        return blocks.run(
                "hold",
                variant,
                threads,
                heap.parameter(),
                Pointer.to(queues),
                word(bytes),
                word(most),
                Pointer.to(lists),
                blocks.counts());
    }

    private Counts release(final String variant, final DeviceHeap heap, final int threads, final int bytes) {
        return blocks.run(
                "release",
                variant,
                threads,
                heap.parameter(),
                Pointer.to(queues),
                word(bytes),
                Pointer.to(lists),
                blocks.counts());
    }

    private Counts tryOne(final String variant, final DeviceHeap heap, final long bytes) {
        return blocks.run("tryOne", variant, 1, heap.parameter(), Pointer.to(queues), word(bytes), blocks.counts());
    }

    /** Checks that all blocks are freed; a request for an impossible size empties the buffers first. */
    private void assertGivenBack(final String variant, final DeviceHeap heap) {
        assertEquals(Counts.of(0, 1), tryOne(variant, heap, IMPOSSIBLE_BYTES));
        if (!isCuda(variant)) {
            DeviceHeapGpuTest.assertAllFree(heap.statistics(), 0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"BitMalloc", "CoalescedBitMalloc", "CudaMalloc", "CoalescedCudaMalloc"})
    void shouldKeepBlocksOfManyThreadsApart(final String variant) {
        try (DeviceHeap heap = heap(variant, HEAP_BYTES)) {
            final Counts used = use(variant, heap, THREADS, 50);

            assertTrue(used.served() > 2L * 50 * THREADS, used::toString);
            assertEquals(Counts.of(used.served(), 0), used);
            assertGivenBack(variant, heap);
        }
    }

    /** Buffers are emptied all the time, while other threads fill them. */
    @ParameterizedTest
    @ValueSource(strings = {"BitMalloc", "CoalescedBitMalloc"})
    void shouldKeepBlocksApartWhereThereIsTooLittle(final String variant) {
        try (DeviceHeap heap = heap(variant, SMALL_BYTES)) {
            final Counts used = use(variant, heap, THREADS, 20);

            assertTrue(used.served() > 0 && used.nulls() > 0, used::toString);
            assertEquals(Counts.of(used.served(), used.nulls()), used);
            assertGivenBack(variant, heap);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"BitMalloc", "CoalescedBitMalloc", "CudaMalloc", "CoalescedCudaMalloc"})
    void shouldTakeBackWhatOthersFree(final String variant) {
        try (DeviceHeap heap = heap(variant, HEAP_BYTES)) {
            for (int round = 0; round < 10; round++) {
                assertEquals(Counts.of(3L * THREADS, 0), hold(variant, heap, THREADS, 200, 3));
                assertEquals(Counts.of(0, 0), release(variant, heap, THREADS, 200));
            }

            if (!isCuda(variant)) {
                final DeviceHeapStatistics kept = heap.statistics();
                assertTrue(kept.usedChunks() > 0 && kept.usedChunks() <= MOST_KEPT, kept::toString);
                final long largestBytes = (kept.capacityBytes() >> 16 << 16) - HEADER_BYTES;
                assertEquals(Counts.of(1, 0), tryOne(variant, heap, largestBytes), "of what is kept");
            }
            assertGivenBack(variant, heap);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"BitMalloc", "CoalescedBitMalloc", "CudaMalloc", "CoalescedCudaMalloc"})
    void shouldEndWhenThereIsNoMore(final String variant) {
        try (DeviceHeap heap = heap(variant, HEAP_BYTES)) {
            final Counts held = hold(variant, heap, FEW_THREADS, LARGEST_BYTES, Long.MAX_VALUE);

            assertEquals(Counts.of(held.served(), FEW_THREADS), held);
            assertTrue(held.served() * LARGEST_BYTES > HEAP_BYTES / 4, held::toString);
            assertEquals(Counts.of(0, 0), release(variant, heap, FEW_THREADS, LARGEST_BYTES));
            assertGivenBack(variant, heap);
            assertEquals(0, use(variant, heap, FEW_THREADS, 1).nulls(), "nulls where all is free again");
            assertGivenBack(variant, heap);
        }
    }
}
