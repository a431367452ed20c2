package io.outboard.pool.internal.arena;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;

/**
 * What the arenas of a pool have together, and what the pool holds for them: numbers that are read without stopping it.
 *
 * <p>Safe for any number of threads.
 */
public final class ArenaTotals {

    /** Linked ahead: what is in use is added up while a block is on its way out, which mustn't be lost. */
    private static final ToLongFunction<Arena> USED_BYTES = Arena::usedBytes;

    private final Arenas arenas;
    private final AtomicLong heldBytes = new AtomicLong();
    private final AtomicLong mappings = new AtomicLong();
    private final AtomicLong movedBytes = new AtomicLong();

    /** Most that was in use at once, as far as it was looked at. */
    private final AtomicLong peakUsedBytes = new AtomicLong();

    ArenaTotals(final Arenas arenas) {
        this.arenas = arenas;
    }

    private long sum(final ToLongFunction<Arena> number) {
        long sum = 0;
        for (final Arena arena : arenas.all()) {
            sum += number.applyAsLong(arena);
        }
        return sum;
    }

    public long usedBytes() {
        return sum(USED_BYTES);
    }

    public long limboBytes() {
        return sum(Arena::limboBytes);
    }

    public long allocations() {
        return sum(Arena::allocations);
    }

    public long frees() {
        return sum(Arena::frees);
    }

    public long liveBlocks() {
        // Frees are read first, so that none is counted without its allocation.
        return Math.max(0, sum(arena -> -arena.frees() + arena.allocations()));
    }

    /** With one arena exact, since that counts it; with several the most that was found whenever this was called: see {@link Arena}. */
    public long peakUsedBytes() {
        return peakUsedBytes(0);
    }

    /** What {@link #peakUsedBytes()} would be with so many more bytes in use now. */
    public long peakUsedBytes(final long moreBytes) {
        final long usedBytes = usedBytes();
        // What the first had before there were others, and added up.
        final long peakBytes = Math.max(usedBytes, arenas.arena(0).peakUsedBytes());
        if (peakBytes > peakUsedBytes.get()) {
            peakUsedBytes.accumulateAndGet(peakBytes, Math::max);
        }
        return Math.max(peakUsedBytes.get(), usedBytes + moreBytes);
    }

    /**
     * What all arenas together needed at most since this was asked the last time, or more: each arena's peak counts, whenever it was,
     * and what one arena allocates and another frees counts for both.
     */
    public long takePeakNeeded() {
        return sum(Arena::takePeakNeeded);
    }

    /** Of all segments. */
    public long heldBytes() {
        return heldBytes.get();
    }

    /** How often memory was taken, moved or given back. */
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

    /** The pool holds so much more. */
    public void held(final long addedBytes) {
        if (addedBytes != 0) {
            heldBytes.addAndGet(addedBytes);
            mappings.incrementAndGet();
        }
    }
}
