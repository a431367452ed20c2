package io.outboard.core;

/**
 * A strategy for programs that repeat a step: the same sizes in the same order, as a rule. It is told when a step
 * begins.
 *
 * <p>Where nothing is in use any more it places blocks as a new one does only after {@link #step}. Otherwise as {@link
 * Strategy}.
 */
public interface StepwiseStrategy extends Strategy {

    /** A step begins. Blocks that are in use stay so. O(1). */
    void step();

    /**
     * Takes the last allocation back, as if it had never been: for a pool that can't use the block where it is. Its
     * caller is trusted.
     *
     * @param address what {@link #allocate} returned last, nothing having been called since
     */
    void takeBack(long address);
}
