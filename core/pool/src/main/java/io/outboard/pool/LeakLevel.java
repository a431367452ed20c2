package io.outboard.pool;

/**
 * A leak level says how much a pool does to find the {@link DeviceBuffer}s that nobody closed.
 *
 * <p>A buffer opened and closed costs, beyond its block and on JDK 25 (2026-11-20): {@link #OFF} an object of 48 bytes
 * and a branch; {@link #SAMPLED} some 80 nanoseconds and 110 bytes more, under a lock that all threads share; {@link
 * #ALL} 1.2 microseconds where the stack has 5 calls, 2.9 where it has 50, and up to some KiB.
 */
public enum LeakLevel {

    /** Nothing is reported: a buffer that is lost stays in use until its pool is closed. */
    OFF,

    /**
     * Every lost buffer is reported, and one in 64 of them, chosen at random, with the stack of its allocation. A walk
     * up the stack costs ten times what all else does; one in 64 makes that less than the rest, and a leak that matters
     * repeats: after 300 lost buffers its place is known with a probability of 99 %.
     */
    SAMPLED,

    /** Every lost buffer is reported with the stack of its allocation. This is for tests, and to find a known leak. */
    ALL
}
