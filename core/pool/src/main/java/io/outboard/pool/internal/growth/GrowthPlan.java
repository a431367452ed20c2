package io.outboard.pool.internal.growth;

import java.util.function.BooleanSupplier;

/**
 * How a pool is to grow.
 *
 * <p>Public for the pool's other packages, not for applications.
 *
 * @param firstBytes what it has at first, in bytes
 * @param limitBytes what it has at most, in bytes
 * @param inPlace whether in place where the source can
 * @param freeIsIdle makes sure that nothing works on free memory, so that it may move; false if that can't be done now
 */
public record GrowthPlan(long firstBytes, long limitBytes, boolean inPlace, BooleanSupplier freeIsIdle) {}
