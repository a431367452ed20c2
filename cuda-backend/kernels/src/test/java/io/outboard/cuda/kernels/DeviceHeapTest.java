package io.outboard.cuda.kernels;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.internal.memory.ContextMemorySource;
import io.outboard.cuda.internal.memory.CudaContext;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.internal.memory.StreamCaptures;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.pool.Pool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.UnaryOperator;
import jcuda.driver.CUresult;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** This class tests the host's part, over a fake driver; {@link DeviceHeapGpuTest} tests the kernels. */
class DeviceHeapTest {

    private static final long MEMORY = 0x7f00_0000_0000L;
    private static final long HEAP_BYTES = 1L << 20;

    private final FakeCuda cuda = new FakeCuda(1);
    private final FakeKernels kernels = new FakeKernels();
    private final KernelDriver driver = new KernelDriver(cuda, kernels, ptx -> "");
    private Pool pool;

    DeviceHeapTest() {
        cuda.setDevice(0);
        pool = newPool();
    }

    private Pool newPool() {
        return Pool.over(new ContextMemorySource(
                        new CudaContext(cuda, cuda.currentContextOrZero(), 0, new StreamCaptures())))
                .firstRegionBytes(4 << 20)
                .build();
    }

    @AfterEach
    void closePool() {
        pool.close();
    }

    private DeviceHeapBuilder inPool() {
        return DeviceHeap.in(pool, HEAP_BYTES);
    }

    private long usedBytes() {
        return pool.statistics().usedBytes();
    }

    @Test
    void shouldFormatClearAndSplitInThisOrder() {
        final DeviceHeap heap = DeviceHeap.over(MEMORY, HEAP_BYTES)
                .allocator(DeviceAllocator.CFM_MALLOC)
                .preSplit(PreSplit.uniform(256).withLargeEnd(4096))
                .maximumFragmentation(1.5)
                .build(driver);

        assertEquals(
                List.of(
                        "outboardHeapFormat<<<1, 1>>>[" + MEMORY + ", 1048576, 7, 384, 0]",
                        "outboardHeapClear<<<56, 256>>>[" + MEMORY + "]",
                        "outboardHeapSplit<<<56, 256>>>[" + MEMORY + ", 2, 256, 4096]"),
                kernels.launches());
        heap.close();
    }

    @ParameterizedTest
    @CsvSource({
        "BIT_MALLOC, 7, 8",
        "ATOMIC_MALLOC, 0, 4",
        "AW_MALLOC, 0, 4",
        "C_MALLOC, 0, 1",
        "CF_MALLOC, 0, 0",
        "CM_MALLOC, 7, 1",
        "CFM_MALLOC, 7, 0"
    })
    void shouldTellTheKernelsOfTheAllocator(
            final DeviceAllocator allocator, final int multiprocessors, final int flags) {
        final DeviceHeapBuilder builder = DeviceHeap.over(MEMORY, HEAP_BYTES).allocator(allocator);

        builder.build(driver).close();
        builder.trackRequests(true).build(driver).close();

        assertEquals(
                List.of(
                        "outboardHeapFormat<<<1, 1>>>[" + MEMORY + ", 1048576, " + multiprocessors + ", 256, " + flags
                                + "]",
                        "outboardHeapFormat<<<1, 1>>>[" + MEMORY + ", 1048576, " + multiprocessors + ", 256, "
                                + (flags + 2) + "]"),
                kernels.launches().stream()
                        .filter(launch -> launch.startsWith("outboardHeapFormat"))
                        .toList());
    }

    /** The last argument of the format is a set of bits: free memory in bitmaps, and where blocks start. */
    @Test
    void shouldBeForTheDefaultAllocatorAndItsCheckedBuild() {
        final DeviceHeapBuilder builder = DeviceHeap.over(MEMORY, HEAP_BYTES);

        builder.build(driver).close();
        builder.checked(true).build(driver).close();
        builder.allocator(DeviceAllocator.CFM_MALLOC).build(driver).close();

        assertEquals(
                List.of("256, 8]", "256, 9]", "256, 0]"),
                kernels.launches().stream()
                        .filter(launch -> launch.startsWith("outboardHeapFormat"))
                        .map(launch -> launch.substring(launch.indexOf("256, ")))
                        .toList());
    }

    @Test
    void shouldHoldABlockOfThePoolUntilItIsClosed() {
        final DeviceHeap heap = inPool().build(driver);

        assertEquals(HEAP_BYTES, usedBytes());
        assertEquals(HEAP_BYTES, pool.sizeOf(heap.address()));
        assertEquals(0, heap.address() % 256);

        heap.close();
        heap.close();

        assertEquals(0, usedBytes());
        assertEquals(0, kernels.live());
    }

    @Test
    void shouldWaitForTheDeviceBeforeItFreesTheBlock() {
        final DeviceHeap heap = inPool().build(driver);
        final int before = cuda.streams().synchronizations();

        heap.close();

        assertEquals(before + 1, cuda.streams().synchronizations());
    }

    @Test
    void shouldLeaveNothingWhenItCannotBeMade() {
        assertLeavesNothingWhenACallFails(inPool());
    }

    /** Each call of the driver that makes or ends the heap may fail. */
    private void assertLeavesNothingWhenACallFails(final DeviceHeapBuilder builder) {
        boolean failed = true;
        for (int call = 1; failed; call++) {
            kernels.failAt(call, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
            try {
                builder.build(driver).close();
            } catch (final CudaFailureException e) {
                assertEquals(CUresult.CUDA_ERROR_OUT_OF_MEMORY, e.code());
            }
            failed = kernels.hasFailed();
            assertEquals(0, usedBytes(), "call " + call);
            assertEquals(0, kernels.live(), "call " + call);
            assertTrue(call < 20);
        }
    }

    @Test
    void shouldFreeTheBlockThoughTheContextIsBroken() {
        final DeviceHeap heap = inPool().build(driver);
        cuda.streams().breakContext(cuda.currentContextOrZero());

        assertThrows(CudaFailureException.class, heap::close);
        heap.close();

        assertEquals(0, usedBytes());
        pool = newPool();
    }

    @Test
    void shouldLeaveNothingWhenAKernelFails() {
        cuda.streams().breakContext(cuda.currentContextOrZero());

        assertThrows(CudaFailureException.class, () -> inPool().build(driver));

        assertEquals(0, usedBytes());
        assertEquals(0, kernels.live());
        pool = newPool();
    }

    @Test
    void shouldGiveKernelsTheControlBlockByValue() {
        kernels.leaveStatistics(11, 22, 33, 44);
        try (DeviceHeap heap = inPool().build(driver)) {
            final ByteBuffer control =
                    heap.parameter().getByteBuffer(0, DeviceHeap.CONTROL_BYTES).order(ByteOrder.nativeOrder());

            assertEquals(22, control.getLong(8));

            kernels.leaveStatistics(55, 66);
            heap.reset();

            assertEquals(66, control.getLong(8));
        }
    }

    @Test
    void shouldReadTheStatistics() {
        kernels.leaveStatistics(1000, 3, 600, 2, 400, 300, 7, 4, Double.doubleToRawLongBits(1.0), 200);
        try (DeviceHeap heap = inPool().trackRequests(true).build(driver)) {
            final long usedBefore = cuda.usedBytes(0);

            final DeviceHeapStatistics statistics = heap.statistics();

            assertEquals(new DeviceHeapStatistics(1000, 3, 600, 2, 400, 300, 200, 7, 0.25), statistics);
            assertEquals(0.25, statistics.externalFragmentation());
            assertEquals(0.5, statistics.externalFragmentationOfChunks());
            assertEquals(usedBefore, cuda.usedBytes(0));
            final List<String> launches = kernels.launches().subList(3, 5);
            final String address = Long.toString(heap.address());
            assertTrue(launches.get(0).startsWith("outboardHeapScan<<<32, 256>>>[" + address), launches.toString());
            assertTrue(launches.get(1).startsWith("outboardHeapSummarise<<<1, 1>>>[" + address), launches.toString());
        }
    }

    @Test
    void shouldGiveTheScratchMemoryBackWhenAScanFails() {
        try (DeviceHeap heap = inPool().build(driver)) {
            final long usedBefore = cuda.usedBytes(0);
            // The calls are lookup and launch of both kernels, and the copy.
            for (int call = 1; call <= 3; call++) {
                kernels.failAt(call, CUresult.CUDA_ERROR_LAUNCH_FAILED);
                assertThrows(CudaFailureException.class, heap::statistics);
                assertEquals(usedBefore, cuda.usedBytes(0), "call " + call);
            }
        }
    }

    @Test
    void shouldHaveNoInternalFragmentationUnlessRequestsAreTracked() {
        kernels.leaveStatistics(1000, 3, 600, 0, 0, 0, 0, 0, 0, 0);
        try (DeviceHeap heap = inPool().build(driver)) {
            final DeviceHeapStatistics statistics = heap.statistics();

            assertTrue(Double.isNaN(statistics.internalFragmentation()));
            assertEquals(0, statistics.externalFragmentation());
        }
    }

    @Test
    void shouldFormatAgainOnReset() {
        try (DeviceHeap heap = inPool().build(driver)) {
            heap.reset();

            assertEquals(6, kernels.launches().size());
            assertEquals(kernels.launches().subList(0, 3), kernels.launches().subList(3, 6));
        }
    }

    @Test
    void shouldRefuseEverythingOnceClosed() {
        final DeviceHeap heap = inPool().build(driver);
        heap.close();

        assertAll(
                () -> assertThrows(IllegalStateException.class, heap::reset),
                () -> assertThrows(IllegalStateException.class, heap::statistics));
    }

    @Test
    void shouldRaiseTheDriversLimitForCudaMalloc() {
        try (DeviceHeap heap = DeviceHeap.in(pool, 16 << 20)
                .allocator(DeviceAllocator.CUDA_MALLOC)
                .build(driver)) {
            final long[] limit = new long[1];
            kernels.mallocHeapBytes(limit);

            assertAll(
                    () -> assertEquals(16 << 20, limit[0]),
                    () -> assertEquals(0, heap.address()),
                    () -> assertEquals(0, usedBytes()),
                    () -> assertEquals(List.of(), kernels.launches()),
                    () -> assertThrows(UnsupportedOperationException.class, heap::reset),
                    () -> assertEquals(
                            "statistics isn't possible for allocator=CUDA_MALLOC: its heap is the driver's",
                            messageOf(assertThrows(UnsupportedOperationException.class, heap::statistics))));
        }
    }

    /** The queues alone are in the pool; they are emptied when the heap is closed. */
    @Test
    void shouldMakeTheQueuesOfXMallocAndEmptyThem() {
        kernels.leaveStatistics(11, 22);
        final DeviceHeap heap = xmalloc().build(driver);
        final long[] limit = new long[1];
        kernels.mallocHeapBytes(limit);
        final String address = "[" + heap.address() + "]";

        assertAll(
                () -> assertEquals(16 << 20, limit[0]),
                () -> assertEquals(16 << 20, heap.sizeBytes()),
                () -> assertEquals(192 << 10, usedBytes()),
                () -> assertEquals(
                        22,
                        heap.parameter()
                                .getByteBuffer(8, 8)
                                .order(ByteOrder.nativeOrder())
                                .getLong()),
                () -> assertEquals(List.of("outboardXmcInit<<<56, 256>>>" + address), kernels.launches()),
                () -> assertThrows(UnsupportedOperationException.class, heap::reset),
                () -> assertEquals(
                        "statistics isn't possible for allocator=XMALLOC: its heap is the driver's",
                        messageOf(assertThrows(UnsupportedOperationException.class, heap::statistics))));

        heap.close();
        heap.close();

        assertEquals(
                List.of("outboardXmcInit<<<56, 256>>>" + address, "outboardXmcDrain<<<3, 256>>>" + address),
                kernels.launches());
        assertEquals(0, usedBytes());
        assertEquals(0, kernels.live());
    }

    /** The driver reads its limit when it loads code that allocates. */
    @Test
    void shouldRaiseTheLimitBeforeTheKernelsOfXMallocAreLoaded() {
        kernels.refuse("");

        assertThrows(CudaFailureException.class, () -> xmalloc().build(driver));

        final long[] limit = new long[1];
        kernels.mallocHeapBytes(limit);
        assertEquals(16 << 20, limit[0]);
    }

    private DeviceHeapBuilder xmalloc() {
        return DeviceHeap.in(pool, 16 << 20).allocator(DeviceAllocator.XMALLOC);
    }

    @Test
    void shouldLeaveNothingOfXMallocWhenACallFails() {
        assertLeavesNothingWhenACallFails(xmalloc());
    }

    @Test
    void shouldStayOpenWithItsQueuesBecauseOfACapture() {
        final DeviceHeap heap = xmalloc().build(driver);
        final long stream = cuda.streams().createStream(cuda.currentContextOrZero());
        cuda.streams().beginCapture(stream);

        assertThrows(CudaFailureException.class, heap::close);
        assertEquals(192 << 10, usedBytes());

        cuda.streams().endCapture(stream);
        heap.close();
        assertEquals(2, kernels.launches().size());
        assertEquals(0, usedBytes());
    }

    @Test
    void shouldRefuseXMallocInTooLittleMemory() {
        final DeviceHeapBuilder builder =
                DeviceHeap.over(MEMORY, (192 << 10) - 1).allocator(DeviceAllocator.XMALLOC);

        assertEquals(
                "sizeBytes=196607 must be >= 196608 for allocator=XMALLOC",
                messageOf(assertThrows(IllegalArgumentException.class, () -> builder.build(driver))));
        assertEquals(List.of(), kernels.launches());
        DeviceHeap.over(MEMORY, 192 << 10)
                .allocator(DeviceAllocator.XMALLOC)
                .build(driver)
                .close();
    }

    @Test
    void shouldNotLowerTheDriversLimit() {
        DeviceHeap.over(MEMORY, HEAP_BYTES)
                .allocator(DeviceAllocator.CUDA_MALLOC)
                .build(driver)
                .close();
        final long[] limit = new long[1];
        kernels.mallocHeapBytes(limit);

        assertEquals(8 << 20, limit[0]);
    }

    /** The heap's block isn't lost: the heap can be closed when the capture has ended. */
    @Test
    void shouldStayOpenIfItCannotWaitBecauseOfACapture() {
        final DeviceHeap heap = inPool().build(driver);
        final long stream = cuda.streams().createStream(cuda.currentContextOrZero());
        cuda.streams().beginCapture(stream);

        final CudaFailureException thrown = assertThrows(CudaFailureException.class, heap::close);
        assertEquals(cudaError.cudaErrorStreamCaptureUnsupported, thrown.code());
        assertEquals(HEAP_BYTES, usedBytes());

        cuda.streams().endCapture(stream);
        heap.close();
        assertEquals(0, usedBytes());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 65535, (64L << 30) + 1, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldRefuseASizeOutOfRange(final long sizeBytes) {
        final String expected = "sizeBytes=" + sizeBytes + " must be from 65536 to 68719476736";

        assertAll(
                () -> assertEquals(
                        expected,
                        messageOf(assertThrows(
                                IllegalArgumentException.class, () -> DeviceHeap.over(MEMORY, sizeBytes)))),
                () -> assertEquals(
                        expected,
                        messageOf(assertThrows(IllegalArgumentException.class, () -> DeviceHeap.in(pool, sizeBytes)))));
    }

    @ParameterizedTest
    @ValueSource(longs = {65536, 64L << 30})
    void shouldTakeTheSizesAtTheEnds(final long sizeBytes) {
        assertEquals(sizeBytes, DeviceHeap.over(MEMORY, sizeBytes).build(driver).sizeBytes());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -256, 255, MEMORY + 128})
    void shouldRefuseAnAddressThatIsNotAligned(final long address) {
        assertEquals(
                "address=" + address + " must be a multiple of 256 and > 0",
                messageOf(assertThrows(IllegalArgumentException.class, () -> DeviceHeap.over(address, HEAP_BYTES))));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.99, 0, -1, 65536.5, Double.NaN, Double.POSITIVE_INFINITY})
    void shouldRefuseAMaximumFragmentationOutOfRange(final double ratio) {
        final String message =
                messageOf(assertThrows(IllegalArgumentException.class, () -> inPool().maximumFragmentation(ratio)));

        assertEquals("newMaximumFragmentation=" + ratio + " must be from 1 to 65536", message);
    }

    @ParameterizedTest
    @EnumSource(PreSplit.Kind.class)
    void shouldRefuseChunksLargerThanTheHeap(final PreSplit.Kind kind) {
        final long large = 2 * HEAP_BYTES;
        final UnaryOperator<PreSplit> withEnd = split -> split.withLargeEnd(large);
        final PreSplit split = switch (kind) {
            case NONE -> withEnd.apply(PreSplit.none());
            case UNIFORM -> PreSplit.uniform(large);
            case BINARY_HEAP -> PreSplit.binaryHeap(large);
        };

        final String message = messageOf(assertThrows(IllegalArgumentException.class, () -> inPool().preSplit(split)));

        assertTrue(message.endsWith(" must have chunks <= sizeBytes=1048576"), message);
    }
}
