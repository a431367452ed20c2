package io.outboard.cuda;

import io.outboard.pool.PoolStatistics;

/**
 * This is what one of the facades' pools has done. Immutable, so safe for any number of threads.
 *
 * @param device number of its device among those that this process sees
 * @param statistics of the pool; as they were last, if its context has ended
 */
public record DeviceStatistics(int device, PoolStatistics statistics) {}
