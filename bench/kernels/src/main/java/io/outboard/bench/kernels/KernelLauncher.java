package io.outboard.bench.kernels;

import io.outboard.bench.kernels.worker.Stopwatch;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.DeviceHeap;
import io.outboard.cuda.kernels.KernelModule;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;

/** The class launches the kernels of one contender, and keeps and writes their parameter. Confined to one thread. */
final class KernelLauncher {

    /** A word is a field of {@code Work} in {@code kernels.cu}, behind the heap's control block. */
    enum Word {
        MEMORY(0),
        HEAP_BYTES(1),
        BLOCKS(2),
        COUNTERS(3),
        THREADS(4),
        STRIDE(5),
        LEAST(6),
        MOST(7),
        ITERATIONS(8),
        PLACES(9),
        STEPS(10),
        AIM(11),
        LIMIT(12);

        private final int index;

        Word(final int index) {
            this.index = index;
        }

        private int offsetBytes() {
            return DeviceHeap.CONTROL_BYTES + index * Long.BYTES;
        }
    }

    private static final int BLOCK = 256;

    /** The alignment of {@code Work} in {@code kernels.cu}, of which its size is a multiple. */
    private static final int ALIGNMENT = 32;

    private final KernelModule module;
    private final Stopwatch stopwatch;
    private final ByteBuffer parameter = ByteBuffer.allocateDirect(
                    (DeviceHeap.CONTROL_BYTES + Word.values().length * Long.BYTES + ALIGNMENT - 1)
                            / ALIGNMENT
                            * ALIGNMENT)
            .order(ByteOrder.nativeOrder());

    KernelLauncher(final KernelModule module, final Stopwatch stopwatch) {
        this.module = module;
        this.stopwatch = stopwatch;
    }

    /** Tells the kernels which heap to use. */
    KernelLauncher heap(final BenchHeap heap) {
        parameter.put(0, heap.control(), 0, DeviceHeap.CONTROL_BYTES);
        return set(Word.MEMORY, heap.address()).set(Word.HEAP_BYTES, heap.boundBytes());
    }

    /** Tells the kernels a case's threads and sizes, and where they keep pointers and count. */
    KernelLauncher of(final KernelCase work, final Region blocks, final Counters counters) {
        return set(Word.BLOCKS, blocks.address())
                .set(Word.COUNTERS, counters.address())
                .set(Word.THREADS, work.threads())
                .set(Word.STRIDE, work.stride())
                .set(Word.LEAST, work.leastBytes())
                .set(Word.MOST, work.mostBytes());
    }

    KernelLauncher set(final Word word, final long value) {
        parameter.putLong(word.offsetBytes(), value);
        return this;
    }

    private long get(final Word word) {
        return parameter.getLong(word.offsetBytes());
    }

    /** Makes the driver load kernels, which it would otherwise do at the first launch. */
    void prepare(final String... kernels) {
        for (final String kernel : kernels) {
            module.function(kernel);
        }
    }

    /** Launches a kernel with all threads. */
    void launch(final String kernel, final long iterations) {
        set(Word.ITERATIONS, iterations);
        launch(kernel, (int) ((get(Word.THREADS) + BLOCK - 1) / BLOCK), BLOCK);
    }

    /**
     * Launches work and waits until it has finished. The device is kept busy until the host has launched everything.
     *
     * @param launches how many kernels the work launches
     * @return the device's time, in microseconds
     */
    double timed(final int launches, final Runnable work) {
        set(Word.ITERATIONS, launches * Stopwatch.LAUNCH_CYCLES);
        launch("hold", 1, 1);
        return stopwatch.microseconds(work);
    }

    /** Waits until everything launched has finished; if a kernel crashed, this call throws. */
    void synchronize() {
        stopwatch.synchronize();
    }

    private void launch(final String kernel, final int gridBlocks, final int blockThreads) {
        module.launch(
                kernel,
                gridBlocks,
                blockThreads,
                stopwatch.stream(),
                Pointer.to(parameter.duplicate().rewind()));
    }
}
