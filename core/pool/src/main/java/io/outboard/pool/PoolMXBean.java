package io.outboard.pool;

import java.io.IOException;

/**
 * A {@link Pool} as JMX clients see it, under {@code io.outboard:type=Pool,name=...}: the numbers of
 * {@link PoolStatistics}, and two operations. A pool that {@link PoolBuilder#name} gives a name to is registered with the
 * platform's MBean server until it is closed; the server refers to it, so it isn't collected before.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: reading never stops the pool, but for
 * {@link #getLargestFreeBlockBytes}. Names begin with {@code get} since
 * JMX makes attributes of such methods only.
 */
public interface PoolMXBean {

    /**
     * See {@link PoolStatistics#regions}.
     *
     * @return how many
     */
    int getRegions();

    /**
     * See {@link PoolStatistics#heldBytes}.
     *
     * @return bytes
     */
    long getHeldBytes();

    /**
     * See {@link PoolStatistics#limitBytes}.
     *
     * @return bytes, -1 if only the device limits the pool
     */
    long getLimitBytes();

    /**
     * See {@link PoolStatistics#usedBytes}.
     *
     * @return bytes
     */
    long getUsedBytes();

    /**
     * See {@link PoolStatistics#limboBytes}.
     *
     * @return bytes
     */
    long getLimboBytes();

    /**
     * See {@link PoolStatistics#freeBytes}.
     *
     * @return bytes
     */
    long getFreeBytes();

    /**
     * See {@link PoolStatistics#peakUsedBytes}.
     *
     * @return bytes
     */
    long getPeakUsedBytes();

    /**
     * See {@link PoolStatistics#liveBlocks}.
     *
     * @return how many
     */
    long getLiveBlocks();

    /**
     * See {@link PoolStatistics#allocations}.
     *
     * @return how many
     */
    long getAllocations();

    /**
     * See {@link PoolStatistics#synchronizations}.
     *
     * @return how many
     */
    long getSynchronizations();

    /**
     * See {@link PoolStatistics#mappings}.
     *
     * @return how often
     */
    long getMappings();

    /**
     * See {@link PoolStatistics#movedBytes}.
     *
     * @return bytes
     */
    long getMovedBytes();

    /**
     * See {@link PoolStatistics#failures}.
     *
     * @return how many
     */
    long getFailures();

    /**
     * See {@link PoolStatistics#leaks}.
     *
     * @return how many
     */
    long getLeaks();

    /**
     * When freed blocks may be handed out again.
     *
     * @return the {@link ReusePolicy} as options name it, such as {@code stream-ordered}
     */
    String getPolicy();

    /**
     * What divides regions.
     *
     * @return name of the strategy, such as {@code tlsf}
     */
    String getStrategy();

    /**
     * See {@link Pool#largestFreeBlockBytes}: other than the rest, it stops the pool for that long.
     *
     * @return bytes, 0 if no block is free
     */
    long getLargestFreeBlockBytes();

    /**
     * Writes the pool's state to a file of the machine that the pool runs on, in the folder that {@link PoolBuilder#dumpFolder} names. See
     * {@link Pool#dump}.
     *
     * @param fileName its name, without a folder: ASCII letters, digits, {@code .}, {@code _} and {@code -}, and no {@code .} or
     *     {@code -} first; what has that name in the folder is replaced
     * @return the file's path
     * @throws IllegalStateException if no folder is configured; nothing is written
     * @throws IllegalArgumentException if the name has other characters; nothing is written
     * @throws IOException if it can't be written; what is there may be incomplete
     */
    String dump(String fileName) throws IOException;

    /**
     * Gives memory back. See {@link Pool#trimTo}.
     *
     * @param bytes what the pool may keep, in bytes, {@code 0 <= bytes}
     * @return what it holds now, in bytes
     * @throws IllegalArgumentException if {@code bytes < 0}; nothing changes
     */
    long trimTo(long bytes);
}
