package io.outboard.pool.internal.arena;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * An arena's counters: written under its lock, read without it. Opaque accesses are enough for that: each number is whole and
 * recent, and nothing else is concluded from it. What is freed on one arena may have been counted as in use on another: sums
 * over all arenas are right, an arena's own numbers need not be.
 */
final class PoolCounters {

    private static final int USED = 0;
    private static final int LIMBO = 1;
    private static final int PEAK_USED = 2;
    private static final int ALLOCATIONS = 3;
    private static final int FREES = 4;
    private static final int EARLIER_PEAK_USED = 5;
    private static final int PEAK_NEEDED = 6;

    private static final VarHandle VALUES = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] values = new long[PEAK_NEEDED + 1];

    void allocated(final long sizeBytes) {
        set(ALLOCATIONS, values[ALLOCATIONS] + 1);
        resized(sizeBytes);
    }

    /** A block left limbo to be used again. */
    void reused(final long sizeBytes, final long limboBytes) {
        allocated(sizeBytes);
        set(LIMBO, limboBytes);
    }

    void freed(final long sizeBytes, final long limboBytes) {
        ended();
        left(sizeBytes, limboBytes);
    }

    /** A block was freed; its bytes count as in use until {@link #left}. */
    void ended() {
        set(FREES, values[FREES] + 1);
    }

    /** So many bytes aren't in use any more. */
    void left(final long sizeBytes, final long limboBytes) {
        set(USED, values[USED] - sizeBytes);
        set(LIMBO, limboBytes);
    }

    /** A block in use has so many bytes more. */
    void resized(final long moreBytes) {
        final long used = values[USED] + moreBytes;
        set(USED, used);
        if (used > values[PEAK_USED]) {
            set(PEAK_USED, used);
        }
    }

    /**
     * Most that was in use since this was asked the last time, with what was in limbo before it came back: that is needed, too.
     * What stays in limbo since nobody asks for memory isn't. The arena's lock is held.
     */
    long takePeakNeeded() {
        final long peak = Math.max(values[PEAK_NEEDED], values[PEAK_USED]);
        set(EARLIER_PEAK_USED, Math.max(values[EARLIER_PEAK_USED], values[PEAK_USED]));
        set(PEAK_USED, values[USED]);
        values[PEAK_NEEDED] = 0;
        return peak;
    }

    /** Something came back from limbo. */
    void limbo(final long limboBytes) {
        values[PEAK_NEEDED] = Math.max(values[PEAK_NEEDED], values[USED] + values[LIMBO]);
        set(LIMBO, limboBytes);
    }

    /** Every region was given back: nothing is in use any more. */
    void closed() {
        set(USED, 0);
        set(LIMBO, 0);
        set(FREES, values[ALLOCATIONS]);
    }

    long usedBytes() {
        return get(USED);
    }

    long limboBytes() {
        return get(LIMBO);
    }

    /** Most that {@link #usedBytes} was. */
    long peakUsedBytes() {
        return Math.max(get(PEAK_USED), get(EARLIER_PEAK_USED));
    }

    long allocations() {
        return get(ALLOCATIONS);
    }

    long frees() {
        return get(FREES);
    }

    private void set(final int counter, final long value) {
        VALUES.setOpaque(values, counter, value);
    }

    private long get(final int counter) {
        return (long) VALUES.getOpaque(values, counter);
    }
}
