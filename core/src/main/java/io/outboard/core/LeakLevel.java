package io.outboard.core;

/** How much a pool does to find the {@link DeviceBuffer}s that nobody closed. What each level costs is said there. */
public enum LeakLevel {

    /** Nothing: a buffer that is lost stays in use until its pool is closed. */
    OFF,

    /**
     * Every lost buffer is reported, and the stack of its allocation with one in 64 of them, chosen at random so that a
     * program that allocates in a pattern can't hide a place from it. A walk up the stack costs more than all else that is
     * done for a buffer; one in 64 makes that small, and a leak that matters repeats: after 300 lost buffers its place is
     * known with a probability of 99 %.
     */
    SAMPLED,

    /** Every lost buffer is reported with the stack of its allocation. For tests, and for finding a known leak. */
    ALL
}
