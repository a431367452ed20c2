package io.outboard.pool;

import java.io.IOException;

/**
 * A pool MXBean is a {@link Pool} as JMX clients see it, under {@code io.outboard:type=Pool,name=...}: the numbers of
 * {@link PoolStatistics}, and two operations. A pool that {@link PoolBuilder#name} gives a name to is registered with
 * the platform's MBean server until it is closed; the server refers to it, so it isn't collected before.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: reading never stops the pool, but for {@link
 * #getLargestFreeBlockBytes}.
 */
public interface PoolMXBean {

    /** {@return {@link PoolStatistics#regions}} */
    int getRegions();

    /** {@return {@link PoolStatistics#heldBytes}, in bytes} */
    long getHeldBytes();

    /** {@return {@link PoolStatistics#limitBytes}, in bytes; -1 if only the device limits the pool} */
    long getLimitBytes();

    /** {@return {@link PoolStatistics#usedBytes}, in bytes} */
    long getUsedBytes();

    /** {@return {@link PoolStatistics#limboBytes}, in bytes} */
    long getLimboBytes();

    /** {@return {@link PoolStatistics#freeBytes}, in bytes} */
    long getFreeBytes();

    /** {@return {@link PoolStatistics#peakUsedBytes}, in bytes} */
    long getPeakUsedBytes();

    /** {@return {@link PoolStatistics#liveBlocks}} */
    long getLiveBlocks();

    /** {@return {@link PoolStatistics#allocations}} */
    long getAllocations();

    /** {@return {@link PoolStatistics#synchronizations}} */
    long getSynchronizations();

    /** {@return {@link PoolStatistics#mappings}} */
    long getMappings();

    /** {@return {@link PoolStatistics#movedBytes}, in bytes} */
    long getMovedBytes();

    /** {@return {@link PoolStatistics#failures}} */
    long getFailures();

    /** {@return {@link PoolStatistics#leaks}} */
    long getLeaks();

    /** {@return the {@link ReusePolicy} as options name it, such as {@code stream-ordered}} */
    String getPolicy();

    /** {@return name of the strategy that divides regions, such as {@code tlsf}} */
    String getStrategy();

    /** {@return {@link Pool#largestFreeBlockBytes}, in bytes, 0 if no block is free; to look stops the pool} */
    long getLargestFreeBlockBytes();

    /**
     * Writes the pool's state as {@link Pool#dump} does, to a file in the folder of {@link PoolBuilder#dumpFolder}, on
     * the machine that the pool runs on.
     *
     * @param fileName its name, without a folder: ASCII letters, digits, {@code .}, {@code _} and {@code -}, and no
     *     {@code .} or {@code -} first; what has that name in the folder is replaced
     * @return the file's path
     * @throws IllegalStateException if no folder is configured; nothing is written
     * @throws IllegalArgumentException if the name has other characters; nothing is written
     * @throws IOException if it can't be written; what is there may be incomplete
     */
    String dump(String fileName) throws IOException;

    /**
     * Gives memory back, as {@link Pool#trimTo} does.
     *
     * @param bytes what the pool may keep, in bytes, {@code 0 <= bytes}
     * @return what it holds now, in bytes
     * @throws IllegalArgumentException if {@code bytes < 0}; nothing changes
     */
    long trimTo(long bytes);
}
