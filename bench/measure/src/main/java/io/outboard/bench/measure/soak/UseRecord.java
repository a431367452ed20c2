package io.outboard.bench.measure.soak;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The record knows who used each granule of 256 bytes last: a block that is in use, or a freed block with the end of
 * the work on it.
 *
 * <pre>
 *   pages   address / 4 MiB -> [ null | block | block | freed block, until 17 ms | ... ]   a use a granule
 * </pre>
 *
 * <p>When a block is handed out, its use replaces the old uses of its granules, which are checked: there must be none,
 * or a freed block whose work has ended by then or was ordered before on the same stream. Anything else is a violation.
 * Safe for any number of threads.
 */
final class UseRecord {

    /** The value that stands for work on any stream. */
    static final int ANY_STREAM = -1;

    private static final int GRANULE_LOG2 = 8;
    private static final int PAGE_LOG2 = 22;
    private static final int GRANULES_A_PAGE = 1 << (PAGE_LOG2 - GRANULE_LOG2);

    private final ConcurrentMap<Long, AtomicReferenceArray<Use>> pages = new ConcurrentHashMap<>();
    private final AtomicLong liveBytes = new AtomicLong();
    private final AtomicLong peakLiveBytes = new AtomicLong();

    /** A use is one block, from its allocation until all its granules have been allocated again. */
    static final class Use {
        final long address;
        final long sizeBytes;
        private final int allocatedOn;

        /** The time when the work on the block will have ended; its owner writes it before the free. */
        private volatile long endNs;

        /** The stream that the block was freed on, or {@link #ANY_STREAM}. */
        private volatile int freedOn = ANY_STREAM;

        private volatile boolean freed;

        Use(final long address, final long sizeBytes, final int allocatedOn) {
            this.address = address;
            this.sizeBytes = sizeBytes;
            this.allocatedOn = allocatedOn;
        }

        /** Returns the stream that the block was handed out for, or {@link #ANY_STREAM}. */
        int allocatedOn() {
            return allocatedOn;
        }

        /** Records that work on the block lasts until that time. */
        // One thread has the block at a time.
        @SuppressWarnings("NonAtomicVolatileUpdate")
        void worksUntil(final long newEndNs) {
            endNs = Math.max(endNs, newEndNs);
        }
    }

    /**
     * Records that a block was handed out.
     *
     * @param stream that it is for, or {@link #ANY_STREAM}
     * @param nowNs after it was handed out
     * @return its use
     * @throws IllegalStateException if a part of it is in use, or work that was there before its free hasn't ended
     */
    Use allocated(final long address, final long sizeBytes, final int stream, final long nowNs) {
        final Use use = new Use(address, sizeBytes, stream);
        Use last = null;
        final long lastGranule = (address + sizeBytes - 1) >>> GRANULE_LOG2;
        for (long granule = address >>> GRANULE_LOG2; granule <= lastGranule; granule++) {
            final Use before = page(granule).getAndSet((int) granule & (GRANULES_A_PAGE - 1), use);
            // Neighbouring granules mostly belonged to the same block.
            if (before != null && before != last) {
                last = before;
                check(before, use, stream, nowNs);
                // With order on a stream, work on the previous block may still run when this block is freed.
                use.worksUntil(before.endNs);
            }
        }
        peakLiveBytes.accumulateAndGet(liveBytes.addAndGet(sizeBytes), Math::max);
        return use;
    }

    private static void check(final Use before, final Use use, final int stream, final long nowNs) {
        final boolean ordered = stream != ANY_STREAM && before.freedOn == stream;
        @Nullable String rule = null;
        if (!before.freed) {
            rule = "overlaps the block at " + before.address + " of " + before.sizeBytes + " bytes, which is in use";
        } else if (!ordered && before.endNs > nowNs) {
            rule = "was handed out " + (before.endNs - nowNs) + " ns before the work ended that was submitted before"
                    + " the free of the block at " + before.address + " of " + before.sizeBytes + " bytes";
        }
        if (rule != null) {
            throw new IllegalStateException("the block at " + use.address + " of " + use.sizeBytes + " bytes " + rule);
        }
    }

    /**
     * Records that a block is about to be freed. The pool must hear of the free only afterwards, since another thread
     * may have the block as soon as the pool has heard of the free.
     *
     * @param stream that it is freed on, or {@link #ANY_STREAM}
     */
    void freed(final Use use, final int stream) {
        liveBytes.addAndGet(-use.sizeBytes);
        use.freedOn = stream;
        // The volatile write pairs with the read in check: whoever sees the block freed sees when the work on it ends.
        use.freed = true;
    }

    /** Returns the bytes in use. */
    long liveBytes() {
        return liveBytes.get();
    }

    /** Returns the most bytes that were in use at once. */
    long peakLiveBytes() {
        return peakLiveBytes.get();
    }

    private AtomicReferenceArray<Use> page(final long granule) {
        return pages.computeIfAbsent(
                granule >>> (PAGE_LOG2 - GRANULE_LOG2), number -> new AtomicReferenceArray<>(GRANULES_A_PAGE));
    }
}
