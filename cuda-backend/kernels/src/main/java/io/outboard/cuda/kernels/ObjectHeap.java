package io.outboard.cuda.kernels;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.internal.memory.ContextMemorySource;
import io.outboard.cuda.internal.memory.ContextScope;
import io.outboard.cuda.internal.memory.CudaFailures;
import io.outboard.cuda.kernels.internal.DevicePtx;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.pool.Pool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUstream;

/**
 * Objects of a few declared types, which kernels make and destroy while they run, and for all of which the host runs a
 * kernel: the parallel do-all of Springer 2019 (DynaSOAr). Objects of a type lie in blocks of up to 64, with an array
 * for each field, so that threads side by side read memory side by side.
 *
 * <p>Kernels are compiled with {@code object_heap.cuh} ({@link DeviceHeaders}), whose head says how they are written
 * and what differs from the paper, and get {@link #parameter} or {@link #address}.
 *
 * <p>Thread-safety: safe for any number of threads, as for kernels on any streams, but for {@link #forEach}. Cost: a
 * heap that is made, {@link #reset} or asked waits for all work in its context before and after; so does {@link #close}
 * for a block of a pool. Tables take 17 1/8 bytes of each block and 4 1/2 for each type, and 1 MiB for each eight types
 * on a GPU of 132 multiprocessors. When memory runs out, kernels get no object; that may happen although there is room
 * in blocks that another thread is just about to show.
 */
// A scope is used by being open.
@SuppressWarnings("try")
public final class ObjectHeap implements AutoCloseable {

    /** Bytes of what {@link #parameter} points to: {@code outboard::Objects}. */
    public static final int CONTROL_BYTES = 1536;

    /** The number of blocks is at this offset of the control block. */
    private static final int BLOCKS_AT = 16;

    /** The kernel {@code listObjects} in {@code object_setup.cuh} has the same number. */
    private static final int BLOCKS_A_THREAD = 8;

    private final HeapSpace space;
    private final ObjectLayout layout;
    /** Launches read this, so it lies outside of the Java heap. */
    private final ByteBuffer control = ByteBuffer.allocateDirect(CONTROL_BYTES).order(ByteOrder.nativeOrder());

    private ObjectHeap(final HeapSpace space, final ObjectLayout layout) {
        this.space = space;
        this.layout = layout;
    }

    /**
     * Describes a heap over memory of the caller's, which must outlast the heap and all kernels that use it.
     *
     * @param address of the first byte, in device memory, a multiple of 256
     * @param sizeBytes from 64 KiB to 64 GiB
     * @return a description, to be given types and built
     * @throws IllegalArgumentException if a number is outside of its range
     */
    public static ObjectHeapBuilder over(final long address, final long sizeBytes) {
        return new ObjectHeapBuilder(null, address, sizeBytes);
    }

    /**
     * Describes a heap over a block of a pool, which is taken when the heap is built and freed when it is closed.
     *
     * @param pool a pool in the context in which the heap is built; to be closed after the heap
     * @param sizeBytes from 64 KiB to 64 GiB
     * @return a description, to be given types and built
     * @throws IllegalArgumentException if {@code sizeBytes} is outside of its range
     */
    public static ObjectHeapBuilder in(final Pool pool, final long sizeBytes) {
        return new ObjectHeapBuilder(Objects.requireNonNull(pool, "pool"), 0, sizeBytes);
    }

    static ObjectHeap build(final KernelDriver driver, final ObjectHeapBuilder builder, final ObjectLayout layout) {
        final HeapSpace space = new HeapSpace(
                driver, builder.pool, builder.address, builder.sizeBytes, ObjectHeapBuilder.ALIGNMENT_BYTES);
        final ObjectHeap heap = new ObjectHeap(space, layout);
        try {
            heap.start();
            return heap;
        } catch (final RuntimeException e) {
            try {
                heap.close();
            } catch (final RuntimeException next) {
                e.addSuppressed(next);
            }
            throw e;
        }
    }

    private synchronized void start() {
        try (ContextScope scope = space.scope()) {
            space.load(DevicePtx.OBJECTS);
            format();
        }
        if (blocks() == 0) {
            throw new IllegalArgumentException("sizeBytes=" + space.sizeBytes() + " must have room for a block of "
                    + layout.blockBytes() + " bytes and its tables");
        }
    }

    /**
     * Answers what kernels get as a pointer to {@code outboard::Objects}.
     *
     * @return absolute device address, a multiple of 256
     */
    public long address() {
        return space.address();
    }

    /**
     * Answers the argument of kernels that take the heap by value, as {@code const __grid_constant__
     * outboard::Objects}, which spares them reads of device memory.
     *
     * @return a pointer to {@value #CONTROL_BYTES} bytes of host memory, for a launch; good while the heap is open,
     *     also after {@link #reset}
     */
    public Pointer parameter() {
        return Pointer.to(control);
    }

    /**
     * Answers how many blocks the heap is divided into.
     *
     * @return their number, 1 or more
     */
    public int blocks() {
        return control.getInt(BLOCKS_AT);
    }

    /**
     * Answers the size of a block, which has 64 objects of the smallest type.
     *
     * @return bytes, a multiple of 128
     */
    public int blockBytes() {
        return layout.blockBytes();
    }

    /**
     * Runs a kernel for all objects of a type: lists the type's blocks, then launches the kernel with as many threads
     * as fill the device. The kernel must call {@code forEach} with the type. It visits each object that there is when
     * the list is made, but those destroyed meanwhile, and none that is made meanwhile. This waits for nothing; a later
     * call reports what goes wrong.
     *
     * <p>While the list is made, no kernel on another stream may use the heap; and until the kernel has ended, no other
     * do-all of the type may begin. Launches on one stream keep to that.
     *
     * @param module that has the kernel
     * @param kernel its name
     * @param type the type's name
     * @param stream one of the heap's context, or one without a handle for the default one
     * @param arguments of the kernel, {@link #parameter} among them
     * @throws IllegalArgumentException if there is no such type or kernel
     * @throws IllegalStateException if the heap or the module is closed
     * @throws CudaFailureException if CUDA fails
     */
    public synchronized void forEach(
            final KernelModule module,
            final String kernel,
            final String type,
            final CUstream stream,
            final NativePointerObject... arguments) {
        checkOpen();
        module.function(kernel);
        list(type, stream);
        module.launch(kernel, space.fullGrid(), HeapSpace.BLOCK_THREADS, stream, arguments);
    }

    /**
     * Lists a type's blocks, for kernels that the caller launches: those that call {@code forEach} or {@code visitAll}
     * with the type visit the objects that there are now, but those destroyed since. {@link #forEach} does so for the
     * kernel that it launches. This waits for nothing.
     *
     * <p>While the list is made, no kernel on another stream may use the heap, and none that visits the type may run.
     * Once objects of the type have been destroyed, the list is good only until another type's is made: blocks that
     * became free may be of that type, and their objects would be visited.
     *
     * @param type the type's name
     * @param stream one of the heap's context, or one without a handle for the default one
     * @throws IllegalArgumentException if there is no such type
     * @throws IllegalStateException if the heap is closed
     * @throws CudaFailureException if CUDA fails
     */
    public synchronized void list(final String type, final CUstream stream) {
        checkOpen();
        space.launch(
                "outboardObjectsList",
                listGrid(),
                HeapSpace.BLOCK_THREADS,
                stream,
                parameter(),
                HeapSpace.words(layout.indexOf(type))[0]);
    }

    /** Answers how many blocks of threads are a thread for each eight blocks, or as many as fill the device. */
    private int listGrid() {
        final int threads = blocks() / BLOCKS_A_THREAD + 1;
        return Math.min(space.fullGrid(), threads / HeapSpace.BLOCK_THREADS + 1);
    }

    /**
     * Counts what there is, after all work in the context. The answer is exact if no other thread launches a kernel
     * that uses the heap meanwhile.
     *
     * @return the statistics
     * @throws IllegalStateException if the heap is closed
     * @throws io.outboard.core.DeviceOutOfMemoryException if there are not 272 bytes of device memory for the counts
     * @throws CudaFailureException if CUDA fails otherwise
     */
    public synchronized ObjectHeapStatistics statistics() {
        checkOpen();
        final long[] words = new long[ObjectHeapStatistics.WORDS];
        final KernelDriver driver = space.driver();
        try (ContextScope scope = space.scope();
                ContextMemorySource scratch = space.scratch()) {
            space.synchronize();
            final long counts = scratch.take((long) Long.BYTES * words.length).address();
            space.launch("outboardObjectsBeginCount", 1, words.length, counts, words.length);
            space.launch(
                    "outboardObjectsCount",
                    listGrid(),
                    HeapSpace.BLOCK_THREADS,
                    new CUstream(),
                    parameter(),
                    HeapSpace.words(counts)[0]);
            CudaFailures.check("cuMemcpyDtoH", driver.kernels().copyToHost(words, counts));
        }
        return ObjectHeapStatistics.of(layout, blocks(), words);
    }

    /**
     * Makes the heap as it was when it was built, after all work in the context: all objects are gone.
     *
     * @throws IllegalStateException if the heap is closed
     * @throws CudaFailureException if CUDA fails; kernels may not use the heap until a reset succeeds
     */
    public synchronized void reset() {
        checkOpen();
        try (ContextScope scope = space.scope()) {
            format();
        }
    }

    /** Formats the heap; the context must be current. */
    private void format() {
        space.synchronize();
        space.launch(
                "outboardObjectsFormat",
                1,
                1,
                new CUstream(),
                HeapSpace.words(
                        Pointer.to(layout.plan()), space.address(), space.sizeBytes(), space.multiprocessors()));
        space.copyControl(control);
        if (blocks() != 0) {
            space.launch("outboardObjectsClear", space.fullGrid(), HeapSpace.BLOCK_THREADS, space.address());
            space.synchronize();
        }
    }

    /**
     * Ends the heap. A block of a pool is given back, once all work in the context has finished, since a kernel on any
     * stream may still use it; over other memory it waits for that only after {@link #forEach}. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; the heap is closed all the same, unless a stream was captured
     *     meanwhile: then nothing has changed
     * @throws IllegalStateException if the pool was closed before
     */
    @Override
    public synchronized void close() {
        space.close();
    }

    private void checkOpen() {
        if (space.isClosed()) {
            throw new IllegalStateException("the heap of objects is closed");
        }
    }
}
