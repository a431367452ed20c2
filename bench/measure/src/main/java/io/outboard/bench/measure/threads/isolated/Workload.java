package io.outboard.bench.measure.threads.isolated;

import java.util.function.LongConsumer;

/**
 * What threads do. Between rounds it keeps the blocks that are in use, and while none runs, anybody may free them. One
 * worker is one thread at a time.
 */
abstract class Workload {

    /** Operations between two looks at whether time is over. */
    static final int CHUNK = 64;

    /** What one worker did in one round. */
    static final class Tally {
        long operations;
        long garbageBytes;
        long cpuNs;
    }

    /** How many there are; they are numbered from 0. */
    abstract int workers();

    /**
     * Works until the round is over.
     *
     * @param blocks the worker's own
     * @param tally gets what was done
     */
    abstract void work(int worker, Blocks blocks, Round round, Tally tally) throws InterruptedException;

    /** Whether workers start other threads, and say in the tally what garbage and time these took. */
    boolean metersItself() {
        return false;
    }

    /** Forgets the blocks in use. No worker works. */
    abstract void forEachLeft(LongConsumer address);
}
