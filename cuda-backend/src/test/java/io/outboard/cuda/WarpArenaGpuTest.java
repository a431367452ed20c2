package io.outboard.cuda;

import static io.outboard.cuda.HeapKernels.word;
import static io.outboard.cuda.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.facade.GpuProgram;
import io.outboard.cuda.memory.DevicePointers;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Arenas of many warps over BitMalloc and CUDA's own allocator ({@code arena-threads.cu}). The CPU twin is {@link
 * WarpArenaTest}.
 */
@Tag("gpu")
class WarpArenaGpuTest {

    /** As in other tests: the limit of the driver's heap can't be raised once a kernel has used it. */
    private static final long HEAP_BYTES = 64L << 20;

    private static final long SMALL_BYTES = 1L << 20;
    private static final int THREADS = 8192;
    private static final int LARGEST_BYTES = 200;
    private static final int CALLS = 20;
    private static final int ALL_COUNTS = 5;

    private final CUdeviceptr memory = new CUdeviceptr();
    private final CUdeviceptr counts = new CUdeviceptr();
    private KernelModule module;

    /** What threads have seen. */
    record Counts(long served, long nulls, long misaligned, long overwritten, long late) {}

    @BeforeEach
    void takeMemory() {
        Gpu.require();
        succeed(JCudaDriver.cuMemAlloc(memory, HEAP_BYTES));
        succeed(JCudaDriver.cuMemsetD8(memory, (byte) 0xA5, HEAP_BYTES));
        succeed(JCudaDriver.cuMemAlloc(counts, (long) ALL_COUNTS * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(counts, (byte) 0, (long) ALL_COUNTS * Long.BYTES));
        // The driver wants to know the size of its heap before the kernels.
        DeviceHeap.over(DevicePointers.address(memory), HEAP_BYTES)
                .allocator(DeviceAllocator.CUDA_MALLOC)
                .build()
                .close();
        module = KernelModule.load("arena-threads", GpuProgram.text("arena-threads.ptx.gz"));
    }

    @AfterEach
    void giveMemoryBack() {
        if (module != null) {
            module.close();
            succeed(JCudaDriver.cuMemFree(counts));
            succeed(JCudaDriver.cuMemFree(memory));
        }
    }

    private DeviceHeap heap(final String allocator, final long bytes) {
        return DeviceHeap.over(DevicePointers.address(memory), bytes)
                .allocator(DeviceAllocator.named(allocator))
                .build();
    }

    private Counts counts() {
        final long[] values = new long[ALL_COUNTS];
        succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(values), counts, (long) ALL_COUNTS * Long.BYTES));
        return new Counts(values[0], values[1], values[2], values[3], values[4]);
    }

    private Counts use(final DeviceHeap heap, final long chunkBytes, final int rounds) {
        final String name = heap.allocator().paperName();
        HeapKernels.run(
                module,
                name,
                "use" + name,
                THREADS,
                heap.parameter(),
                word(chunkBytes),
                word(CALLS),
                word(LARGEST_BYTES),
                word(rounds),
                Pointer.to(counts));
        return counts();
    }

    private Counts exhaust(final DeviceHeap heap, final int threads, final long chunkBytes) {
        final String name = heap.allocator().paperName();
        HeapKernels.run(
                module,
                name,
                "exhaust" + name,
                threads,
                heap.parameter(),
                word(chunkBytes),
                word(LARGEST_BYTES),
                Pointer.to(counts));
        return counts();
    }

    private static void assertAllFree(final DeviceHeap heap) {
        if (heap.allocator() != DeviceAllocator.CUDA_MALLOC) {
            DeviceHeapGpuTest.assertAllFree(heap.statistics(), 0);
        }
    }

    /** With chunks for a few threads' calls, for those of a warp, and for many. */
    @ParameterizedTest
    @CsvSource({"BitMalloc, 512", "BitMalloc, 4096", "BitMalloc, 16384", "CudaMalloc, 512", "CudaMalloc, 4096"})
    void shouldKeepScratchOfManyWarpsApartAndFreeAllOfIt(final String allocator, final long chunkBytes) {
        try (DeviceHeap heap = heap(allocator, HEAP_BYTES)) {
            final Counts used = use(heap, chunkBytes, 10);

            // A half of the warps, and a third of the threads of the others, ask three times of four.
            assertTrue(used.served() > 10L * CALLS * THREADS * 2 / 3 / 2, used::toString);
            assertEquals(new Counts(used.served(), 0, 0, 0, 0), used);
            assertAllFree(heap);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {512, 4096})
    void shouldKeepScratchApartWhereThereIsTooLittle(final long chunkBytes) {
        try (DeviceHeap heap = heap("BitMalloc", SMALL_BYTES)) {
            final Counts used = use(heap, chunkBytes, 10);

            assertTrue(used.served() > 0 && used.nulls() > 0, used::toString);
            assertEquals(new Counts(used.served(), used.nulls(), 0, 0, 0), used);
            assertAllFree(heap);
        }
    }

    @ParameterizedTest
    @CsvSource({"BitMalloc, 8192, 1048576", "BitMalloc, 256, 67108864", "CudaMalloc, 256, 67108864"})
    void shouldEndWhenThereIsNoMore(final String allocator, final int threads, final long heapBytes) {
        try (DeviceHeap heap = heap(allocator, heapBytes)) {
            final Counts exhausted = exhaust(heap, threads, 32 << 10);

            assertEquals(new Counts(exhausted.served(), threads, 0, 0, 0), exhausted);
            assertTrue(exhausted.served() * LARGEST_BYTES > heapBytes / 4, exhausted::toString);
            assertAllFree(heap);
        }
    }
}
