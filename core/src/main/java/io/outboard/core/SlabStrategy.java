package io.outboard.core;

/**
 * This strategy serves small requests from slabs, blocks that it divides among objects of one size.
 *
 * <p>A free object serves its size alone. So where a small request finds nothing, a larger one may still find memory,
 * unlike with other strategies, and no walk but {@link #forEachUndivided} shows what is free for a large request. All
 * else is as {@link Strategy} says.
 */
public interface SlabStrategy extends Strategy {

    /**
     * Shows blocks, in order of address, as a large request finds them: a slab is one block, not free if any object in
     * it is in use or retired, and free otherwise. O(blocks).
     *
     * @param visitor sees each block; it must not call this strategy
     */
    void forEachUndivided(BlockVisitor visitor);

    /**
     * Shows the blocks of any strategy as a large request finds them: {@link #forEachUndivided} or, without slabs,
     * {@link #forEachBlock}.
     *
     * @param strategy whose blocks
     * @param visitor sees each block; it must not call the strategy
     */
    static void forEachUndivided(final Strategy strategy, final BlockVisitor visitor) {
        if (strategy instanceof SlabStrategy slabs) {
            slabs.forEachUndivided(visitor);
        } else {
            strategy.forEachBlock(visitor);
        }
    }

    /**
     * Tells that the region can't be made larger. Slabs that are kept for later become free memory, and for some time a
     * request takes what it needs and no more.
     */
    void makeDo();
}
