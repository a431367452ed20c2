package io.outboard.bench.measure.soak;

import io.outboard.pool.PoolStatistics;

/**
 * A session does what one thread of a soak does with memory. Confined to one thread; blocks may go from thread to
 * thread.
 *
 * @param <B> a block
 */
interface Session<B> {

    /**
     * Allocates a block, and checks that nobody else uses it.
     *
     * @throws IllegalStateException if somebody does
     */
    B allocate(long sizeBytes);

    /** Launches work on the block, unless the device has too much to do already. */
    void use(B block, long kernelNs);

    /** Checks the block's content where it has one, and frees the block while the device still works on it. */
    void free(B block);

    /** Returns the block's size in bytes. */
    long sizeBytes(B block);

    /**
     * The shared part has the device, the pool and the record of uses. Safe for any number of threads.
     *
     * @param <B> a block
     */
    interface Shared<B> extends AutoCloseable {

        /** Opens a session for the calling thread. */
        Session<B> open();

        /** Returns the statistics of the pool. */
        PoolStatistics statistics();

        /** Returns the most bytes that were in use at once, as requested. */
        long peakLiveBytes();

        /**
         * Waits for the device and returns all memory; all blocks were freed before.
         *
         * @throws IllegalStateException if something is left
         */
        void end();

        @Override
        void close();
    }
}
