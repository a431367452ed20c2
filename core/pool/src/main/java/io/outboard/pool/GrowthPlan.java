package io.outboard.pool;

import java.util.function.BooleanSupplier;

/**
 * How a pool is to grow.
 *
 * @param firstBytes what it has at first, in bytes
 * @param limitBytes what it has at most, in bytes
 * @param inPlace whether in place where the source can
 * @param freeIsIdle makes sure that nothing works on free memory, so that it may move; false if that can't be done now
 */
record GrowthPlan(long firstBytes, long limitBytes, boolean inPlace, BooleanSupplier freeIsIdle) {}
