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
import jcuda.Pointer;

/**
 * An in-kernel heap: device memory that kernels divide among their threads while they run, seen from the host.
 *
 * <p>Kernels get {@link #address} or {@link #parameter} as an argument and allocate through {@code outboardMalloc}, see
 * {@link KernelModule#link}, or through the headers, see {@link DeviceHeaders}; in either way with the allocator that
 * the heap was made for. Where nothing fits they get a null pointer. {@link DeviceAllocator} lists the allocators; the
 * headers say where they are from. A heap of {@link DeviceAllocator#CUDA_MALLOC} is the driver's own: to make one
 * raises the driver's limit and uses no memory of ours; it has no {@link #statistics} and no {@link #reset}.
 *
 * <p>Thread-safety: safe for any number of threads, as for kernels on any streams. Cost: a heap that is made, {@link
 * #reset} or asked waits for all work in its context before and after, which isn't possible while a stream is captured
 * into a graph; so does {@link #close} for a block of a pool. Tables take 2 to 3 % of the memory, 22 % with requests
 * tracked.
 */
// A scope is used by being open.
@SuppressWarnings("try")
public final class DeviceHeap implements AutoCloseable {

    /** Bytes of what {@link #parameter} points to: {@code outboard::Heap}. */
    public static final int CONTROL_BYTES = 288;

    /** A scan divides the heap into so many segments, and has a thread for each. */
    private static final int SEGMENTS = 8192;

    private static final int SEGMENT_BYTES = 64;

    private final HeapSpace space;
    private final DeviceAllocator allocator;
    private final PreSplit preSplit;
    private final int fragmentationUnits;
    private final int flags;
    /**
     * Launches read this, so it lies outside of the Java heap. It is all zero for {@link DeviceAllocator#CUDA_MALLOC}.
     */
    private final ByteBuffer control = ByteBuffer.allocateDirect(CONTROL_BYTES).order(ByteOrder.nativeOrder());

    private DeviceHeap(final HeapSpace space, final DeviceHeapBuilder builder) {
        this.space = space;
        allocator = builder.allocator;
        preSplit = builder.preSplit;
        fragmentationUnits = builder.fragmentationUnits();
        flags = (builder.checked ? allocator.checkedFlags() : allocator.flags())
                | (builder.trackRequests ? DeviceAllocator.Flag.TRACK_REQUESTS : 0);
    }

    /**
     * Describes a heap over memory of the caller's, which must outlast the heap and all kernels that use it.
     *
     * @param address of the first byte, in device memory, a multiple of 256
     * @param sizeBytes from 64 KiB to 64 GiB
     * @return a description, to be built
     * @throws IllegalArgumentException if a number is outside of its range
     */
    public static DeviceHeapBuilder over(final long address, final long sizeBytes) {
        return DeviceHeapBuilder.over(address, sizeBytes);
    }

    /**
     * Describes a heap over a block of a pool, which is taken when the heap is built and freed when it is closed.
     *
     * @param pool a pool in the context in which the heap is built; to be closed after the heap
     * @param sizeBytes from 64 KiB to 64 GiB
     * @return a description, to be built
     * @throws IllegalArgumentException if {@code sizeBytes} is outside of its range
     */
    public static DeviceHeapBuilder in(final Pool pool, final long sizeBytes) {
        return new DeviceHeapBuilder(Objects.requireNonNull(pool, "pool"), 0, sizeBytes);
    }

    static DeviceHeap build(final KernelDriver driver, final DeviceHeapBuilder builder) {
        final Pool pool = builder.allocator == DeviceAllocator.CUDA_MALLOC ? null : builder.pool;
        final DeviceHeap heap = new DeviceHeap(
                new HeapSpace(driver, pool, builder.address, builder.sizeBytes, DeviceHeapBuilder.ALIGNMENT_BYTES),
                builder);
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
        if (allocator == DeviceAllocator.CUDA_MALLOC) {
            raiseLimit();
            return;
        }
        try (ContextScope scope = space.scope()) {
            space.load(DevicePtx.HEAP);
            format();
        }
    }

    /** Raises the driver's limit, and never lowers it: the program may have wanted more. */
    private void raiseLimit() {
        final KernelDriver driver = space.driver();
        try (ContextScope scope = space.scope()) {
            final long[] limit = new long[1];
            CudaFailures.check("cuCtxGetLimit", driver.kernels().mallocHeapBytes(limit));
            if (limit[0] < space.sizeBytes()) {
                CudaFailures.check("cuCtxSetLimit", driver.kernels().setMallocHeapBytes(space.sizeBytes()));
            }
        }
    }

    /**
     * Answers what kernels get to allocate from the heap.
     *
     * @return absolute device address, a multiple of 256; of a heap of {@link DeviceAllocator#CUDA_MALLOC} whatever was
     *     given, or 0, as that allocator doesn't look at it
     */
    public long address() {
        return space.address();
    }

    /**
     * Answers the argument of kernels that take the heap by value, as {@code const __grid_constant__ outboard::Heap},
     * which spares them reads of device memory.
     *
     * @return a pointer to {@value #CONTROL_BYTES} bytes of host memory, for a launch; good while the heap is open,
     *     also after {@link #reset}
     */
    public Pointer parameter() {
        return Pointer.to(control);
    }

    /**
     * Answers how much memory the heap has, tables included.
     *
     * @return bytes, from 64 KiB to 64 GiB
     */
    public long sizeBytes() {
        return space.sizeBytes();
    }

    /**
     * Answers which allocator kernels must use.
     *
     * @return as it was given to the builder
     */
    public DeviceAllocator allocator() {
        return allocator;
    }

    /**
     * Finds by a scan what is in use, after all work in the context. The answer is exact if no other thread launches a
     * kernel that uses the heap meanwhile. The scan takes half a megabyte of device memory for its time.
     *
     * @return the statistics
     * @throws IllegalStateException if the heap is closed
     * @throws UnsupportedOperationException if it is one of {@link DeviceAllocator#CUDA_MALLOC}: the driver tells
     *     nothing
     * @throws io.outboard.core.DeviceOutOfMemoryException if there is no memory for the scan; the heap stays as it is
     * @throws CudaFailureException if CUDA fails otherwise
     */
    public synchronized DeviceHeapStatistics statistics() {
        checkUsable("statistics");
        final long[] words = new long[DeviceHeapStatistics.WORDS];
        final long scanBytes = (long) SEGMENTS * SEGMENT_BYTES;
        final KernelDriver driver = space.driver();
        try (ContextScope scope = space.scope();
                ContextMemorySource scratch = space.scratch()) {
            space.synchronize();
            final long segments =
                    scratch.take(scanBytes + (long) Long.BYTES * words.length).address();
            final int threads = HeapSpace.BLOCK_THREADS;
            space.launch("outboardHeapScan", SEGMENTS / threads, threads, address(), segments, SEGMENTS);
            space.launch("outboardHeapSummarise", 1, 1, address(), segments, SEGMENTS, segments + scanBytes);
            CudaFailures.check("cuMemcpyDtoH", driver.kernels().copyToHost(words, segments + scanBytes));
        }
        return DeviceHeapStatistics.of(words);
    }

    /**
     * Makes the heap as it was when it was built, after all work in the context: all that kernels hold is gone.
     *
     * @throws IllegalStateException if the heap is closed
     * @throws UnsupportedOperationException if it is one of {@link DeviceAllocator#CUDA_MALLOC}: the driver can't
     * @throws CudaFailureException if CUDA fails; kernels may not use the heap until a reset succeeds
     */
    public synchronized void reset() {
        checkUsable("reset");
        try (ContextScope scope = space.scope()) {
            format();
        }
    }

    /** Formats the heap; the context must be current. */
    private void format() {
        space.synchronize();
        final int starters = allocator.startsOnEachMultiprocessor() ? space.multiprocessors() : 0;
        space.launch("outboardHeapFormat", 1, 1, address(), sizeBytes(), starters, fragmentationUnits, flags);
        space.launch("outboardHeapClear", space.fullGrid(), HeapSpace.BLOCK_THREADS, address());
        space.launch(
                "outboardHeapSplit",
                space.fullGrid(),
                HeapSpace.BLOCK_THREADS,
                address(),
                preSplit.scheme(),
                preSplit.chunkBytes(),
                preSplit.largeEndBytes());
        space.copyControl(control);
    }

    /**
     * Ends the heap. A block of a pool is given back, once all work in the context has finished, since a kernel on any
     * stream may still use it. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; the heap is closed all the same, unless a stream was captured
     *     meanwhile: then nothing has changed
     * @throws IllegalStateException if the pool was closed before
     */
    @Override
    public synchronized void close() {
        space.close();
    }

    private void checkUsable(final String method) {
        if (space.isClosed()) {
            throw new IllegalStateException("the in-kernel heap is closed");
        }
        if (!space.isLoaded()) {
            throw new UnsupportedOperationException(
                    method + " isn't possible for allocator=" + allocator + ": its heap is the driver's");
        }
    }
}
