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
import io.outboard.cuda.kernels.internal.DevicePtx;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.pool.Pool;
import java.nio.ByteOrder;
import java.util.List;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** This class tests the host's part, over a fake driver; {@link ObjectHeapGpuTest} tests the kernels. */
class ObjectHeapTest {

    private static final long MEMORY = 0x7f00_0000_0000L;
    private static final long HEAP_BYTES = 1L << 20;
    private static final long BLOCKS = 1000;

    /** The place of the number of blocks in the control block, in words of 8 bytes. */
    private static final int BLOCKS_AT = 2;

    private final FakeCuda cuda = new FakeCuda(1);
    private final FakeKernels kernels = new FakeKernels();
    private final KernelDriver driver = new KernelDriver(cuda, kernels, ptx -> "");
    private final Pool pool;

    ObjectHeapTest() {
        cuda.setDevice(0);
        pool = Pool.over(new ContextMemorySource(
                        new CudaContext(cuda, cuda.currentContextOrZero(), 0, new StreamCaptures())))
                .firstRegionBytes(4 << 20)
                .build();
        haveBlocks(BLOCKS);
    }

    private void haveBlocks(final long blocks) {
        final long[] control = new long[BLOCKS_AT + 1];
        control[BLOCKS_AT] = blocks;
        kernels.leaveStatistics(control);
    }

    @AfterEach
    void closePool() {
        pool.close();
    }

    private ObjectHeapBuilder sea() {
        return ObjectHeap.in(pool, HEAP_BYTES).type("Fish", 4, 4, 4).type("Shark", 4, 8, 1, 4);
    }

    @Test
    void shouldFormatAndThenClear() {
        try (ObjectHeap heap =
                ObjectHeap.over(MEMORY, HEAP_BYTES).type("Cell", 8).build(driver)) {
            final List<String> launches = kernels.launches();

            assertEquals(2, launches.size());
            assertTrue(
                    launches.get(0).startsWith("outboardObjectsFormat<<<1, 1>>>[" + MEMORY + ", 1048576, 7, "),
                    launches.get(0));
            assertEquals("outboardObjectsClear<<<56, 256>>>[" + MEMORY + "]", launches.get(1));
            assertEquals(MEMORY, heap.address());
            assertEquals(BLOCKS, heap.blocks());
            assertEquals(512, heap.blockBytes());
            assertEquals(
                    BLOCKS,
                    heap.parameter()
                            .getByteBuffer(0, ObjectHeap.CONTROL_BYTES)
                            .order(ByteOrder.nativeOrder())
                            .getLong(BLOCKS_AT * Long.BYTES));
        }
    }

    @Test
    void shouldListATypesBlocksBeforeItsKernel() {
        try (ObjectHeap heap = sea().build(driver);
                KernelModule module = KernelModule.load(driver, DevicePtx.OBJECTS)) {
            final int before = kernels.launches().size();

            heap.forEach(module, "outboardObjectsClear", "Shark", new CUstream(), heap.parameter());

            final List<String> names = kernels
                    .launches()
                    .subList(before, kernels.launches().size())
                    .stream()
                    .map(launch -> launch.replaceFirst("\\[\\d+", "["))
                    .toList();
            assertEquals(List.of("outboardObjectsList<<<1, 256>>>[, 1]", "outboardObjectsClear<<<56, 256>>>[]"), names);
        }
    }

    @Test
    void shouldReadTheStatistics() {
        try (ObjectHeap heap = sea().build(driver)) {
            final long[] words = new long[ObjectHeapStatistics.WORDS];
            words[0] = 10;
            words[1] = 320;
            words[2] = 20;
            words[3] = 21;
            words[ObjectHeapStatistics.WORDS - 2] = 970;
            words[ObjectHeapStatistics.WORDS - 1] = 5;
            kernels.leaveStatistics(words);
            final long usedBefore = cuda.usedBytes(0);

            final ObjectHeapStatistics statistics = heap.statistics();

            assertEquals(
                    new ObjectHeapStatistics(
                            768,
                            BLOCKS,
                            970,
                            5,
                            List.of(
                                    new ObjectHeapStatistics.Type("Fish", 64, 10, 320),
                                    new ObjectHeapStatistics.Type("Shark", 40, 20, 21))),
                    statistics);
            assertEquals(0.5, statistics.types().get(0).fill());
            assertEquals(usedBefore, cuda.usedBytes(0));
        }
    }

    /** Each call of the driver that makes the heap may fail. */
    @Test
    void shouldLeaveNothingWhenItCannotBeMade() {
        boolean failed = true;
        for (int call = 1; failed; call++) {
            kernels.failAt(call, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
            try {
                sea().build(driver).close();
            } catch (final CudaFailureException e) {
                assertEquals(CUresult.CUDA_ERROR_OUT_OF_MEMORY, e.code());
            }
            failed = kernels.hasFailed();
            assertEquals(0, pool.statistics().usedBytes(), "call " + call);
            assertEquals(0, kernels.live(), "call " + call);
            assertTrue(call < 20);
        }
    }

    @Test
    void shouldRefuseAHeapWithoutRoomForABlock() {
        haveBlocks(0);

        final String message = messageOf(assertThrows(IllegalArgumentException.class, () -> sea().build(driver)));

        assertEquals("sizeBytes=1048576 must have room for a block of 768 bytes and its tables", message);
        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, kernels.live());
    }

    @Test
    void shouldFormatAgainOnReset() {
        try (ObjectHeap heap = sea().build(driver)) {
            heap.reset();

            assertEquals(4, kernels.launches().size());
        }
    }

    @Test
    void shouldRefuseEverythingOnceClosed() {
        final ObjectHeap heap = sea().build(driver);
        heap.close();
        heap.close();

        assertAll(
                () -> assertThrows(IllegalStateException.class, heap::reset),
                () -> assertThrows(IllegalStateException.class, heap::statistics),
                () -> assertEquals(0, pool.statistics().usedBytes()),
                () -> assertEquals(0, kernels.live()));
    }

    @Test
    void shouldRefuseATypeThatThereIsNot() {
        try (ObjectHeap heap = sea().build(driver);
                KernelModule module = KernelModule.load(driver, DevicePtx.OBJECTS)) {
            assertEquals(
                    "type=Whale must be one of [Fish, Shark]",
                    messageOf(assertThrows(
                            IllegalArgumentException.class,
                            () -> heap.forEach(module, "outboardObjectsClear", "Whale", new CUstream()))));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, ObjectHeap.CONTROL_BYTES - 1, 65535, (64L << 30) + 1, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldRefuseASizeOutOfRange(final long sizeBytes) {
        assertEquals(
                "sizeBytes=" + sizeBytes + " must be from 65536 to 68719476736",
                messageOf(assertThrows(IllegalArgumentException.class, () -> ObjectHeap.over(MEMORY, sizeBytes))));
    }

    @Test
    void shouldRefuseWrongDescriptions() {
        final ObjectHeapBuilder builder = ObjectHeap.over(MEMORY, HEAP_BYTES).type("Fish", 4);

        assertAll(
                () -> assertEquals(
                        "address=100 must be a multiple of 256 and > 0",
                        messageOf(
                                assertThrows(IllegalArgumentException.class, () -> ObjectHeap.over(100, HEAP_BYTES)))),
                () -> assertEquals(
                        "name=Fish must be another than of the types before",
                        messageOf(assertThrows(IllegalArgumentException.class, () -> builder.type("Fish", 8)))),
                () -> assertEquals(
                        "fieldBytes=[] must be from 1 to 64 fields",
                        messageOf(assertThrows(IllegalArgumentException.class, () -> builder.type("Shark")))),
                () -> assertEquals(
                        "fieldBytes=[4, 0] must each be from 1 to 1024",
                        messageOf(assertThrows(IllegalArgumentException.class, () -> builder.type("Shark", 4, 0)))),
                () -> assertEquals(
                        "types=[] must have one at least",
                        messageOf(assertThrows(
                                IllegalArgumentException.class,
                                () -> ObjectHeap.over(MEMORY, HEAP_BYTES).build(driver)))));
    }
}
