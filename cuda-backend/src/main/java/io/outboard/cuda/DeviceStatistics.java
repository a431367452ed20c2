package io.outboard.cuda;

import io.outboard.pool.PoolStatistics;

/**
 * This record tells what one of the facades' pools has done. Immutable, so safe for any number of threads.
 *
 * @param device number of its device among those that this process sees
 * @param statistics of the pool; if its context has ended, the last ones
 */
public record DeviceStatistics(int device, PoolStatistics statistics) {}
