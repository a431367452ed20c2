package io.outboard.bench.kernels;

/** The parts of the usual run differ in what they are for. */
public enum PlanPart {
    /** The cases by which allocators are judged, for {@link Contender#isMain} alone. */
    MAIN,
    /** The table by which published allocators were measured, for all contenders. */
    FAMILY
}
