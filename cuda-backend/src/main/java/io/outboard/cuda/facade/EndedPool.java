package io.outboard.cuda.facade;

import io.outboard.pool.PoolStatistics;

/** What is kept of a pool whose context is gone. */
record EndedPool(int device, PoolStatistics statistics) {}
