package io.outboard.bench.measure.soak;

import io.outboard.pool.PoolStatistics;

/**
 * What one thread of a soak does with memory. Confined to one thread; blocks may go from thread to thread.
 *
 * @param <B> a block
 */
interface Session<B> {

    /**
     * Takes a block, and checks that nobody else uses it.
     *
     * @throws IllegalStateException if somebody does
     */
    B allocate(long sizeBytes);

    /** Lets the device work on a block, in vain if it has too much to do already. */
    void use(B block, long kernelNs);

    /** Checks the block's content where it has one, and frees it while the device still works on it. */
    void free(B block);

    /** Its size in bytes. */
    long sizeBytes(B block);

    /**
     * The device, the pool and the record of uses, which the threads share. Safe for any number of threads.
     *
     * @param <B> a block
     */
    interface Shared<B> extends AutoCloseable {

        /** For one more thread, which calls it itself. */
        Session<B> open();

        /** Of the pool. */
        PoolStatistics statistics();

        /** Bytes that are in use, as requested, at most. */
        long peakLiveBytes();

        /**
         * Waits for the device and takes everything back; all blocks were freed.
         *
         * @throws IllegalStateException if something is left
         */
        void end();

        @Override
        void close();
    }
}
