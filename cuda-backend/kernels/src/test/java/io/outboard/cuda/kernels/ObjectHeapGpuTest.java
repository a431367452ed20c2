package io.outboard.cuda.kernels;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static io.outboard.cuda.kernels.ObjectField.field;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.Gpu;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.facade.GpuProgram;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * This class tests objects that kernels make, visit and destroy ({@code object-threads.cu}). The twin without a GPU is
 * {@code objects.cpp}.
 */
@Tag("gpu")
class ObjectHeapGpuTest {

    private static final long HEAP_BYTES = 64L << 20;
    private static final int BLOCK_THREADS = 256;
    private static final int COUNTS = 6;

    private final CUdeviceptr memory = new CUdeviceptr();
    private final CUdeviceptr counts = new CUdeviceptr();
    private final CUstream stream = new CUstream();
    private KernelModule module;
    private ObjectHeap heap;

    /** The counts say what threads have seen since the last call. */
    record Counts(long made, long nulls, long visited, long sum, long overwritten, long destroyed) {}

    @BeforeEach
    void takeMemory() {
        Gpu.require();
        succeed(JCudaDriver.cuMemAlloc(memory, HEAP_BYTES));
        succeed(JCudaDriver.cuMemsetD8(memory, (byte) 0xA5, HEAP_BYTES));
        succeed(JCudaDriver.cuMemAlloc(counts, (long) COUNTS * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(counts, (byte) 0, (long) COUNTS * Long.BYTES));
        module = KernelModule.load("object-threads", GpuProgram.text("object-threads.ptx.gz"));
        heap = sea().build();
    }

    private ObjectHeapBuilder sea() {
        return ObjectHeap.over(DevicePointers.address(memory), HEAP_BYTES)
                .type("Fish", field("number", 8), field("part", 4), field("mix", 4))
                .type(
                        "Shark",
                        field("mix", 4),
                        field("real", 8),
                        field("low", 1),
                        field("number", 8),
                        field("inverse", 8));
    }

    @AfterEach
    void giveMemoryBack() {
        if (heap != null) {
            heap.close();
            module.close();
            succeed(JCudaDriver.cuMemFree(counts));
            succeed(JCudaDriver.cuMemFree(memory));
        }
    }

    private Counts counts() {
        final long[] values = new long[COUNTS];
        succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(values), counts, (long) COUNTS * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(counts, (byte) 0, (long) COUNTS * Long.BYTES));
        return new Counts(values[0], values[1], values[2], values[3], values[4], values[5]);
    }

    private Counts make(final int threads, final int each) {
        module.launch(
                "makeObjects",
                (threads + BLOCK_THREADS - 1) / BLOCK_THREADS,
                BLOCK_THREADS,
                stream,
                heap.parameter(),
                HeapKernels.word(threads),
                HeapKernels.word(each),
                Pointer.to(counts));
        return counts();
    }

    private Counts visit(final String kernel, final String type) {
        heap.forEach(module, kernel, type, stream, heap.parameter(), Pointer.to(counts));
        return counts();
    }

    private long objects(final int type) {
        return heap.statistics().types().get(type).objects();
    }

    private void endAll() {
        heap.forEach(module, "endFish", "Fish", stream, heap.parameter());
        heap.forEach(module, "endSharks", "Shark", stream, heap.parameter());
        final ObjectHeapStatistics statistics = heap.statistics();
        assertEquals(statistics.blocks(), statistics.freeBlocks());
        assertEquals(0, statistics.misuses());
        assertEquals(0, objects(0) + objects(1));
    }

    @Test
    void shouldVisitEachObjectOnce() {
        final int threads = 100_000;
        final int each = 3;
        final long number = (long) threads * each;

        final Counts made = make(threads, each);
        final ObjectHeapStatistics statistics = heap.statistics();
        final Counts fish = visit("visitFish", "Fish");
        final Counts sharks = visit("visitSharks", "Shark");

        assertEquals(number, made.made());
        assertEquals(number, fish.visited() + sharks.visited());
        assertEquals(number * (number - 1) / 2, fish.sum() + sharks.sum());
        assertEquals(0, fish.overwritten() + sharks.overwritten());
        assertEquals(fish.visited(), statistics.types().get(0).objects());
        assertEquals(sharks.visited(), statistics.types().get(1).objects());
        endAll();
    }

    /** Each thread makes an object of a type or none: two warps of 32 must share a block of 64. */
    @Test
    void shouldFillBlocksThatWarpsMakeOneObjectEachIn() {
        final int warps = 2048;

        make(warps * 32, 1);

        for (final ObjectHeapStatistics.Type type : heap.statistics().types()) {
            assertTrue(type.blocks() < warps * 3 / 4, () -> type + " of warps=" + warps);
        }
        endAll();
    }

    /** A refused request waits for nobody, and leaves no slot taken. */
    @Test
    void shouldEndWhenThereIsNoMore() {
        module.launch("makeAll", 64, BLOCK_THREADS, stream, heap.parameter(), Pointer.to(counts));
        final Counts made = counts();
        final ObjectHeapStatistics statistics = heap.statistics();

        assertEquals(64L * BLOCK_THREADS, made.nulls());
        assertEquals(statistics.blocks() * 64, made.made());
        assertEquals(0, statistics.freeBlocks());
        assertEquals(new Counts(0, 1000, 0, 0, 0, 0), make(1000, 1));
        final Counts visited = visit("visitFish", "Fish");
        assertEquals(made.made(), visited.visited());
        assertEquals(0, visited.overwritten());
        endAll();
    }

    /** The heap is full most of the time, so that blocks change their types. */
    @ParameterizedTest
    @EnumSource(MakeOrder.class)
    void shouldKeepCountWhileObjectsComeAndGo(final MakeOrder order) {
        heap.close();
        heap = sea().order(order).build();
        long alive = make(200_000, 1).made();
        int fullRounds = 0;
        for (int round = 0; round < 200; round++) {
            final long fishBefore = objects(0);
            heap.forEach(module, "live", "Fish", stream, heap.parameter(), HeapKernels.word(round), Pointer.to(counts));
            final Counts lived = counts();
            final ObjectHeapStatistics between = heap.statistics();
            final long sharksBefore = between.types().get(1).objects();
            heap.forEach(
                    module, "hunt", "Shark", stream, heap.parameter(), HeapKernels.word(round), Pointer.to(counts));
            final Counts hunted = counts();
            alive += lived.made() - lived.destroyed() - hunted.destroyed();

            assertEquals(fishBefore, lived.visited(), "round " + round);
            assertEquals(sharksBefore, hunted.visited(), "round " + round);
            assertEquals(0, lived.overwritten() + hunted.overwritten(), "round " + round);
            assertEquals(alive, objects(0) + objects(1), "round " + round);
            final boolean isFull = between.freeBlocks() < between.blocks() / 20;
            assertTrue(isFull || lived.nulls() == 0, "round " + round + ": " + lived + ", " + between);
            fullRounds += isFull ? 1 : 0;
        }
        assertTrue(fullRounds > 20, "rounds with few free blocks: " + fullRounds);
        endAll();
    }

    /** The host reads some fields by their names, too. */
    @Test
    void shouldKnowAnimalsForWhatTheyAre() {
        final int threads = 100_000;
        final int[] ids = new int[threads];
        final CUdeviceptr idsMemory = new CUdeviceptr();
        succeed(JCudaDriver.cuMemAlloc(idsMemory, (long) threads * Integer.BYTES));
        heap.close();
        heap = ObjectHeap.over(DevicePointers.address(memory), HEAP_BYTES)
                .type("Grass", field("height", 4))
                .abstractType("Animal", field("number", 8), field("mix", 4))
                .subtype("Sheep", "Animal")
                .subtype("Lion", "Animal", field("meals", 8))
                .subtype("Cub", "Lion", field("age", 1), field("inverse", 8))
                .build();
        final int blocks = (threads + BLOCK_THREADS - 1) / BLOCK_THREADS;
        module.launch(
                "makeAnimals",
                blocks,
                BLOCK_THREADS,
                stream,
                heap.parameter(),
                HeapKernels.word(threads),
                Pointer.to(idsMemory),
                Pointer.to(counts));
        assertEquals(threads, counts().made());
        succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(ids), idsMemory, (long) threads * Integer.BYTES));
        final long[] expected = heap.statistics().types().stream()
                .mapToLong(ObjectHeapStatistics.Type::objects)
                .toArray();
        assertEquals(threads, expected[1] + expected[2] + expected[3]);
        assertEquals(threads, expected[0]);

        final Counts all = visit("visitAnimals", "Animal");
        final Counts lions = visit("visitLions", "Lion");

        assertEquals(threads, all.visited());
        assertEquals((long) threads * (threads - 1) / 2, all.sum());
        assertEquals(expected[2], lions.visited());
        assertEquals(0, all.overwritten() + lions.overwritten());
        for (int number = 0; number < threads; number += threads / 50) {
            final String type = heap.typeOf(ids[number]);
            final long[] read = new long[1];
            final CUdeviceptr field = new CUdeviceptr();
            DevicePointers.set(field, heap.fieldAddress(type, "number", ids[number]));
            succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(read), field, Long.BYTES));
            assertEquals(number, read[0], type);
        }
        module.launch(
                "endAnimals",
                blocks,
                BLOCK_THREADS,
                stream,
                heap.parameter(),
                HeapKernels.word(threads),
                Pointer.to(idsMemory),
                Pointer.to(counts));
        assertEquals(new Counts(0, 0, 0, 0, 0, threads), counts());
        heap.forEach(module, "endGrass", "Grass", stream, heap.parameter());
        assertEquals(heap.blocks(), heap.statistics().freeBlocks());
        assertEquals(0, heap.statistics().misuses());
        succeed(JCudaDriver.cuMemFree(idsMemory));
    }

    @Test
    void shouldBeEmptyAfterAReset() {
        make(10_000, 1);

        heap.reset();

        assertEquals(heap.blocks(), heap.statistics().freeBlocks());
        assertEquals(10_000, make(10_000, 1).made());
        endAll();
    }
}
