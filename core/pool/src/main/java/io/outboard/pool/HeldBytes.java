package io.outboard.pool;

import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.growth.Regions;

/**
 * One rule bounds how much a pool holds. The <em>slack</em> of a pool is how much the pool may hold beyond what is in
 * use, over all its arenas, before it asks the device what has finished.
 *
 * <ol>
 *   <li>Up to its slack, or its first region, a pool takes memory rather than ask the device. While the pool holds no
 *       more than its slack in all, in use or not, it may take memory ahead of need, see {@link PoolBuilder#growAhead}.
 *   <li>Above that bound the pool asks first. Blocks that the device has finished with come back from limbo, and the
 *       pool takes no memory as long as these blocks serve the requests.
 *   <li>If a request still doesn't fit in its thread's arena, the pool grows so that threads have room of their
 *       own: as far as rule 4 allows, but no further than to the peak in use plus 32 times the slack. Beyond that bound
 *       other arenas serve the request first.
 *   <li>If a request fits nowhere, or waits for a device that is busy, the pool grows to the larger of twice the
 *       peak in use plus slack, and an eighth of what limit and device allow.
 *   <li>Above the bound of rule 4 the pool grows, up to the limit, only when no block is left to come back from limbo.
 * </ol>
 *
 * <p>The default slack is a 128th of what limit and device allow, at least 64 MiB and at most 2 GiB, but never more
 * than an eighth of what they allow. The slack is 0 while others who share the memory wait for some, and for a second
 * after.
 *
 * <p>Safe for any number of threads.
 */
final class HeldBytes {

    /** The value that stands for the slack that suits the device. */
    static final long DEFAULT_SLACK = -1;

    private static final long LEAST_SLACK = 64L << 20;

    /** The most slack by default. Only what a test or a plan takes for a device would have more. */
    private static final long MOST_DEFAULT_SLACK = 2L << 30;

    /** The most slack that a pool takes, so that sums don't overflow. */
    private static final long MOST_SLACK = 1L << 56;

    private static final long SLACK_SHARE = 128;
    private static final long LIMIT_SHARE = 8;

    /**
     * The factor of rule 3. With 32, sixteen threads with blocks of 16 to 256 MiB do 26 million operations a second and
     * hold 30 GiB; with 16, 12 million and 24 GiB; with 8, 5 million and 19 GiB. With smaller blocks it makes no
     * difference (H100, 2026-11-27).
     */
    private static final long IDLE_SLACKS = 32;

    /** The time after others have asked for memory in which the slack is nothing. */
    private static final long PRESSED_NANOS = 1_000_000_000L;

    private final Arenas arenas;
    private final Regions regions;
    private final long firstRegionBytes;
    private final long configuredSlackBytes;
    private boolean isKnown;
    private volatile long pressedNanos = System.nanoTime() - PRESSED_NANOS;

    HeldBytes(final Arenas arenas, final Regions regions, final long firstRegionBytes, final long slackBytes) {
        this.arenas = arenas;
        this.regions = regions;
        this.firstRegionBytes = firstRegionBytes;
        configuredSlackBytes = slackBytes;
    }

    /** Returns the slack that arenas divide before the device's size is known. */
    static long firstSlackBytes(final long slackBytes) {
        return slackBytes == DEFAULT_SLACK ? LEAST_SLACK : Math.min(slackBytes, MOST_SLACK);
    }

    /** Learns the device's size. */
    private synchronized void learn() {
        if (!isKnown) {
            final long mostBytes = regions.mostBytes();
            final long wantedBytes = configuredSlackBytes == DEFAULT_SLACK
                    ? Math.min(
                            Math.max(LEAST_SLACK, Math.min(mostBytes / SLACK_SHARE, MOST_DEFAULT_SLACK)),
                            mostBytes / LIMIT_SHARE)
                    : Math.min(configuredSlackBytes, MOST_SLACK);
            arenas.slackBytes(wantedBytes);
            arenas.mostBytes(mostBytes);
            isKnown = true;
        }
    }

    private long slackBytes() {
        if (!isKnown) {
            learn();
        }
        return System.nanoTime() - pressedNanos < PRESSED_NANOS ? 0 : arenas.slackBytes();
    }

    /** Tells that others who share the memory wait for some. */
    void pressed() {
        pressedNanos = System.nanoTime();
    }

    /**
     * Returns how many bytes the pool may hold ahead of any request: its slack. Blocks share the pieces of steps, and a
     * piece moves only when all of it is free. When all memory was taken by such steps, a large block was refused
     * though enough was free (H200, 2026-11-27).
     */
    long ahead() {
        return slackBytes();
    }

    /** Returns how many bytes the pool may hold for a request without a question to the device. */
    long withinSlack(final long sizeBytes) {
        return Math.max(arenas.totals.usedBytes() + sizeBytes + slackBytes(), firstRegionBytes);
    }

    /**
     * Returns how many bytes the pool may hold for a request though other arenas may have room, so that threads have
     * room of their own.
     */
    long whileIdle(final long sizeBytes) {
        return Math.min(peakBytes(sizeBytes) + IDLE_SLACKS * slackBytes(), whileBusy(sizeBytes));
    }

    /** Returns how many bytes the pool may hold for a request while something may come back. */
    long whileBusy(final long sizeBytes) {
        return Math.max(2 * peakBytes(sizeBytes) + slackBytes(), regions.mostBytes() / LIMIT_SHARE);
    }

    private long peakBytes(final long sizeBytes) {
        return Math.min(arenas.totals.peakUsedBytes(sizeBytes), MOST_SLACK);
    }
}
