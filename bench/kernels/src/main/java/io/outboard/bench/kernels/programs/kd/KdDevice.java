package io.outboard.bench.kernels.programs.kd;

import io.outboard.bench.kernels.programs.DeviceResources;
import io.outboard.bench.kernels.programs.Program;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.bench.kernels.worker.Stopwatch;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.DeviceAllocator;
import io.outboard.cuda.kernels.DeviceHeap;
import io.outboard.cuda.kernels.DeviceHeapStatistics;
import io.outboard.cuda.kernels.KernelModule;
import io.outboard.cuda.kernels.internal.TextResource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * The class holds the kernels of a k-d tree's build, their heap and the rest of their memory. Confined to one thread.
 */
final class KdDevice implements AutoCloseable {

    /** A word is a field of {@code Build} in {@code kd_nodes.cuh}, behind the heap's control block. */
    private enum Word {
        TRIANGLES(0),
        BOXES(1),
        QUEUE(2),
        TASKS(3),
        TASK_CAPACITY(4),
        LEAF_REFERENCES(5),
        MOST_DEPTH(6),
        BOX(7),
        TALLY(10),
        NODES(11),
        NODE_CAPACITY(12),
        REFERENCES(13),
        REFERENCE_CAPACITY(14),
        LISTS(15),
        LIST_CAPACITY(16),
        LARGES(17),
        LARGE_CAPACITY(18),
        CYCLES(19);

        private final int index;

        Word(final int index) {
            this.index = index;
        }

        private int offsetBytes() {
            return DeviceHeap.CONTROL_BYTES + index * Long.BYTES;
        }
    }

    /**
     * The tally counts what a build asked the heap for: {@code Tally}.
     *
     * @param requests how many
     * @param bytes of all requests
     * @param squares sum of the squares of their sizes
     * @param greatest bytes of the largest request
     * @param refused requests that got nothing
     */
    record Tally(long requests, long bytes, long squares, long greatest, long refused) {

        private static final int WORDS = 5;

        double meanBytes() {
            return (double) bytes / requests;
        }

        double deviationBytes() {
            return Math.sqrt(Math.max(0, (double) squares / requests - meanBytes() * meanBytes()));
        }
    }

    /**
     * The leftover is what the heap has after a build, which frees all lists.
     *
     * @param usedChunks that the heap still has in use; null where that isn't known
     * @param misuses frees that were refused
     */
    record Leftover(@Nullable Long usedChunks, @Nullable Long misuses) {

        /** Returns the sum of two leftovers. */
        Leftover and(final Leftover other) {
            return new Leftover(sum(usedChunks, other.usedChunks), sum(misuses, other.misuses));
        }

        private static @Nullable Long sum(final @Nullable Long first, final @Nullable Long second) {
            return first == null || second == null ? null : (Long) (first + second);
        }
    }

    /**
     * The most references of a leaf. With four, trees have about as many references a triangle, and requests about the
     * mean size, as those of the paper's tables 3 and 4.
     */
    static final int LEAF_REFERENCES = 4;

    /** The most references of a list in the heap: {@code MOST_REFERENCES} in {@code kd_nodes.cuh}. */
    static final int MOST_REFERENCES = 16_384;

    private static final int BLOCK = 128;
    private static final int WARP = 32;
    private static final int QUEUE_BYTES = 768;
    private static final int TASK_BYTES = 64;
    private static final int LARGE_BYTES = 1024;

    /** The places of arrays for each triangle; the scenes need about half as many. */
    private static final int NODES_A_TRIANGLE = 6;

    private static final int REFERENCES_A_TRIANGLE = 12;
    private static final int LISTED_A_TRIANGLE = 24;
    private static final int TASKS_A_TRIANGLE = 3;

    /** A node for so many triangles is large, on all levels together. */
    private static final int TRIANGLES_A_LARGE_NODE = 512;

    /** The indexes, in ints, at which {@code Queue} has its counts and its state. */
    private static final int NODES = 3 * 128 / Integer.BYTES;

    private static final int REFERENCES = 4 * 128 / Integer.BYTES;
    private static final int STATE = 5 * 128 / Integer.BYTES;
    private static final int IS_REFUSED = STATE + 1;
    private static final int DONE = 1;

    private final ProgramCase work;
    private final KdScene scene;
    private final BenchDevice device;
    private final KernelModule module;
    private final @Nullable DeviceHeap heap;
    private final DeviceResources resources = new DeviceResources();
    private final Region queue;
    private final Region tasks;
    private final Region larges;
    private final Region nodes;
    private final Region references;
    private final Region tally;
    private final ByteBuffer parameter = ByteBuffer.allocateDirect(DeviceHeap.CONTROL_BYTES + 20 * Long.BYTES)
            .order(ByteOrder.nativeOrder());

    /** Loads the kernels and copies the triangles' boxes to the device. */
    KdDevice(final ProgramCase work, final KdScene scene, final BenchDevice device) {
        this.work = work;
        this.scene = scene;
        this.device = device;
        final int triangles = scene.triangles();
        try {
            final String resource = work.store().resource(work.program());
            module = resources.add(
                    KernelModule.load(resource, TextResource.read(Program.class, resource)), KernelModule::close);
            heap = heap();
            queue = resources.take(device, QUEUE_BYTES);
            tally = resources.take(device, (long) Tally.WORDS * Long.BYTES);
            // There is a place for each division whose two children are divided, too, and for all parts of large nodes.
            tasks = array(Word.TASKS, Word.TASK_CAPACITY, 65_536L + (long) TASKS_A_TRIANGLE * triangles, TASK_BYTES);
            nodes = array(
                    Word.NODES,
                    Word.NODE_CAPACITY,
                    (long) NODES_A_TRIANGLE * triangles,
                    KdNodes.NODE_INTS * Integer.BYTES);
            references = array(
                    Word.REFERENCES, Word.REFERENCE_CAPACITY, (long) REFERENCES_A_TRIANGLE * triangles, Integer.BYTES);
            array(Word.LISTS, Word.LIST_CAPACITY, (long) LISTED_A_TRIANGLE * triangles, Integer.BYTES);
            larges = array(Word.LARGES, Word.LARGE_CAPACITY, 64 + triangles / TRIANGLES_A_LARGE_NODE, LARGE_BYTES);
            final Region boxes = resources.take(device, (long) scene.boxes().length * Float.BYTES);
            BenchDevice.copyToDevice(boxes, Pointer.to(scene.boxes()));
            set(Word.BOXES, boxes.address());
        } catch (final RuntimeException e) {
            throw resources.closedAfter(e);
        }
        set(Word.TRIANGLES, triangles);
        set(Word.QUEUE, queue.address());
        set(Word.LEAF_REFERENCES, LEAF_REFERENCES);
        set(Word.MOST_DEPTH, mostDepth(triangles));
        parameter.asFloatBuffer().put(Word.BOX.offsetBytes() / Float.BYTES, scene.bounds());
        set(Word.TALLY, tally.address());
    }

    private Region array(final Word address, final Word capacity, final long length, final long bytes) {
        final Region region = resources.take(device, length * bytes);
        set(address, region.address());
        set(capacity, length);
        return region;
    }

    private @Nullable DeviceHeap heap() {
        if (work.store().isCuda()) {
            return null;
        }
        final DeviceAllocator allocator = work.store().allocator().orElseThrow();
        return resources.add(
                DeviceHeap.over(device.heapMemory(work.heapBytes()), work.heapBytes())
                        .allocator(allocator)
                        .build(),
                DeviceHeap::close);
    }

    /** Returns 8 + 1.3 log2(N), as in Havran 2000. */
    static int mostDepth(final int triangles) {
        return (int) Math.round(8 + 1.3 * Math.log(triangles) / Math.log(2));
    }

    /** Returns the registers of a thread of the kernel that is timed. */
    int registers() {
        return module.registers("build");
    }

    /** Returns the warps that are launched. */
    int warps() {
        return blocks("build") * (BLOCK / WARP);
    }

    /** Builds the tree and counts requests. */
    Tally count() {
        BenchDevice.clear(tally);
        build("buildCounted");
        final long[] words = new long[Tally.WORDS];
        BenchDevice.copyToHost(Pointer.to(words), tally, (long) Tally.WORDS * Long.BYTES);
        return new Tally(words[0], words[1], words[2], words[3], words[4]);
    }

    /** Returns how many nodes the tree has that was built last. */
    int nodes() {
        return queueWords()[NODES];
    }

    /** Copies the tree that was built last. */
    KdNodes copy() {
        final int[] words = queueWords();
        final int[] copied = new int[words[NODES] * KdNodes.NODE_INTS];
        final int[] lists = new int[words[REFERENCES]];
        BenchDevice.copyToHost(Pointer.to(copied), nodes, (long) copied.length * Integer.BYTES);
        BenchDevice.copyToHost(Pointer.to(lists), references, (long) lists.length * Integer.BYTES);
        return new KdNodes(scene, copied, lists);
    }

    /** Returns what the last build has left in the heap. */
    Leftover leftover() {
        if (heap == null || !work.store().allocator().orElseThrow().canFree()) {
            return new Leftover(null, null);
        }
        final DeviceHeapStatistics statistics = heap.statistics();
        return new Leftover(statistics.usedChunks(), statistics.misuses());
    }

    /**
     * Builds the tree once more, in an empty heap.
     *
     * @return microseconds, or NaN if a request was refused
     */
    double time() {
        final double microseconds = build("build");
        return queueWords()[IS_REFUSED] == 0 ? microseconds : Double.NaN;
    }

    private double build(final String kernel) {
        // The driver's heap can't be reset, and needn't be: a build frees all of its lists.
        if (heap != null) {
            heap.reset();
            parameter.put(0, heap.parameter().getByteBuffer(0, DeviceHeap.CONTROL_BYTES), 0, DeviceHeap.CONTROL_BYTES);
        }
        BenchDevice.clear(queue);
        BenchDevice.clear(tasks);
        BenchDevice.clear(larges);
        final int blocks = blocks(kernel);
        set(Word.CYCLES, Stopwatch.LAUNCH_CYCLES);
        launch("begin", 1, 1);
        final double microseconds = device.stopwatch().microseconds(() -> launch(kernel, blocks, BLOCK));
        final int state = queueWords()[STATE];
        if (state != DONE) {
            throw new IllegalStateException("state=" + state + " must be done: an array has too few places");
        }
        return microseconds;
    }

    /** Returns as many blocks as the device can run at a time. */
    private int blocks(final String kernel) {
        final int[] aMultiprocessor = new int[1];
        BenchDevice.check(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                JCudaDriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                        aMultiprocessor, module.function(kernel), BLOCK, 0));
        return aMultiprocessor[0] * device.multiprocessors();
    }

    private int[] queueWords() {
        final int[] words = new int[QUEUE_BYTES / Integer.BYTES];
        BenchDevice.copyToHost(Pointer.to(words), queue, QUEUE_BYTES);
        return words;
    }

    private void launch(final String kernel, final int gridBlocks, final int blockThreads) {
        module.launch(
                kernel,
                gridBlocks,
                blockThreads,
                device.stopwatch().stream(),
                Pointer.to(parameter.duplicate().rewind()));
    }

    private void set(final Word word, final long value) {
        parameter.putLong(word.offsetBytes(), value);
    }

    @Override
    public void close() {
        if (work.store().isBuffered()) {
            launch("drain", 1, 1);
            device.stopwatch().synchronize();
        }
        resources.close();
    }
}
