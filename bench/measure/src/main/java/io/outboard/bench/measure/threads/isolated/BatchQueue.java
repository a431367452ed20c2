package io.outboard.bench.measure.threads.isolated;

import org.jspecify.annotations.Nullable;

/**
 * A queue passes batches of addresses between threads. The queue is a mutex and a stack, as in the benchmark that
 * {@link BatchWorkload} follows. Safe for any number of threads; no garbage.
 */
final class BatchQueue {

    /** The time after which a waiting thread checks whether the round is over. */
    private static final long WAIT_MILLIS = 2;

    private final long[][] batches;
    private int count;

    BatchQueue(final int capacity) {
        batches = new long[capacity][];
    }

    /** Puts a batch; there must be room for it. */
    synchronized void put(final long[] batch) {
        batches[count++] = batch;
        notify();
    }

    /** Takes the batch that was put last, or waits for one; null when the round is over. */
    synchronized long @Nullable [] take(final Round round) throws InterruptedException {
        while (count == 0) {
            if (round.isOver()) {
                return null;
            }
            wait(WAIT_MILLIS);
        }
        return batches[--count];
    }

    /** Takes a batch without waiting; null if there is none. */
    synchronized long @Nullable [] takeNow() {
        return count == 0 ? null : batches[--count];
    }
}
