package io.outboard.pool;

/**
 * A pool that found no memory for a request asks this handler before it gives up: a cache may drop entries, a program
 * may free what it can compute again.
 */
@FunctionalInterface
public interface OutOfMemoryHandler {

    /**
     * Frees something, if it can. It is called on the thread that asked for memory, without any lock held, so it may
     * call the pool.
     *
     * @param requestedBytes what was asked for, in bytes
     * @param statistics the pool's state
     * @return true to try again; the handler is then asked again if that fails too, so it must say false in the end
     */
    boolean free(long requestedBytes, PoolStatistics statistics);
}
