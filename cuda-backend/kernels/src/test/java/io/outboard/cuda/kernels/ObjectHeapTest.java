package io.outboard.cuda.kernels;

import static io.outboard.cuda.Gpu.messageOf;
import static io.outboard.cuda.kernels.ObjectField.field;
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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
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
        return ObjectHeap.in(pool, HEAP_BYTES)
                .type("Fish", field("a", 4), field("b", 4), field("c", 4))
                .type("Shark", field("a", 4), field("b", 8), field("c", 1), field("d", 4));
    }

    @Test
    void shouldFormatAndThenClear() {
        try (ObjectHeap heap =
                ObjectHeap.over(MEMORY, HEAP_BYTES).type("Cell", field("a", 8)).build(driver)) {
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
            assertEquals(List.of("outboardObjectsList<<<1, 256>>>[, 2]", "outboardObjectsClear<<<56, 256>>>[]"), names);
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

    /** The places are those of {@code outboard::ObjectPlan}. */
    @Test
    void shouldTellKernelsTheOrder() {
        final ObjectLayout layout = sea().layout();
        final List<Integer> orders = new ArrayList<>();

        for (final MakeOrder order : MakeOrder.values()) {
            final ByteBuffer plan = layout.plan(order);
            assertEquals(88, plan.capacity());
            assertEquals(layout.number(), plan.getLong(0));
            assertEquals(
                    List.of(2, 768, 64, 40),
                    IntStream.of(8, 12, 16, 20).mapToObj(plan::getInt).toList());
            orders.add(plan.getInt(80));
        }
        assertEquals(List.of(0, 1, 2), orders);
        assertEquals(MakeOrder.NEAR_FIRST, sea().order);
        assertEquals(MakeOrder.PAPER, sea().order(MakeOrder.PAPER).order);
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
        final ObjectHeapBuilder builder = ObjectHeap.over(MEMORY, HEAP_BYTES).type("Fish", field("a", 4));

        assertAll(
                () -> assertEquals(
                        "address=100 must be a multiple of 256 and > 0",
                        messageOf(
                                assertThrows(IllegalArgumentException.class, () -> ObjectHeap.over(100, HEAP_BYTES)))),
                () -> assertEquals(
                        "name=Fish must be another than of the types before",
                        messageOf(assertThrows(
                                IllegalArgumentException.class, () -> builder.type("Fish", field("a", 8))))),
                () -> assertEquals(
                        "types=[] must have one at least that isn't abstract",
                        messageOf(assertThrows(
                                IllegalArgumentException.class,
                                () -> ObjectHeap.over(MEMORY, HEAP_BYTES).build(driver)))));
    }

    private static ObjectHeapBuilder animals() {
        return ObjectHeap.over(MEMORY, HEAP_BYTES)
                .abstractType("Animal", field("x", 4), field("age", 4))
                .subtype("Fish", "Animal")
                .type("Cell", field("x", 8))
                .subtype("Shark", "Animal", field("hunger", 1))
                .subtype("Whale", "Shark", field("weight", 8));
    }

    /** Cell has 64 places in 512 bytes, so Fish 64, too, Shark 56 and Whale 28. */
    @Test
    void shouldFindFieldsByName() {
        final long data = MEMORY + 0x4000;
        final long[] control = new long[BLOCKS_AT + 4];
        control[BLOCKS_AT] = BLOCKS;
        control[BLOCKS_AT + 3] = data;
        kernels.leaveStatistics(control);
        try (ObjectHeap heap = animals().build(driver)) {
            assertEquals(512, heap.blockBytes());
            assertAll(
                    () -> assertEquals(0, heap.fieldOffset("Fish", "x")),
                    () -> assertEquals(256, heap.fieldOffset("Fish", "age")),
                    () -> assertEquals(224, heap.fieldOffset("Shark", "age")),
                    () -> assertEquals(448, heap.fieldOffset("Shark", "hunger")),
                    () -> assertEquals(data + 7 * 512 + 256 + 63 * 4, heap.fieldAddress("Fish", "age", 7 * 64 + 63)),
                    () -> assertEquals(
                            data + 999 * 512 + 448 + 55, heap.fieldAddress("Shark", "hunger", 999 * 64 + 55)),
                    () -> assertRefused(
                            "id=56 must be of one of the 56 places of a block of Shark",
                            () -> heap.fieldAddress("Shark", "x", 56)),
                    () -> assertEquals(
                            "id=4294967295 must be of one of the 1000 blocks",
                            messageOf(assertThrows(
                                    IllegalArgumentException.class, () -> heap.fieldAddress("Shark", "x", -1)))),
                    () -> assertEquals(
                            "type=Animal must be one of [Fish, Cell, Shark, Whale]",
                            messageOf(assertThrows(
                                    IllegalArgumentException.class, () -> heap.fieldOffset("Animal", "x")))),
                    () -> assertEquals(
                            "field=hunger must be one of [x, age]",
                            messageOf(assertThrows(
                                    IllegalArgumentException.class, () -> heap.fieldOffset("Fish", "hunger")))));
        }
    }

    @Test
    void shouldSayWhatAnObjectIs() {
        try (ObjectHeap heap = animals().build(driver)) {
            kernels.leaveStatistics(0x0102_0003_0000_0000L);

            assertEquals(
                    List.of("Fish", "Whale", "Fish", "Shark", "Cell"),
                    IntStream.of(3, 4, 5, 6, 7)
                            .mapToObj(block -> heap.typeOf((8 + block) * 64 + 1))
                            .toList());
            assertEquals(
                    "id=64000 must be of one of the 1000 blocks",
                    messageOf(assertThrows(IllegalArgumentException.class, () -> heap.typeOf(64_000))));
        }
    }

    @Test
    void shouldListTheTypesThatExtendOne() {
        try (ObjectHeap heap = animals().build(driver)) {
            final int before = kernels.launches().size();

            for (final String type : List.of("Animal", "Fish", "Shark", "Whale", "Cell")) {
                heap.list(type, new CUstream());
            }

            assertEquals(
                    List.of("13", "1", "12", "8", "2"),
                    kernels.launches().subList(before, before + 5).stream()
                            .map(launch -> launch.replaceAll(".*, |]", ""))
                            .toList());
        }
    }

    /** Kernels with other types must be stopped: what they'd do differently has another number. */
    @Test
    void shouldTellTypesApart() {
        final Set<Long> numbers = Stream.of(
                        animals(),
                        animals().type("Egg", field("x", 8)),
                        animals().type("Egg", field("y", 8)),
                        animals().subtype("Egg", "Animal", field("y", 8)),
                        animals().subtype("Egg", "Fish", field("y", 8)),
                        animals().subtype("Egg", "Fish").type("Seed", field("y", 8)),
                        animals().abstractSubtype("Calm", "Animal").subtype("Egg", "Calm", field("y", 8)),
                        animals().type("Egg", field("x", 4), field("age", 4), field("y", 8)),
                        animals()
                                .abstractType("Thing", field("x", 4), field("age", 4))
                                .subtype("Egg", "Thing", field("y", 8)))
                .map(each -> each.layout().number())
                .collect(Collectors.toSet());

        assertEquals(9, numbers.size());
        assertEquals(
                animals().layout().number(),
                animals().abstractType("Unused", field("x", 4)).layout().number());
    }

    @Test
    void shouldRefuseWrongTypes() {
        final ObjectHeapBuilder builder = animals();
        final long number = builder.layout().number();

        assertAll(
                () -> assertRefused(
                        "base=Egg must be one of the types before: [Animal, Fish, Cell, Shark, Whale]",
                        () -> builder.subtype("Egg", "Egg")),
                () -> assertRefused(
                        "field=age of Egg must have another name than the fields before, those of its base among them",
                        () -> builder.subtype("Egg", "Shark", field("age", 4))),
                () -> assertRefused(
                        "field=y of Egg must have another name than the fields before, those of its base among them",
                        () -> builder.type("Egg", field("y", 4), field("y", 4))),
                () -> assertRefused(
                        "name=Shark must be another than of the types before", () -> builder.subtype("Shark", "Fish")),
                () -> assertRefused(
                        "name=Egg must have from 1 to 64 fields, those of its base among them, and not 0",
                        () -> builder.abstractType("Egg")),
                () -> assertRefused(
                        "name=Egg must have from 1 to 64 fields, those of its base among them, and not 66",
                        () -> builder.subtype("Egg", "Animal", numbered(64))),
                () -> assertRefused(
                        "name=a b must be a C++ identifier other than id, get, is and as", () -> field("a b", 4)),
                () -> assertRefused(
                        "name=id must be a C++ identifier other than id, get, is and as", () -> field("id", 4)),
                () -> assertRefused("bytes=0 must be from 1 to 1024", () -> field("x", 0)),
                () -> assertRefused("bytes=1025 must be from 1 to 1024", () -> field("x", 1025)),
                () -> assertRefused(
                        "types=[Egg] must have one at least that isn't abstract",
                        () -> ObjectHeap.over(MEMORY, HEAP_BYTES)
                                .abstractType("Egg", field("x", 4))
                                .build(driver)));
        assertEquals(number, builder.layout().number());
    }

    /** Sixteen types have objects, and others not. */
    @Test
    void shouldRefuseASeventeenthTypeWithObjects() {
        final ObjectHeapBuilder builder = ObjectHeap.over(MEMORY, HEAP_BYTES).abstractType("Base", numbered(64));
        IntStream.range(0, 16).forEach(i -> builder.subtype("Type" + i, "Base"));

        builder.abstractSubtype("Other", "Base");

        assertRefused("name=More must be one of 16 types at most", () -> builder.subtype("More", "Base"));
    }

    private static ObjectField[] numbered(final int count) {
        return IntStream.range(0, count).mapToObj(i -> field("f" + i, 1)).toArray(ObjectField[]::new);
    }

    private static void assertRefused(final String message, final Executable call) {
        assertEquals(message, messageOf(assertThrows(IllegalArgumentException.class, call)));
    }
}
