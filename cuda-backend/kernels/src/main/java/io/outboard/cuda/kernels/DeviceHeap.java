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
 * This class is an in-kernel heap, seen from the host: device memory that kernels divide among their threads while they
 * run.
 *
 * <p>Kernels get {@link #address} or {@link #parameter} as an argument and allocate through {@code outboardMalloc}, see
 * {@link KernelModule#link}, or through the headers, see {@link DeviceHeaders}; in either way with the allocator that
 * the heap was made for. If nothing fits, kernels get a null pointer. {@link DeviceAllocator} lists the allocators; the
 * headers name their sources. A heap of {@link DeviceAllocator#CUDA_MALLOC} or {@link DeviceAllocator#XMALLOC} is the
 * driver's own. Making such a heap raises the driver's limit, and takes no memory of Outboard's but 192 KiB for the
 * queues of {@code XMALLOC}; such a heap has no {@link #statistics} and no {@link #reset}.
 *
 * <p>Thread-safety: safe for any number of threads, as for kernels on any streams. Cost: making a heap, {@link #reset}
 * and {@link #statistics} wait for all work in the context before and after, which isn't possible while a stream is
 * captured into a graph; {@link #close} waits, too, for a block of a pool. Tables take 2 to 3 % of the memory, 22 %
 * with requests tracked.
 */
// A scope takes effect while it is open, so its variable is never read.
@SuppressWarnings("try")
public final class DeviceHeap implements AutoCloseable {

    /** The number of bytes of {@code outboard::Heap}, which {@link #parameter} points to. */
    public static final int CONTROL_BYTES = 288;

    /** The number of segments into which a scan divides the heap, with a thread for each. */
    private static final int SEGMENTS = 8192;

    private static final int SEGMENT_BYTES = 64;

    /** The size of the queues of {@link DeviceAllocator#XMALLOC}, with the control block: {@code XMALLOC_BYTES}. */
    static final long XMALLOC_BYTES = 192L << 10;

    /** The number of blocks of threads that empty the queues, so that there is a thread for each queue. */
    private static final int DRAIN_BLOCKS = 3;

    private final HeapSpace space;
    private final long sizeBytes;
    private final DeviceAllocator allocator;
    private final PreSplit preSplit;
    private final int fragmentationUnits;
    private final int flags;
    /**
     * The content of {@code outboard::Heap}. Launches read the buffer, so it lies outside of the Java heap. All bytes
     * are 0 for {@link DeviceAllocator#CUDA_MALLOC}.
     */
    private final ByteBuffer control = ByteBuffer.allocateDirect(CONTROL_BYTES).order(ByteOrder.nativeOrder());

    private DeviceHeap(final HeapSpace space, final DeviceHeapBuilder builder) {
        this.space = space;
        sizeBytes = builder.sizeBytes;
        allocator = builder.allocator;
        preSplit = builder.preSplit;
        fragmentationUnits = builder.fragmentationUnits();
        flags = (builder.checked ? allocator.checkedFlags() : allocator.flags())
                | (builder.trackRequests ? DeviceAllocator.Flag.TRACK_REQUESTS : 0);
    }

    /**
     * Describes a heap over the caller's memory, which must outlast the heap and all kernels that use it.
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
     * @param pool a pool in the context in which the heap is built; must be closed after the heap
     * @param sizeBytes from 64 KiB to 64 GiB
     * @return a description, to be built
     * @throws IllegalArgumentException if {@code sizeBytes} is outside of its range
     */
    public static DeviceHeapBuilder in(final Pool pool, final long sizeBytes) {
        return new DeviceHeapBuilder(Objects.requireNonNull(pool, "pool"), 0, sizeBytes);
    }

    static DeviceHeap build(final KernelDriver driver, final DeviceHeapBuilder builder) {
        final Pool pool = builder.allocator == DeviceAllocator.CUDA_MALLOC ? null : builder.pool;
        final long takenBytes = builder.allocator == DeviceAllocator.XMALLOC ? XMALLOC_BYTES : builder.sizeBytes;
        final DeviceHeap heap = new DeviceHeap(
                new HeapSpace(driver, pool, builder.address, takenBytes, DeviceHeapBuilder.ALIGNMENT_BYTES), builder);
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
            if (!allocator.usesDriverHeap()) {
                space.load(DevicePtx.HEAP);
                format();
                return;
            }
            raiseLimit();
            if (allocator == DeviceAllocator.XMALLOC) {
                // Not before: the driver reads its limit when it loads the first code that allocates.
                space.load(DevicePtx.XMALLOC);
                space.launch("outboardXmcInit", space.fullGrid(), HeapSpace.BLOCK_THREADS, address());
                space.copyControl(control);
            }
        }
    }

    /** Raises the driver's limit, and never lowers it: the program may have set a higher limit. */
    private void raiseLimit() {
        final KernelDriver driver = space.driver();
        final long[] limit = new long[1];
        CudaFailures.check("cuCtxGetLimit", driver.kernels().mallocHeapBytes(limit));
        if (limit[0] < sizeBytes) {
            CudaFailures.check("cuCtxSetLimit", driver.kernels().setMallocHeapBytes(sizeBytes));
        }
    }

    /**
     * Answers the address that kernels need to allocate from the heap.
     *
     * @return absolute device address, a multiple of 256; for {@link DeviceAllocator#CUDA_MALLOC}, the address that the
     *     builder was given, or 0, as that allocator doesn't use it
     */
    public long address() {
        return space.address();
    }

    /**
     * Answers the argument of kernels that take the heap by value, as {@code const __grid_constant__ outboard::Heap},
     * which saves reads of device memory.
     *
     * @return a pointer to {@value #CONTROL_BYTES} bytes of host memory, for a launch; valid while the heap is open,
     *     also after {@link #reset}
     */
    public Pointer parameter() {
        return Pointer.to(control);
    }

    /**
     * Answers how much memory the heap has, tables included; for the driver's, how much the heap has at least.
     *
     * @return bytes, from 64 KiB to 64 GiB
     */
    public long sizeBytes() {
        return sizeBytes;
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
     * Waits for all work in the context, and finds by a scan what is in use. The answer is exact if no other thread
     * launches a kernel that uses the heap meanwhile. The scan takes half a megabyte of device memory while it runs.
     *
     * @return the statistics
     * @throws IllegalStateException if the heap is closed
     * @throws UnsupportedOperationException if {@link DeviceAllocator#usesDriverHeap}, because the driver has no
     *     statistics
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
     * Waits for all work in the context, and puts the heap back into its first state: all memory that kernels hold is
     * gone.
     *
     * @throws IllegalStateException if the heap is closed
     * @throws UnsupportedOperationException if {@link DeviceAllocator#usesDriverHeap}, because the driver can't reset
     *     its heap
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
        space.launch("outboardHeapFormat", 1, 1, address(), sizeBytes, starters, fragmentationUnits, flags);
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
     * stream may still use it. The queues of {@link DeviceAllocator#XMALLOC} are emptied into the driver's heap, after
     * all work in the context; what kernels still hold is lost to that heap. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; the heap is closed all the same, unless a stream was captured
     *     meanwhile: then nothing has changed
     * @throws IllegalStateException if the pool was closed before
     */
    @Override
    public synchronized void close() {
        try {
            if (allocator == DeviceAllocator.XMALLOC && space.isLoaded() && !space.isClosed()) {
                drain();
            }
        } finally {
            space.close();
        }
    }

    private void drain() {
        try (ContextScope scope = space.scope()) {
            space.synchronize();
            space.launch("outboardXmcDrain", DRAIN_BLOCKS, HeapSpace.BLOCK_THREADS, address());
        }
    }

    private void checkUsable(final String method) {
        if (space.isClosed()) {
            throw new IllegalStateException("the in-kernel heap is closed");
        }
        if (allocator.usesDriverHeap()) {
            throw new UnsupportedOperationException(
                    method + " isn't possible for allocator=" + allocator + ": its heap is the driver's");
        }
    }
}
