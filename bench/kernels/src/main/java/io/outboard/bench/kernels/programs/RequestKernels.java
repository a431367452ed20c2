package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.bench.kernels.worker.Stopwatch;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.KernelModule;
import io.outboard.cuda.kernels.internal.TextResource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import jcuda.Pointer;

/**
 * The kernels of a program that measures requests alone, for one case, run on a fresh heap, with their parameter and
 * their counters; see {@code requests.cuh}. Confined to one thread.
 */
final class RequestKernels implements AutoCloseable {

    /** A word is a field of {@code Work}, behind the control block. */
    enum Word {
        COUNTS(0),
        THREADS(1),
        CYCLES(2),
        HELD(3),
        LANES(4),
        BYTES(5),
        MEMORY(6);

        private final int index;

        Word(final int index) {
            this.index = index;
        }
    }

    private static final int WARP_THREADS = 32;
    private static final int BLOCK_THREADS = 256;

    /** The alignment of {@code Work}, of which its size is a multiple. */
    private static final int ALIGNMENT = 32;

    /** The number of counters: {@code refused}, {@code misaligned} and {@code mismatches}. */
    private static final int COUNTS = 3;

    /** The type {@code Thing} of {@code objects.cu}; nobody asks for its capacity. */
    private static final List<ObjectType> THINGS =
            List.of(ObjectType.of("Thing", 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4)
                    .named(
                            "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13",
                            "f14", "f15"));

    private final BenchDevice device;
    private final boolean isBuffered;
    private final KernelModule module;
    private final DeviceResources resources = new DeviceResources();
    private final Storage storage;
    private final Region counts;
    private final ByteBuffer parameter = ByteBuffer.allocateDirect(
                    (Storage.CONTROL_BYTES + Word.values().length * Long.BYTES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)
            .order(ByteOrder.nativeOrder());
    private long launched;

    /**
     * Loads what a case needs.
     *
     * @param threads that ask for something, each with one word to hold what it got
     */
    RequestKernels(final ProgramCase work, final BenchDevice device, final long threads) {
        this(work, device, threads, threads);
    }

    /** Loads what a case needs, with a number of words of which each holds what a thread got. */
    RequestKernels(final ProgramCase work, final BenchDevice device, final long threads, final long heldWords) {
        this.device = device;
        final Store store = work.store();
        isBuffered = store.isBuffered();
        launched = threads;
        try {
            final String resource = store.resource(work.program());
            module = resources.add(
                    KernelModule.load(resource, TextResource.read(Program.class, resource)), KernelModule::close);
            storage = resources.add(
                    Storage.of(device, store, store.isObjectHeap() ? THINGS : List.of(), work.heapBytes()),
                    Storage::close);
            counts = resources.take(device, (long) COUNTS * Long.BYTES);
            storage.writeTo(parameter);
            set(Word.COUNTS, counts.address());
            set(Word.HELD, resources.take(device, heldWords * Long.BYTES).address());
            set(Word.MEMORY, store.equals(Store.BUMP) ? device.heapMemory(work.heapBytes()) : 0);
            set(Word.THREADS, threads);
        } catch (final RuntimeException e) {
            throw resources.closedAfter(e);
        }
    }

    RequestKernels set(final Word word, final long value) {
        parameter.putLong(Storage.CONTROL_BYTES + word.index * Long.BYTES, value);
        return this;
    }

    /** Lets only the first {@code lanes} threads of each warp ask, so that more threads are launched. */
    RequestKernels lanes(final int lanes) {
        final long threads = parameter.getLong(Storage.CONTROL_BYTES + Word.THREADS.index * Long.BYTES);
        launched = (threads + lanes - 1) / lanes * WARP_THREADS;
        return set(Word.LANES, lanes);
    }

    /** Runs kernels one after the other, untimed. */
    void run(final String... kernels) {
        for (final String kernel : kernels) {
            launch(kernel, launched, BLOCK_THREADS);
        }
        device.stopwatch().synchronize();
    }

    /** Runs a kernel with a number of threads of its own, a multiple of those of a block, untimed. */
    void run(final String kernel, final long threads) {
        launch(kernel, threads, BLOCK_THREADS);
        device.stopwatch().synchronize();
    }

    /**
     * Runs a kernel, and returns its time in microseconds. The device is kept busy until the host has launched the
     * kernel.
     */
    double timed(final String kernel) {
        module.function(kernel);
        set(Word.CYCLES, Stopwatch.LAUNCH_CYCLES);
        launch("hold", 1, 1);
        return device.stopwatch().microseconds(() -> launch(kernel, launched, BLOCK_THREADS));
    }

    private void launch(final String kernel, final long threads, final int blockThreads) {
        module.launch(
                kernel,
                Math.toIntExact((threads + blockThreads - 1) / blockThreads),
                blockThreads,
                device.stopwatch().stream(),
                Pointer.to(parameter.duplicate().rewind()));
    }

    /** Adds what all kernels have counted so far, and what is in use after them. */
    void putChecks(final JsonLine json) {
        final long[] counted = new long[COUNTS];
        BenchDevice.copyToHost(Pointer.to(counted), counts, (long) COUNTS * Long.BYTES);
        final Storage.Usage usage = storage.usage();
        json.put("refused", counted[0])
                .put("misaligned", counted[1])
                .put("mismatches", counted[2])
                .put("misuses", Storage.Usage.known(usage.misuses()))
                .put("leaked", Storage.Usage.known(usage.objects()));
    }

    @Override
    public void close() {
        if (isBuffered) {
            launch("drain", 1, 1);
            device.stopwatch().synchronize();
        }
        resources.close();
    }
}
