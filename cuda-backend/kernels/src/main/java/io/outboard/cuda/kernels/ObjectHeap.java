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
 * This class is a heap of objects of a few declared types. Kernels make and destroy objects while they run, and the
 * host runs a kernel for all objects of a type: the parallel do-all of Springer 2019 (DynaSOAR). Objects of a type lie
 * in blocks of up to 64, with an array for each field, so that threads side by side read memory side by side.
 *
 * <p>Kernels are compiled with {@code object_heap.cuh} ({@link DeviceHeaders}), whose head says how to write kernels
 * and what differs from the paper, and get {@link #parameter} or {@link #address}.
 *
 * <p>Thread-safety: safe for any number of threads, as for kernels on any streams, except for {@link #forEach}. Cost:
 * making a heap, {@link #reset} and {@link #statistics} wait for all work in the context before and after;
 * {@link #close} waits, too, for a block of a pool. Tables take 17 1/8 bytes of each block and 4 1/2 for each type, and
 * 1 MiB for each eight types on a GPU of 132 multiprocessors. When memory runs out, kernels get no object. That may
 * happen although there is room in blocks that another thread is just adding to the bitmaps.
 */
// A scope takes effect while it is open, so its variable is never read.
@SuppressWarnings("try")
public final class ObjectHeap implements AutoCloseable {

    /** The number of bytes of {@code outboard::Objects}, which {@link #parameter} points to. */
    public static final int CONTROL_BYTES = 1536;

    /** The offset of the number of blocks in the control block. */
    private static final int BLOCKS_AT = 16;

    /** The offset of the address of the blocks in the control block. */
    private static final int DATA_AT = 40;

    /** The offset of the address of the blocks' types in the control block. */
    private static final int TYPES_AT = 64;

    /** The lower bits of an object's id, which are its place in its block. */
    private static final int SLOT_BITS = 6;

    /**
     * The number of blocks that a thread lists at a time, the same as in {@code listObjects} of
     * {@code object_setup.cuh}.
     */
    private static final int BLOCKS_A_THREAD = 8;

    private final HeapSpace space;
    private final ObjectLayout layout;
    private final MakeOrder order;
    /** The content of {@code outboard::Objects}. Launches read the buffer, so it lies outside of the Java heap. */
    private final ByteBuffer control = ByteBuffer.allocateDirect(CONTROL_BYTES).order(ByteOrder.nativeOrder());

    private ObjectHeap(final HeapSpace space, final ObjectLayout layout, final MakeOrder order) {
        this.space = space;
        this.layout = layout;
        this.order = order;
    }

    /**
     * Describes a heap over the caller's memory, which must outlast the heap and all kernels that use it.
     *
     * @param address of the first byte, in device memory, a multiple of 256
     * @param sizeBytes from 64 KiB to 64 GiB
     * @return a description, which needs types before it is built
     * @throws IllegalArgumentException if a number is outside of its range
     */
    public static ObjectHeapBuilder over(final long address, final long sizeBytes) {
        return new ObjectHeapBuilder(null, address, sizeBytes);
    }

    /**
     * Describes a heap over a block of a pool, which is taken when the heap is built and freed when it is closed.
     *
     * @param pool a pool in the context in which the heap is built; must be closed after the heap
     * @param sizeBytes from 64 KiB to 64 GiB
     * @return a description, which needs types before it is built
     * @throws IllegalArgumentException if {@code sizeBytes} is outside of its range
     */
    public static ObjectHeapBuilder in(final Pool pool, final long sizeBytes) {
        return new ObjectHeapBuilder(Objects.requireNonNull(pool, "pool"), 0, sizeBytes);
    }

    static ObjectHeap build(final KernelDriver driver, final ObjectHeapBuilder builder, final ObjectLayout layout) {
        final HeapSpace space = new HeapSpace(
                driver, builder.pool, builder.address, builder.sizeBytes, ObjectHeapBuilder.ALIGNMENT_BYTES);
        final ObjectHeap heap = new ObjectHeap(space, layout, builder.order);
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
     * Answers the address that kernels get as a pointer to {@code outboard::Objects}.
     *
     * @return absolute device address, a multiple of 256
     */
    public long address() {
        return space.address();
    }

    /**
     * Answers the argument of kernels that take the heap by value, as {@code const __grid_constant__
     * outboard::Objects}, which saves reads of device memory.
     *
     * @return a pointer to {@value #CONTROL_BYTES} bytes of host memory, for a launch; valid while the heap is open,
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
     * Answers where the array of a field begins in each block of a type. The values of objects side by side lie side by
     * side there, that of the object with place {@code id % 64} after as many others.
     *
     * @param type the name of a type that has objects
     * @param field the name of one of its fields, or of its base's
     * @return bytes from the block's first, a multiple of 32
     * @throws IllegalArgumentException if there is no such type or field
     */
    public int fieldOffset(final String type, final String field) {
        final int index = layout.indexOf(type);
        return layout.offsetOf(index, layout.fieldOf(index, field));
    }

    /**
     * Answers where a field of an object lies in device memory, for a copy from there or to it.
     *
     * @param type the name of the type that the object exactly has
     * @param field the name of one of its fields, or of its base's
     * @param id of the object, as {@code id()} answers in kernels; whether there is an object isn't checked
     * @return device address, a multiple of the size of the field if that is a power of two up to 32
     * @throws IllegalArgumentException if there is no such type or field, or no place of the type with that id
     */
    public long fieldAddress(final String type, final String field, final int id) {
        final int index = layout.indexOf(type);
        final int number = layout.fieldOf(index, field);
        final int block = blockOf(id);
        final int slot = id & ((1 << SLOT_BITS) - 1);
        if (slot >= layout.slots().get(index)) {
            throw new IllegalArgumentException("id=" + Integer.toUnsignedString(id) + " must be of one of the "
                    + layout.slots().get(index) + " places of a block of " + type);
        }
        return control.getLong(DATA_AT)
                + (long) block * blockBytes()
                + layout.offsetOf(index, number)
                + (long) slot * layout.types().get(index).fieldBytes()[number];
    }

    /**
     * Waits for earlier work on the default stream, and answers what an object exactly is.
     *
     * @param id of the object, as {@code id()} answers in kernels
     * @return the name of the type that the object's block has, or had last if the block has become free
     * @throws IllegalArgumentException if there is no block with that id
     * @throws IllegalStateException if the heap is closed
     * @throws CudaFailureException if CUDA fails
     */
    public synchronized String typeOf(final int id) {
        checkOpen();
        final int block = blockOf(id);
        final long[] eight = new long[1];
        try (ContextScope scope = space.scope()) {
            // The table begins with a multiple of 16, and there is room for eight bytes from each multiple of 8 on.
            final long address = control.getLong(TYPES_AT) + (block & -Long.BYTES);
            CudaFailures.check("cuMemcpyDtoH", space.driver().kernels().copyToHost(eight, address));
        }
        final int type = (int) (eight[0] >>> (block % Long.BYTES * Byte.SIZE)) & 0xFF;
        return layout.types().get(type).name();
    }

    private int blockOf(final int id) {
        final int block = id >>> SLOT_BITS;
        if (block >= blocks()) {
            throw new IllegalArgumentException(
                    "id=" + Integer.toUnsignedString(id) + " must be of one of the " + blocks() + " blocks");
        }
        return block;
    }

    /**
     * Runs a kernel for all objects of a type: lists the blocks of the type and of all that extend it, then launches the
     * kernel with as many threads as fill the device. The kernel must call {@code forEach} with the type, for its
     * exact objects, or with {@code Any} of it, for all. The kernel visits the objects that exist when the list is made, except objects that are destroyed meanwhile, and no object that is made meanwhile. The
     * call waits for nothing; a later call reports errors.
     *
     * <p>While the list is made, no kernel on another stream may use the heap; and until the kernel has ended, no other
     * do-all of these types may begin. Launches on one stream follow these rules by themselves.
     *
     * @param module the module that has the kernel
     * @param kernel its name
     * @param type the type's name
     * @param stream a stream of the heap's context, or an object without a handle for the default stream
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
     * Lists the blocks of a type and of all that extend it, for kernels that the caller launches. Kernels that call
     * {@code forEach} or {@code visitAll} with the type visit the objects that exist now, except objects that are
     * destroyed later. {@link #forEach} makes the list for the kernel that it launches. The call waits for nothing.
     *
     * <p>While the list is made, no kernel on another stream may use the heap, and none that visits these types may run.
     * Once objects of the types have been destroyed, the list is valid only until the list of another type is made:
     * blocks that became free may then belong to the other type, and their objects would be visited.
     *
     * @param type the type's name
     * @param stream a stream of the heap's context, or an object without a handle for the default stream
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
                HeapSpace.words(layout.typesOf(type))[0]);
    }

    /**
     * Answers how many blocks of threads the kernel that lists gets: a thread for each eight blocks of the heap, but no
     * more than fill the device.
     */
    private int listGrid() {
        final int threads = blocks() / BLOCKS_A_THREAD + 1;
        return Math.min(space.fullGrid(), threads / HeapSpace.BLOCK_THREADS + 1);
    }

    /**
     * Waits for all work in the context, and counts blocks and objects. The answer is exact if no other thread launches
     * a kernel that uses the heap meanwhile.
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
     * Waits for all work in the context, and puts the heap back into its first state: all objects are gone.
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
                        Pointer.to(layout.plan(order)), space.address(), space.sizeBytes(), space.multiprocessors()));
        space.copyControl(control);
        if (blocks() != 0) {
            space.launch("outboardObjectsClear", space.fullGrid(), HeapSpace.BLOCK_THREADS, space.address());
            space.synchronize();
        }
    }

    /**
     * Ends the heap. A block of a pool is given back, once all work in the context has finished, since a kernel on any
     * stream may still use it; a heap over other memory waits only after {@link #forEach}. Idempotent.
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
