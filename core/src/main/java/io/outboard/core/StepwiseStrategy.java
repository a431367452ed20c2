package io.outboard.core;

/**
 * This strategy is for programs that repeat a step, as a rule the same sizes in the same order. It is told when a step
 * begins.
 *
 * <p>Where nothing is in use any more, the strategy places blocks as a new one does only after {@link #step}. All else
 * is as {@link Strategy} says.
 */
public interface StepwiseStrategy extends Strategy {

    /** Begins a step. Blocks that are in use stay so. O(1). */
    void step();

    /**
     * Takes the last allocation back, as if that had never been: for a pool that can't use the block where it lies.
     * Its caller is trusted.
     *
     * @param address what {@link #allocate} returned last, nothing having been called since
     */
    void takeBack(long address);
}
