package io.outboard.bench.measure.threads.isolated;

import java.util.function.LongConsumer;

/**
 * A workload is what threads do. Between rounds it keeps the blocks that are in use, and while no round runs, anybody
 * may free them. A worker is one thread at a time.
 */
abstract class Workload {

    /** The number of operations between two checks whether the round is over. */
    static final int CHUNK = 64;

    /** A tally counts what one worker did in one round. */
    static final class Tally {
        long operations;
        long garbageBytes;
        long cpuNs;
    }

    /** Returns the number of workers; they are numbered from 0. */
    abstract int workers();

    /**
     * Works until the round is over.
     *
     * @param blocks the worker's own
     * @param tally receives what was done
     */
    abstract void work(int worker, Blocks blocks, Round round, Tally tally) throws InterruptedException;

    /**
     * Returns whether workers start other threads, and count the garbage and the time of those threads in the tally.
     */
    boolean metersItself() {
        return false;
    }

    /** Hands over all blocks in use, and forgets them. No worker runs meanwhile. */
    abstract void forEachLeft(LongConsumer address);
}
