package io.outboard.pool.internal.arena;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongBinaryOperator;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * The totals are the counters of all arenas of a pool together, and of what the pool holds for them. They are read
 * without stopping the pool.
 *
 * <p>Safe for any number of threads.
 */
public final class ArenaTotals {

    // These two are linked ahead, since bytes in use are added up while a block is on its way out, which mustn't be
    // lost.

    private static final ToLongFunction<ArenaCounters> USED_BYTES = ArenaCounters::usedBytes;
    private static final LongBinaryOperator MAX = Math::max;

    private final Supplier<ArenaCounters[]> arenas;
    private final AtomicLong heldBytes = new AtomicLong();
    private final AtomicLong mappings = new AtomicLong();
    private final AtomicLong movedBytes = new AtomicLong();

    /** The most bytes that were found in use at once. */
    private final AtomicLong peakUsedBytes = new AtomicLong();

    ArenaTotals(final Supplier<ArenaCounters[]> arenas) {
        this.arenas = arenas;
    }

    private long sum(final ToLongFunction<ArenaCounters> number) {
        long sum = 0;
        for (final ArenaCounters arena : arenas.get()) {
            sum += number.applyAsLong(arena);
        }
        return sum;
    }

    public long usedBytes() {
        return sum(USED_BYTES);
    }

    public long limboBytes() {
        return sum(ArenaCounters::limboBytes);
    }

    public long allocations() {
        return sum(ArenaCounters::allocations);
    }

    public long frees() {
        return sum(ArenaCounters::frees);
    }

    public long liveBlocks() {
        // Frees are read first, so that none is counted without its allocation.
        return Math.max(0, sum(arena -> -arena.frees() + arena.allocations()));
    }

    /**
     * Returns the most bytes that were in use: exact with one arena, which counts it; with several the most that any
     * call of this method has found, see {@link ArenaCounters}.
     */
    public long peakUsedBytes() {
        return peakUsedBytes(0);
    }

    /** Returns what {@link #peakUsedBytes()} would be with {@code moreBytes} in use in addition now. */
    public long peakUsedBytes(final long moreBytes) {
        final long usedBytes = usedBytes();
        // The first arena's peak is that of the time when it was alone.
        final long peakBytes = Math.max(usedBytes, arenas.get()[0].peakUsedBytes());
        if (peakBytes > peakUsedBytes.get()) {
            peakUsedBytes.accumulateAndGet(peakBytes, MAX);
        }
        return Math.max(peakUsedBytes.get(), usedBytes + moreBytes);
    }

    /**
     * Returns what all arenas together needed at most since the last call, or more: the sum counts each arena's peak,
     * whenever it was, and counts a block twice that one arena allocates and another frees.
     */
    public long takePeakNeeded() {
        return sum(ArenaCounters::takePeakNeeded);
    }

    /** Returns the bytes of memory behind all segments. */
    public long heldBytes() {
        return heldBytes.get();
    }

    /** Returns how often memory was taken, moved or given back. */
    public long mappings() {
        return mappings.get();
    }

    public long movedBytes() {
        return movedBytes.get();
    }

    public void moved(final long bytes) {
        if (bytes > 0) {
            movedBytes.addAndGet(bytes);
            mappings.incrementAndGet();
        }
    }

    /** Counts bytes that the pool has taken, or given back. */
    public void held(final long addedBytes) {
        if (addedBytes != 0) {
            heldBytes.addAndGet(addedBytes);
            mappings.incrementAndGet();
        }
    }
}
