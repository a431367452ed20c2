package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.Fields;
import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The counters of an arena. They are written under the arena's lock, which is this object, and read without the lock.
 * Each value is whole and recent, and nothing else is concluded from it. A block that is freed here may have been
 * counted as in use elsewhere, so only sums over all arenas are right; see {@link ArenaTotals}.
 */
abstract class ArenaCounters extends SpinLock {

    private static final VarHandle USED = handle("usedBytes");
    private static final VarHandle LIMBO = handle("limboBytes");
    private static final VarHandle PEAK = handle("peakUsedBytes");
    private static final VarHandle ALLOCATIONS = handle("allocations");
    private static final VarHandle FREES = handle("frees");

    private long usedBytes;
    private long limboBytes;
    private long peakUsedBytes;
    private long earlierPeakBytes;
    private long peakNeededBytes;
    private long allocations;
    private long frees;

    ArenaCounters(final Breakage breakage) {
        super(breakage);
    }

    private static VarHandle handle(final String field) {
        return Fields.handle(MethodHandles.lookup(), field, long.class);
    }

    final long usedBytes() {
        return (long) USED.getOpaque(this);
    }

    /** Returns the bytes in limbo, in this arena's batches and in blocks of this arena in streams' limbo. */
    public final long limboBytes() {
        return (long) LIMBO.getOpaque(this);
    }

    /** Returns the largest value that {@link #usedBytes} had. */
    final long peakUsedBytes() {
        return Math.max((long) PEAK.getOpaque(this), earlierPeakBytes);
    }

    final long allocations() {
        return (long) ALLOCATIONS.getOpaque(this);
    }

    final long frees() {
        return (long) FREES.getOpaque(this);
    }

    /**
     * Returns the most that was needed since the last call: bytes in use, and bytes in limbo that came back since. What
     * stays in limbo because no request asks for memory isn't needed.
     */
    final long takePeakNeeded() {
        lockAnyway();
        try {
            final long peak = Math.max(peakNeededBytes, peakUsedBytes);
            earlierPeakBytes = Math.max(earlierPeakBytes, peakUsedBytes);
            PEAK.setOpaque(this, usedBytes);
            peakNeededBytes = 0;
            return peak;
        } finally {
            taken = false;
        }
    }

    // The lock is held

    final void countAllocation() {
        ALLOCATIONS.setOpaque(this, allocations + 1);
    }

    final void countFree() {
        FREES.setOpaque(this, frees + 1);
    }

    /** Counts bytes that are in use from now on, or aren't; returns whether more are in use than ever. */
    final boolean countUsed(final long moreBytes) {
        final long used = usedBytes + moreBytes;
        USED.setOpaque(this, used);
        final boolean isPeak = used > peakUsedBytes;
        if (isPeak) {
            PEAK.setOpaque(this, used);
        }
        return isPeak;
    }

    /** Counts bytes that came into limbo, or left it. */
    final void countLimbo(final long moreBytes) {
        LIMBO.setOpaque(this, limboBytes + moreBytes);
    }

    /** Counts bytes that went from use to limbo. */
    final void countRetired(final long sizeBytes) {
        USED.setOpaque(this, usedBytes - sizeBytes);
        countLimbo(sizeBytes);
    }

    /**
     * Counts bytes that came out of limbo and are free. The arena needed what was in limbo, too, since these bytes
     * weren't free.
     */
    final void countReleased(final long sizeBytes) {
        peakNeededBytes = Math.max(peakNeededBytes, usedBytes + limboBytes);
        countLimbo(-sizeBytes);
    }

    /** Counts nothing as in use, nor in limbo. */
    final void clearCounters() {
        USED.setOpaque(this, 0L);
        LIMBO.setOpaque(this, 0L);
        FREES.setOpaque(this, allocations);
    }
}
