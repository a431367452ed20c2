package io.outboard.bench.kernels;

/** What the usual run consists of, by what it is for. */
public enum PlanPart {
    /** Every case that allocators are to be judged by, for {@link Contender#isMain} alone. */
    MAIN,
    /** The table that published allocators were measured by, for all. */
    FAMILY,
    /** The points of the figures of Vinkler and Havran (2014), for those that they are about. */
    FIGURES
}
