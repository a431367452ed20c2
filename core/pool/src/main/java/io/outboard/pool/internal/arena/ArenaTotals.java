package io.outboard.pool.internal.arena;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the arenas of a pool have together, and what the pool holds for them: numbers that are read without stopping it.
 *
 * <p>Safe for any number of threads; who may write says each.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class ArenaTotals {

    private final Arenas arenas;

    /** Of all segments, in bytes; written under the region lock. */
    private volatile long heldBytes;

    /** Most that was in use at once, as far as it was looked at. */
    private final AtomicLong peakUsedBytes = new AtomicLong();

    /** So far; written under the region lock. */
    private volatile long mappings;

    /** As {@link #mappings}. */
    private volatile long movedBytes;

    ArenaTotals(final Arenas arenas) {
        this.arenas = arenas;
    }

    /** Adds up the arenas; the most that was found so far is the peak. */
    void notePeak() {
        // What one arena had at its own peak was in use then, whatever the others had.
        final long usedBytes = Math.max(usedBytes(), arenas.first().peakUsedBytes());
        for (long before = peakUsedBytes.get(); usedBytes > before; before = peakUsedBytes.get()) {
            if (peakUsedBytes.compareAndSet(before, usedBytes)) {
                break;
            }
        }
    }

    public long usedBytes() {
        long bytes = 0;
        for (final Arena arena : arenas.all()) {
            bytes += arena.usedBytes();
        }
        return bytes;
    }

    public long limboBytes() {
        long bytes = 0;
        for (final Arena arena : arenas.all()) {
            bytes += arena.limboBytes();
        }
        return bytes;
    }

    /** With one arena exact, since that counts it; with several the most of regular samples. */
    public long peakUsedBytes() {
        if (arenas.count() == 1) {
            return arenas.first().peakUsedBytes();
        }
        notePeak();
        return peakUsedBytes.get();
    }

    /**
     * What all arenas together needed at most since this was asked the last time, or more: each arena's peak counts, whenever it was,
     * and what one arena allocates and another frees counts for both.
     */
    public long takePeakNeeded() {
        long bytes = 0;
        for (final Arena arena : arenas.all()) {
            arena.lockAnyway();
            try {
                bytes += arena.takePeakNeeded();
            } finally {
                arena.taken = false;
            }
        }
        return bytes;
    }

    public long allocations() {
        long sum = 0;
        for (final Arena arena : arenas.all()) {
            sum += arena.allocations();
        }
        return sum;
    }

    public long frees() {
        long sum = 0;
        for (final Arena arena : arenas.all()) {
            sum += arena.frees();
        }
        return sum;
    }

    public long liveBlocks() {
        long sum = 0;
        for (final Arena arena : arenas.all()) {
            // In this order, so that no free is counted without its allocation.
            sum -= arena.frees();
            sum += arena.allocations();
        }
        return Math.max(0, sum);
    }

    public long heldBytes() {
        return heldBytes;
    }

    public long mappings() {
        return mappings;
    }

    public long movedBytes() {
        return movedBytes;
    }

    /** The region lock is held. */
    public void moved(final long bytes) {
        if (bytes > 0) {
            final long before = movedBytes;
            movedBytes = before + bytes;
            countMapping();
        }
    }

    /** The pool holds so much more. The region lock is held. */
    public void held(final long addedBytes) {
        final long before = heldBytes;
        heldBytes = before + addedBytes;
        if (addedBytes != 0) {
            countMapping();
        }
    }

    private void countMapping() {
        final long before = mappings;
        mappings = before + 1;
    }
}
