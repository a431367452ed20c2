package io.outboard.bench.measure.threads.isolated;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The shadow knows which granules of 256 bytes are in use, independently of the pool. It has a mark for each granule;
 * whoever gets a block sets its marks, and whoever frees it clears them before the pool hears of the free.
 *
 * <pre>
 *   pages   address / 4 MiB -> [ 0 | 0 | 1 | 1 | 1 | 0 | ... ]   a mark a granule
 *   sizes   address -> bytes, of live blocks
 * </pre>
 *
 * <p>Safe for any number of threads. Each mark is set by one atomic exchange, so of two threads that were given the
 * same granule one finds it marked, whatever the order. Cost: some nanoseconds a granule; 64 KiB of host memory for 4
 * MiB.
 */
final class Shadow {

    private static final VarHandle MARKS = MethodHandles.arrayElementVarHandle(int[].class);

    private static final int GRANULE_LOG2 = 8;
    private static final int PAGE_LOG2 = 22;
    private static final int GRANULES_A_PAGE = 1 << (PAGE_LOG2 - GRANULE_LOG2);

    private final ConcurrentMap<Long, int[]> pages = new ConcurrentHashMap<>();
    private final ConcurrentMap<Long, Long> sizes = new ConcurrentHashMap<>();
    private final AtomicLong blocks = new AtomicLong();
    private final AtomicLong liveBytes = new AtomicLong();
    private final AtomicLong peakLiveBytes = new AtomicLong();

    /**
     * Records that a block was handed out.
     *
     * @throws IllegalStateException if a part of it is in use, or its address isn't a multiple of 256
     */
    void allocated(final long address, final long sizeBytes) {
        if ((address & ((1 << GRANULE_LOG2) - 1)) != 0) {
            throw new IllegalStateException("address=" + address + " must be a multiple of " + (1 << GRANULE_LOG2));
        }
        final Long other = sizes.putIfAbsent(address, sizeBytes);
        if (other != null) {
            throw new IllegalStateException(
                    "address=" + address + " must be free, and is a block of " + other + " bytes");
        }
        mark(address, sizeBytes, 0, 1);
        blocks.incrementAndGet();
        final long live = liveBytes.addAndGet(sizeBytes);
        peakLiveBytes.accumulateAndGet(live, Math::max);
    }

    /**
     * Records that a block is about to be freed.
     *
     * @throws IllegalStateException if none starts there
     */
    void freed(final long address) {
        final Long sizeBytes = sizes.remove(address);
        if (sizeBytes == null) {
            throw new IllegalStateException("address=" + address + " must be a block that is in use");
        }
        mark(address, sizeBytes, 1, 0);
        liveBytes.addAndGet(-sizeBytes);
    }

    private void mark(final long address, final long sizeBytes, final int expected, final int mark) {
        final long last = (address + sizeBytes - 1) >>> GRANULE_LOG2;
        long pageNumber = -1;
        int[] page = {};
        for (long granule = address >>> GRANULE_LOG2; granule <= last; granule++) {
            if (granule >>> (PAGE_LOG2 - GRANULE_LOG2) != pageNumber) {
                pageNumber = granule >>> (PAGE_LOG2 - GRANULE_LOG2);
                page = pages.computeIfAbsent(pageNumber, number -> new int[GRANULES_A_PAGE]);
            }
            if ((int) MARKS.getAndSet(page, (int) granule & (GRANULES_A_PAGE - 1), mark) != expected) {
                throw new IllegalStateException("address=" + address + ", a block of " + sizeBytes
                        + " bytes, must overlap no other that is in use, and does at " + (granule << GRANULE_LOG2));
            }
        }
    }

    /** Returns how many blocks were handed out. */
    long blocks() {
        return blocks.get();
    }

    /** Returns the most bytes that were in use at once, as requested. */
    long peakLiveBytes() {
        return peakLiveBytes.get();
    }
}
