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
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Buffers before BitMalloc and CUDA's own allocator, coalesced or not, with many threads ({@code buffered-threads.cu}).
 * The CPU twin is {@link BufferedTest}.
 */
@Tag("gpu")
class BufferedGpuTest {

    /** As in other tests: the limit of the driver's heap can't be raised once a kernel has used it. */
    private static final long HEAP_BYTES = 64L << 20;

    private static final long SMALL_BYTES = 1L << 20;
    private static final long QUEUES_BYTES = 1L << 20;
    private static final int THREADS = 8192;
    private static final int FEW_THREADS = 256;
    private static final int LARGEST_BYTES = 1000;
    private static final int ALL_COUNTS = 4;
    private static final int LIST_BYTES = 16;

    /** 41 classes of 4 queues of 16. */
    private static final long MOST_KEPT = 41 * 4 * 16;

    /** The headers before what is coalesced and kept, and some. */
    private static final long HEADER_BYTES = 64;

    private static final long IMPOSSIBLE_BYTES = 1L << 50;

    private final CUdeviceptr memory = new CUdeviceptr();
    private final CUdeviceptr queues = new CUdeviceptr();
    private final CUdeviceptr lists = new CUdeviceptr();
    private final CUdeviceptr counts = new CUdeviceptr();
    private KernelModule module;

    /** What threads have seen since the last time. */
    record Counts(long served, long nulls, long misaligned, long overwritten) {}

    @BeforeEach
    void takeMemory() {
        Gpu.require();
        succeed(JCudaDriver.cuMemAlloc(memory, HEAP_BYTES));
        succeed(JCudaDriver.cuMemsetD8(memory, (byte) 0xA5, HEAP_BYTES));
        succeed(JCudaDriver.cuMemAlloc(queues, QUEUES_BYTES));
        succeed(JCudaDriver.cuMemsetD8(queues, (byte) 0, QUEUES_BYTES));
        succeed(JCudaDriver.cuMemAlloc(lists, (long) THREADS * LIST_BYTES));
        succeed(JCudaDriver.cuMemAlloc(counts, (long) ALL_COUNTS * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(counts, (byte) 0, (long) ALL_COUNTS * Long.BYTES));
        // The driver wants to know the size of its heap before the kernels.
        DeviceHeap.over(DevicePointers.address(memory), HEAP_BYTES)
                .allocator(DeviceAllocator.CUDA_MALLOC)
                .build()
                .close();
        module = KernelModule.load("buffered-threads", GpuProgram.text("buffered-threads.ptx.gz"));
    }

    @AfterEach
    void giveMemoryBack() {
        if (module != null) {
            module.close();
            succeed(JCudaDriver.cuMemFree(counts));
            succeed(JCudaDriver.cuMemFree(lists));
            succeed(JCudaDriver.cuMemFree(queues));
            succeed(JCudaDriver.cuMemFree(memory));
        }
    }

    private static boolean isCuda(final String variant) {
        return variant.endsWith("CudaMalloc");
    }

    private DeviceHeap heap(final String variant, final long bytes) {
        return DeviceHeap.over(DevicePointers.address(memory), bytes)
                .allocator(isCuda(variant) ? DeviceAllocator.CUDA_MALLOC : DeviceAllocator.BIT_MALLOC)
                .build();
    }

    private Counts counts() {
        final long[] values = new long[ALL_COUNTS];
        succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(values), counts, (long) ALL_COUNTS * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(counts, (byte) 0, (long) ALL_COUNTS * Long.BYTES));
        return new Counts(values[0], values[1], values[2], values[3]);
    }

    private Counts use(final String variant, final DeviceHeap heap, final int threads, final int rounds) {
        HeapKernels.run(
                module,
                variant,
                "use" + variant,
                threads,
                heap.parameter(),
                Pointer.to(queues),
                word(LARGEST_BYTES),
                word(rounds),
                Pointer.to(counts));
        return counts();
    }

    private Counts hold(
            final String variant, final DeviceHeap heap, final int threads, final int bytes, final long most) {
        HeapKernels.run(
                module,
                variant,
                "hold" + variant,
                threads,
                heap.parameter(),
                Pointer.to(queues),
                word(bytes),
                word(most),
                Pointer.to(lists),
                Pointer.to(counts));
        return counts();
    }

    private Counts release(final String variant, final DeviceHeap heap, final int threads, final int bytes) {
        HeapKernels.run(
                module,
                variant,
                "release" + variant,
                threads,
                heap.parameter(),
                Pointer.to(queues),
                word(bytes),
                Pointer.to(lists),
                Pointer.to(counts));
        return counts();
    }

    private Counts tryOne(final String variant, final DeviceHeap heap, final long bytes) {
        HeapKernels.run(
                module,
                variant,
                "tryOne" + variant,
                1,
                heap.parameter(),
                Pointer.to(queues),
                word(bytes),
                Pointer.to(counts));
        return counts();
    }

    /** A request for what there can't be empties the buffers. */
    private void assertGivenBack(final String variant, final DeviceHeap heap) {
        assertEquals(new Counts(0, 1, 0, 0), tryOne(variant, heap, IMPOSSIBLE_BYTES));
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
            assertEquals(new Counts(used.served(), 0, 0, 0), used);
            assertGivenBack(variant, heap);
        }
    }

    /** Buffers are emptied all the time, while others fill them. */
    @ParameterizedTest
    @ValueSource(strings = {"BitMalloc", "CoalescedBitMalloc"})
    void shouldKeepBlocksApartWhereThereIsTooLittle(final String variant) {
        try (DeviceHeap heap = heap(variant, SMALL_BYTES)) {
            final Counts used = use(variant, heap, THREADS, 20);

            assertTrue(used.served() > 0 && used.nulls() > 0, used::toString);
            assertEquals(new Counts(used.served(), used.nulls(), 0, 0), used);
            assertGivenBack(variant, heap);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"BitMalloc", "CoalescedBitMalloc", "CudaMalloc", "CoalescedCudaMalloc"})
    void shouldTakeBackWhatOthersFree(final String variant) {
        try (DeviceHeap heap = heap(variant, HEAP_BYTES)) {
            for (int round = 0; round < 10; round++) {
                assertEquals(new Counts(3L * THREADS, 0, 0, 0), hold(variant, heap, THREADS, 200, 3));
                assertEquals(new Counts(0, 0, 0, 0), release(variant, heap, THREADS, 200));
            }

            if (!isCuda(variant)) {
                final DeviceHeapStatistics kept = heap.statistics();
                assertTrue(kept.usedChunks() > 0 && kept.usedChunks() <= MOST_KEPT, kept::toString);
                final long largestBytes = (kept.capacityBytes() >> 16 << 16) - HEADER_BYTES;
                assertEquals(new Counts(1, 0, 0, 0), tryOne(variant, heap, largestBytes), "of what is kept");
            }
            assertGivenBack(variant, heap);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"BitMalloc", "CoalescedBitMalloc", "CudaMalloc", "CoalescedCudaMalloc"})
    void shouldEndWhenThereIsNoMore(final String variant) {
        try (DeviceHeap heap = heap(variant, HEAP_BYTES)) {
            final Counts held = hold(variant, heap, FEW_THREADS, LARGEST_BYTES, Long.MAX_VALUE);

            assertEquals(new Counts(held.served(), FEW_THREADS, 0, 0), held);
            assertTrue(held.served() * LARGEST_BYTES > HEAP_BYTES / 4, held::toString);
            assertEquals(new Counts(0, 0, 0, 0), release(variant, heap, FEW_THREADS, LARGEST_BYTES));
            assertGivenBack(variant, heap);
            assertEquals(0, use(variant, heap, FEW_THREADS, 1).nulls(), "nulls where all is free again");
            assertGivenBack(variant, heap);
        }
    }
}
