package io.outboard.bench.measure.soak;

import io.outboard.pool.ReusePolicy;

/**
 * The settings say what a soak does.
 *
 * @param threads how many, {@code 0 < threads}
 * @param seconds how long
 * @param policy when freed blocks may be handed out again
 * @param strategy name of the strategy
 * @param limitBytes most that the pool may hold
 * @param device number of the GPU, negative for a simulated device
 */
record SoakSettings(int threads, double seconds, ReusePolicy policy, String strategy, long limitBytes, int device) {

    static final long SMALLEST_BYTES = 256;
    static final long LARGEST_BYTES = 1L << 20;

    /** The most blocks of a thread. */
    static final int SLOTS = 64;

    /** The most bytes of a thread, so that the limit leaves room for limbo. */
    static final long LIVE_BYTES_A_THREAD = 8L << 20;

    /** Returns the default limit: four times what can be live, so that pools have to wait sometimes. */
    static long defaultLimitBytes(final int threads) {
        return 4L * threads * LIVE_BYTES_A_THREAD;
    }
}
