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
import java.util.Objects;
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
        FLATS(11),
        LINKS(12),
        NODE_CAPACITY(13),
        REFERENCES(14),
        REFERENCE_CAPACITY(15),
        FIRST(16),
        LAST(17),
        CYCLES(18);

        private final int index;

        Word(final int index) {
            this.index = index;
        }

        private int offsetBytes() {
            return DeviceHeap.CONTROL_BYTES + index * Long.BYTES;
        }
    }

    /**
     * The tally counts what a build asked for: {@code Tally}.
     *
     * @param requests how many
     * @param bytes of all requests
     * @param squares sum of the squares of their sizes
     * @param greatest bytes of the largest request
     * @param refused requests that got nothing
     * @param pairs of nodes, the root's among them
     * @param references of all leaves
     */
    record Tally(long requests, long bytes, long squares, long greatest, long refused, long pairs, long references) {

        private static final int WORDS = 7;

        double meanBytes() {
            return (double) bytes / requests;
        }

        double deviationBytes() {
            return Math.sqrt(Math.max(0, (double) squares / requests - meanBytes() * meanBytes()));
        }
    }

    /**
     * The leftover is what the heap has when everything was freed.
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

    /** The most references of a leaf. */
    static final int LEAF_REFERENCES = 16;

    private static final int BLOCK = 128;
    private static final int WARP = 32;
    private static final int QUEUE_BYTES = 512;
    private static final int TASK_BYTES = 64;
    /**
     * The index, in ints, at which {@code Queue} has the number of tasks, its state, and the number of nodes copied.
     */
    private static final int TAIL = QUEUE_BYTES / 4 / Integer.BYTES;

    private static final int STATE = 3 * QUEUE_BYTES / 4 / Integer.BYTES;

    private static final int COPIED = STATE + 1;
    private static final int DONE = 1;
    private static final int REFUSED = 2;

    private final ProgramCase work;
    private final KdScene scene;
    private final BenchDevice device;
    private final KernelModule module;
    private final @Nullable DeviceHeap heap;
    private final DeviceResources resources = new DeviceResources();
    private final Region queue;
    private final Region tasks;
    private final Region tally;
    private final int taskCapacity;
    private final ByteBuffer parameter = ByteBuffer.allocateDirect(DeviceHeap.CONTROL_BYTES + 20 * Long.BYTES)
            .order(ByteOrder.nativeOrder());
    private Tally counted = new Tally(0, 0, 0, 0, 0, 0, 0);
    private @Nullable Region flats;
    private @Nullable Region references;
    private boolean isFreed = true;

    /** Loads the kernels and copies the triangles' boxes to the device. */
    KdDevice(final ProgramCase work, final KdScene scene, final BenchDevice device) {
        this.work = work;
        this.scene = scene;
        this.device = device;
        // There is a place for each division whose two children are divided, too, and for all parts of large nodes.
        taskCapacity = 3 * scene.triangles() + 65_536;
        try {
            final String resource = work.store().resource(work.program());
            module = resources.add(
                    KernelModule.load(resource, TextResource.read(Program.class, resource)), KernelModule::close);
            heap = heap();
            queue = resources.take(device, QUEUE_BYTES);
            tasks = resources.take(device, (long) taskCapacity * TASK_BYTES);
            tally = resources.take(device, (long) Tally.WORDS * Long.BYTES);
            final Region boxes = resources.take(device, (long) scene.boxes().length * Float.BYTES);
            BenchDevice.copyToDevice(boxes, Pointer.to(scene.boxes()));
            set(Word.BOXES, boxes.address());
        } catch (final RuntimeException e) {
            throw resources.closedAfter(e);
        }
        final int triangles = scene.triangles();
        set(Word.TRIANGLES, triangles);
        set(Word.QUEUE, queue.address());
        set(Word.TASKS, tasks.address());
        set(Word.TASK_CAPACITY, taskCapacity);
        set(Word.LEAF_REFERENCES, LEAF_REFERENCES);
        set(Word.MOST_DEPTH, mostDepth(triangles));
        parameter.asFloatBuffer().put(Word.BOX.offsetBytes() / Float.BYTES, scene.bounds());
        set(Word.TALLY, tally.address());
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

    /** Builds the tree and counts requests. Must be called once, before all other builds. */
    Tally count() {
        BenchDevice.clear(tally);
        build("buildCounted");
        final long[] words = new long[Tally.WORDS];
        BenchDevice.copyToHost(Pointer.to(words), tally, (long) Tally.WORDS * Long.BYTES);
        counted = new Tally(words[0], words[1], words[2], words[3], words[4], words[5], words[6]);
        takeCopies();
        return counted;
    }

    /**
     * Takes memory for copies of the tree that was counted. Later trees fit as well, except one with more nodes, which
     * is wrong.
     */
    private void takeCopies() {
        // The root's pair has only one node.
        final int nodeCapacity = (int) Math.max(2 * counted.pairs() - 1, 1);
        flats = resources.take(device, (long) nodeCapacity * KdNodes.NODE_INTS * Integer.BYTES);
        references = resources.take(device, Math.max(counted.references(), 1) * Integer.BYTES);
        set(Word.FLATS, flats.address());
        set(Word.LINKS, resources.take(device, (long) nodeCapacity * Long.BYTES).address());
        set(Word.NODE_CAPACITY, nodeCapacity);
        set(Word.REFERENCES, references.address());
        set(Word.REFERENCE_CAPACITY, counted.references());
    }

    /** Copies the tree that was built last; each tree can be copied once. */
    KdNodes copy() {
        final int[] nodes = new int[copyLevels() * KdNodes.NODE_INTS];
        final int[] lists = new int[(int) counted.references()];
        BenchDevice.copyToHost(Pointer.to(nodes), Objects.requireNonNull(flats), (long) nodes.length * Integer.BYTES);
        BenchDevice.copyToHost(
                Pointer.to(lists), Objects.requireNonNull(references), (long) lists.length * Integer.BYTES);
        return new KdNodes(scene, nodes, lists);
    }

    /** Copies the nodes level by level, and returns their number, at most as many as there is room for. */
    private int copyLevels() {
        final int capacity = nodeCapacity();
        int first = 0;
        int last = 1;
        while (first < last) {
            launchOver("copy", first, last);
            first = last;
            last = Math.min(queueWords()[COPIED], capacity);
        }
        return last;
    }

    /** Frees all nodes and lists of the tree that was copied last. */
    Leftover end() {
        freeCopied();
        if (heap == null || !KdTree.canFree(work.store())) {
            return new Leftover(null, null);
        }
        final DeviceHeapStatistics statistics = heap.statistics();
        return new Leftover(statistics.usedChunks(), statistics.misuses());
    }

    private int nodeCapacity() {
        return (int) parameter.getLong(Word.NODE_CAPACITY.offsetBytes());
    }

    private void freeCopied() {
        final int[] words = queueWords();
        launchOver("end", 0, Math.min(words[COPIED], nodeCapacity()));
        if (words[STATE] != DONE) {
            launchOver("endLarge", 0, Math.min(words[TAIL], taskCapacity));
        }
        device.stopwatch().synchronize();
        isFreed = true;
    }

    /**
     * Builds the tree once more, in an empty heap, after {@link #count} and {@link #end}.
     *
     * @return microseconds, or NaN if a request was refused
     */
    double time() {
        final double microseconds = build("build");
        return queueWords()[STATE] == DONE ? microseconds : Double.NaN;
    }

    private double build(final String kernel) {
        empty();
        BenchDevice.clear(queue);
        BenchDevice.clear(tasks);
        final int blocks = blocks(kernel);
        set(Word.CYCLES, Stopwatch.LAUNCH_CYCLES);
        launch("begin", 1, 1);
        isFreed = false;
        final double microseconds = device.stopwatch().microseconds(() -> launch(kernel, blocks, BLOCK));
        final int state = queueWords()[STATE];
        if (state != DONE && state != REFUSED) {
            throw new IllegalStateException("state=" + state + " must be done or refused");
        }
        return microseconds;
    }

    /** Empties the heap. The driver's heap can't be reset, so the tree that was built last is freed there. */
    private void empty() {
        if (heap != null) {
            heap.reset();
            parameter.put(0, heap.parameter().getByteBuffer(0, DeviceHeap.CONTROL_BYTES), 0, DeviceHeap.CONTROL_BYTES);
        } else if (!isFreed) {
            copyLevels();
            freeCopied();
        }
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

    private void launchOver(final String kernel, final int first, final int last) {
        set(Word.FIRST, first);
        set(Word.LAST, last);
        launch(kernel, (last - first + BLOCK - 1) / BLOCK, BLOCK);
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

    /** Frees the tree that was built last, so that the driver's heap is as it was, and returns the memory. */
    @Override
    public void close() {
        if (heap == null && !isFreed && flats != null) {
            copyLevels();
            freeCopied();
        }
        if (work.store().isBuffered()) {
            launch("drain", 1, 1);
            device.stopwatch().synchronize();
        }
        resources.close();
    }
}
