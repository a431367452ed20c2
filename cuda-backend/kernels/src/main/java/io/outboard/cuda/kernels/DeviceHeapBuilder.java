package io.outboard.cuda.kernels;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.pool.Pool;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** This class describes a {@link DeviceHeap}. Confined to one thread. */
public final class DeviceHeapBuilder {

    static final long LEAST_BYTES = 64L << 10;

    /** The largest heap, because chunks are counted in units of 16 bytes, by 32 bits. */
    static final long MOST_BYTES = 64L << 30;

    static final long ALIGNMENT_BYTES = 256;

    /** The factor by which the ratio is multiplied for kernels, which get it in 32 bits. */
    private static final int FRAGMENTATION_UNITS = 256;

    private static final double MOST_FRAGMENTATION = 1 << 16;

    final @Nullable Pool pool;
    final long address;
    final long sizeBytes;
    DeviceAllocator allocator = DeviceAllocator.BIT_MALLOC;
    PreSplit preSplit = PreSplit.binaryHeap(64L << 10);
    boolean trackRequests;
    boolean checked;
    private double maximumFragmentation = 1;

    DeviceHeapBuilder(final @Nullable Pool pool, final long address, final long sizeBytes) {
        if (sizeBytes < LEAST_BYTES || sizeBytes > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "sizeBytes=" + sizeBytes + " must be from " + LEAST_BYTES + " to " + MOST_BYTES);
        }
        this.pool = pool;
        this.address = address;
        this.sizeBytes = sizeBytes;
    }

    static DeviceHeapBuilder over(final long address, final long sizeBytes) {
        if (address <= 0 || address % ALIGNMENT_BYTES != 0) {
            throw new IllegalArgumentException(
                    "address=" + address + " must be a multiple of " + ALIGNMENT_BYTES + " and > 0");
        }
        return new DeviceHeapBuilder(null, address, sizeBytes);
    }

    /**
     * Sets the allocator that kernels call, which is {@link DeviceAllocator#BIT_MALLOC} by default. A kernel that calls
     * an allocator with another layout of the heap is stopped at once, which ends its CUDA context with an error.
     *
     * @param newAllocator the allocator
     * @return this builder
     */
    public DeviceHeapBuilder allocator(final DeviceAllocator newAllocator) {
        allocator = Objects.requireNonNull(newAllocator, "newAllocator");
        return this;
    }

    /**
     * Sets the chunks into which the heap is divided at first. The default is a binary heap with a smallest chunk of 64
     * KiB (the fastest in most cases of the test bench). Allocators without a list of chunks, such as the default
     * allocator, ignore the setting.
     *
     * @param newPreSplit the scheme
     * @return this builder
     * @throws IllegalArgumentException if a chunk is larger than the heap
     */
    public DeviceHeapBuilder preSplit(final PreSplit newPreSplit) {
        final long largest = Math.max(newPreSplit.chunkBytes(), newPreSplit.largeEndBytes());
        if (largest > sizeBytes) {
            throw new IllegalArgumentException(
                    "newPreSplit=" + newPreSplit + " must have chunks <= sizeBytes=" + sizeBytes);
        }
        preSplit = newPreSplit;
        return this;
    }

    /**
     * Sets how much larger than the request a chunk must be to be divided: MAX_FRAG in Vinkler and Havran 2014,
     * algorithm 3. With 1, the default, everything that isn't needed is split off; with 2, up to half of a chunk stays
     * unused, and chunks are divided less often.
     *
     * @param newMaximumFragmentation a ratio from 1 to 65536, rounded to 1/256
     * @return this builder
     * @throws IllegalArgumentException if the ratio is outside of its range
     */
    public DeviceHeapBuilder maximumFragmentation(final double newMaximumFragmentation) {
        if (!(newMaximumFragmentation >= 1 && newMaximumFragmentation <= MOST_FRAGMENTATION)) {
            throw new IllegalArgumentException("newMaximumFragmentation=" + newMaximumFragmentation
                    + " must be from 1 to " + (long) MOST_FRAGMENTATION);
        }
        maximumFragmentation = newMaximumFragmentation;
        return this;
    }

    /**
     * Sets whether the heap keeps the size of each request, for {@link DeviceHeapStatistics#internalFragmentation}.
     * Keeping the sizes takes a fifth of the heap, and is off by default.
     *
     * @param newTrackRequests true to do so
     * @return this builder
     */
    public DeviceHeapBuilder trackRequests(final boolean newTrackRequests) {
        trackRequests = newTrackRequests;
        return this;
    }

    /**
     * Sets whether kernels use the allocator's checked build ({@link KernelModule#linkChecked}, or
     * {@code OUTBOARD_CHECKED} with the headers), which counts each second free and each pointer that isn't a block's,
     * and refuses them. The default is the usual build. A heap of {@link DeviceAllocator#BIT_MALLOC} for the checked
     * build needs one more bit for each unit, 0.8 % of the heap, and stops a kernel of the other build at once; the
     * heaps of other allocators are the same for both builds.
     *
     * @param newChecked true if they do
     * @return this builder
     */
    public DeviceHeapBuilder checked(final boolean newChecked) {
        checked = newChecked;
        return this;
    }

    /**
     * Makes the heap, in the calling thread's current CUDA context: the primary one of its device, unless the program
     * made another current. The call waits for all work in the context.
     *
     * @return the heap, ready for kernels
     * @throws IllegalArgumentException if the caller's memory is too small for the queues of
     *     {@link DeviceAllocator#XMALLOC}, of 192 KiB
     * @throws CudaUnavailableException if there is no driver or no device, or JCuda's native library doesn't load; or
     *     if the driver is too old for the PTX in the jar and there is no NVRTC, and the message says what to install
     * @throws io.outboard.core.DeviceOutOfMemoryException if the pool has no such block
     * @throws CudaFailureException if CUDA fails otherwise; no exception leaves anything taken or loaded
     */
    public DeviceHeap build() {
        return build(KernelDriver.load());
    }

    DeviceHeap build(final KernelDriver driver) {
        if (pool == null && allocator == DeviceAllocator.XMALLOC && sizeBytes < DeviceHeap.XMALLOC_BYTES) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be >= " + DeviceHeap.XMALLOC_BYTES
                    + " for allocator=" + allocator);
        }
        return DeviceHeap.build(driver, this);
    }

    /** Answers the ratio as kernels get it. */
    int fragmentationUnits() {
        return (int) Math.round(maximumFragmentation * FRAGMENTATION_UNITS);
    }
}
