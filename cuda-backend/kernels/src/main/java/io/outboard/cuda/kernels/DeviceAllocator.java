package io.outboard.cuda.kernels;

import java.util.Arrays;
import java.util.Objects;

/**
 * These are the allocators that kernels can call in an in-kernel heap. Each allocator comes as a header of CUDA C++,
 * see {@link DeviceHeaders}, and as PTX to link kernels with, see {@link KernelModule#link}. Those of the CMalloc family
 * and CUDA's can serve the requests of a warp by one claim or separately; the others always serve them together.
 *
 * <p>All but the first and the last two are from Vinkler and Havran 2014, sections 4 and 5; the headers say where they
 * deviate. Immutable, so safe for any number of threads.
 */
public enum DeviceAllocator {

    /**
     * This allocator keeps free memory in bitmaps on three levels. It is the default, and the best choice unless
     * another allocator is known to suit. Every call ends after a number of steps that the heap's size limits, whatever
     * other threads do. The threads of a warp that allocate together are served by one claim, linked as coalesced or
     * not. The allocator is Outboard's own; {@code bit_malloc.cuh} names its sources.
     */
    BIT_MALLOC("BitMalloc", true, Flag.FREE_BITS, true),

    /** This allocator is a bump pointer; nothing is ever freed. */
    ATOMIC_MALLOC("AtomicMalloc", false, Flag.BUMP_ONLY, false),

    /**
     * This allocator is a bump pointer that wraps: memory is reused without a free, even if its owner still uses it.
     */
    AW_MALLOC("AWMalloc", false, Flag.BUMP_ONLY, false),

    /**
     * This allocator has a circular list of chunks: a redesign of the paper's algorithm 3.
     *
     * <p>The time of an allocation has no bound while other threads allocate and free without end, because their
     * changes may send the search through the heap again each time. The same holds while a thread is stalled in a call:
     * in a heap that is nearly full, other threads may search until that thread goes on.
     */
    C_MALLOC("CMalloc", true, Flag.START_BITS, false),

    /**
     * This allocator is {@link #C_MALLOC} with flag and link in one word; section 5.3. The time of an allocation has no
     * bound, either.
     */
    CF_MALLOC("CFMalloc", true, 0, false),

    /**
     * This allocator is {@link #C_MALLOC} with start offsets for each multiprocessor; section 5.4. The time of an
     * allocation has no bound, either.
     */
    CM_MALLOC("CMMalloc", true, Flag.START_BITS, true),

    /**
     * This allocator is {@link #CF_MALLOC} with start offsets for each multiprocessor; section 5.4. The time of an
     * allocation has no bound, either.
     */
    CFM_MALLOC("CFMMalloc", true, 0, true),

    /** This allocator is CUDA's own {@code malloc} and {@code free} in kernels, the baseline of comparisons. */
    CUDA_MALLOC("CudaMalloc", true, 0, false),

    /**
     * This allocator is {@link #CUDA_MALLOC} behind queues of freed blocks, with one request for the threads of a warp
     * that allocate together, linked as coalesced or not: XMalloc of Huang et al. 2013; {@code xmalloc.cuh} says where
     * it deviates. The blocks of such threads are one block of CUDA's, which is free when all of them are.
     */
    XMALLOC("XMalloc", true, 0, false);

    /** These bits tell the kernel that formats a heap about its allocator. */
    static final class Flag {

        /** The flag and the start of a chunk are bits of their own. */
        static final int START_BITS = 1;

        /** The heap keeps what was requested. */
        static final int TRACK_REQUESTS = 2;

        /** The heap has no chunks. */
        static final int BUMP_ONLY = 4;

        /** The heap has its free memory in bitmaps. */
        static final int FREE_BITS = 8;

        private Flag() {}
    }

    private final String paperName;
    private final boolean canFree;
    private final int flags;
    private final boolean startsOnEachMultiprocessor;

    DeviceAllocator(
            final String paperName, final boolean canFree, final int flags, final boolean startsOnEachMultiprocessor) {
        this.paperName = paperName;
        this.canFree = canFree;
        this.flags = flags;
        this.startsOnEachMultiprocessor = startsOnEachMultiprocessor;
    }

    /**
     * Answers the allocator's name in the headers and in file names: the paper's, if the allocator is from there.
     *
     * @return for example {@code CFMMalloc}
     */
    public String paperName() {
        return paperName;
    }

    /**
     * Answers whether a free gives memory back.
     *
     * @return false for the two bump pointers
     */
    public boolean canFree() {
        return canFree;
    }

    /**
     * Answers whether there is a checked build to link kernels with, see {@link KernelModule#linkChecked}.
     *
     * @return true for those whose frees give chunks of a heap back; false for the two bump pointers, whose frees do
     *     nothing, and for those of {@link #usesDriverHeap}
     */
    public boolean hasCheckedBuild() {
        return canFree && !usesDriverHeap();
    }

    /**
     * Answers whether blocks lie in the driver's heap, of which Outboard knows nothing but the size.
     *
     * @return true for CUDA's own allocator and XMalloc
     */
    public boolean usesDriverHeap() {
        return this == CUDA_MALLOC || this == XMALLOC;
    }

    /**
     * Finds the allocator of a name.
     *
     * @param paperName as {@link #paperName()}
     * @return the allocator
     * @throws IllegalArgumentException if none has the name
     */
    public static DeviceAllocator named(final String paperName) {
        Objects.requireNonNull(paperName, "paperName");
        return Arrays.stream(values())
                .filter(allocator -> allocator.paperName.equals(paperName))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("paperName=" + paperName + " must be one of "
                        + Arrays.stream(values())
                                .map(DeviceAllocator::paperName)
                                .toList()));
    }

    /** Answers the {@link Flag}s of a heap. */
    int flags() {
        return flags;
    }

    /** Answers the {@link Flag}s of a heap for the checked build. */
    int checkedFlags() {
        return (flags & Flag.FREE_BITS) != 0 ? flags | Flag.START_BITS : flags;
    }

    boolean isBumpOnly() {
        return (flags & Flag.BUMP_ONLY) != 0;
    }

    boolean startsOnEachMultiprocessor() {
        return startsOnEachMultiprocessor;
    }
}
