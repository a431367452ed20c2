package io.outboard.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A pool's counters: written under the pool's lock, read without it. Opaque accesses are enough for that: each number is
 * whole and recent, and nothing else is concluded from it.
 */
final class PoolCounters {

    private static final int HELD = 0;
    private static final int REGIONS = 1;
    private static final int USED = 2;
    private static final int LIMBO = 3;
    private static final int PEAK_USED = 4;
    private static final int LIVE_BLOCKS = 5;
    private static final int ALLOCATIONS = 6;
    private static final int SYNCHRONISATIONS = 7;
    private static final int RECYCLED = 8;

    private static final VarHandle VALUES = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] values = new long[RECYCLED + 1];

    void allocated(final long sizeBytes) {
        set(ALLOCATIONS, values[ALLOCATIONS] + 1);
        set(LIVE_BLOCKS, values[LIVE_BLOCKS] + 1);
        resized(sizeBytes);
    }

    /** A block left limbo to be used again. */
    void reused(final long sizeBytes, final long limboBytes) {
        allocated(sizeBytes);
        set(LIMBO, limboBytes);
    }

    void freed(final long sizeBytes, final long limboBytes) {
        set(LIVE_BLOCKS, values[LIVE_BLOCKS] - 1);
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

    void held(final long regions, final long bytes) {
        set(REGIONS, regions);
        set(HELD, bytes);
    }

    /** Every region was given back: nothing is in use any more. */
    void ended() {
        held(0, 0);
        set(USED, 0);
        set(LIMBO, 0);
        set(LIVE_BLOCKS, 0);
    }

    /** A batch came back from limbo. */
    void recycled(final long limboBytes) {
        set(RECYCLED, values[RECYCLED] + 1);
        set(LIMBO, limboBytes);
    }

    /** Not under the pool's lock but under the one that guards synchronising. */
    void synchronised() {
        set(SYNCHRONISATIONS, values[SYNCHRONISATIONS] + 1);
    }

    long heldBytes() {
        return get(HELD);
    }

    long usedBytes() {
        return get(USED);
    }

    long peakUsedBytes() {
        return get(PEAK_USED);
    }

    long liveBlocks() {
        return get(LIVE_BLOCKS);
    }

    long recycled() {
        return get(RECYCLED);
    }

    PoolStatistics statistics(final long limitBytes) {
        return new PoolStatistics(
                (int) get(REGIONS),
                get(HELD),
                limitBytes,
                get(USED),
                get(LIMBO),
                get(PEAK_USED),
                get(LIVE_BLOCKS),
                get(ALLOCATIONS),
                get(SYNCHRONISATIONS));
    }

    private void set(final int counter, final long value) {
        VALUES.setOpaque(values, counter, value);
    }

    private long get(final int counter) {
        return (long) VALUES.getOpaque(values, counter);
    }
}
