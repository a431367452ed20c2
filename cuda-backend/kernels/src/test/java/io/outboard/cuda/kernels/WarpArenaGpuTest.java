package io.outboard.cuda.kernels;

import static io.outboard.cuda.kernels.HeapKernels.word;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.Gpu;
import io.outboard.cuda.kernels.HeldBlocks.Counts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests arenas of many warps over BitMalloc and CUDA's own allocator ({@code arena-threads.cu}). The twin
 * without a GPU is {@link WarpArenaTest}.
 */
@Tag("gpu")
class WarpArenaGpuTest {

    private static final long HEAP_BYTES = HeldBlocks.HEAP_BYTES;
    private static final long SMALL_BYTES = 1L << 20;
    private static final int THREADS = 8192;
    private static final int LARGEST_BYTES = 200;
    private static final int CALLS = 20;

    private HeldBlocks blocks;

    @BeforeEach
    void takeMemory() {
        Gpu.require();
        blocks = new HeldBlocks("arena-threads");
    }

    @AfterEach
    void giveMemoryBack() {
        if (blocks != null) {
            blocks.close();
        }
    }

    private DeviceHeap heap(final String allocator, final long bytes) {
        return blocks.heap(DeviceAllocator.named(allocator), bytes);
    }

    private Counts use(final DeviceHeap heap, final long chunkBytes, final int rounds) {
        return blocks.run(
                "use",
                heap.allocator().paperName(),
                THREADS,
                heap.parameter(),
                word(chunkBytes),
                word(CALLS),
                word(LARGEST_BYTES),
                word(rounds),
                blocks.counts());
    }

    private Counts exhaust(final DeviceHeap heap, final int threads, final long chunkBytes) {
        return blocks.run(
                "exhaust",
                heap.allocator().paperName(),
                threads,
                heap.parameter(),
                word(chunkBytes),
                word(LARGEST_BYTES),
                blocks.counts());
    }

    private static void assertAllFree(final DeviceHeap heap) {
        if (heap.allocator() != DeviceAllocator.CUDA_MALLOC) {
            DeviceHeapGpuTest.assertAllFree(heap.statistics(), 0);
        }
    }

    /** Chunks are large enough for a few threads' calls, for those of a warp, or for many. */
    @ParameterizedTest
    @CsvSource({"BitMalloc, 512", "BitMalloc, 4096", "BitMalloc, 16384", "CudaMalloc, 512", "CudaMalloc, 4096"})
    void shouldKeepScratchOfManyWarpsApartAndFreeAllOfIt(final String allocator, final long chunkBytes) {
        try (DeviceHeap heap = heap(allocator, HEAP_BYTES)) {
            final Counts used = use(heap, chunkBytes, 10);

            // Half of the warps, and a third of the threads of the other warps, ask three times out of four.
            assertTrue(used.served() > 10L * CALLS * THREADS * 2 / 3 / 2, used::toString);
            assertEquals(Counts.of(used.served(), 0), used);
            assertAllFree(heap);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {512, 4096})
    void shouldKeepScratchApartWhereThereIsTooLittle(final long chunkBytes) {
        try (DeviceHeap heap = heap("BitMalloc", SMALL_BYTES)) {
            final Counts used = use(heap, chunkBytes, 10);

            assertTrue(used.served() > 0 && used.nulls() > 0, used::toString);
            assertEquals(Counts.of(used.served(), used.nulls()), used);
            assertAllFree(heap);
        }
    }

    @ParameterizedTest
    @CsvSource({"BitMalloc, 8192, 1048576", "BitMalloc, 256, 67108864", "CudaMalloc, 256, 67108864"})
    void shouldEndWhenThereIsNoMore(final String allocator, final int threads, final long heapBytes) {
        try (DeviceHeap heap = heap(allocator, heapBytes)) {
            final Counts exhausted = exhaust(heap, threads, 32 << 10);

            assertEquals(Counts.of(exhausted.served(), threads), exhausted);
            assertTrue(exhausted.served() * LARGEST_BYTES > heapBytes / 4, exhausted::toString);
            assertAllFree(heap);
        }
    }
}
