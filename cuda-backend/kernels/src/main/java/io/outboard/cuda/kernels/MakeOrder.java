package io.outboard.cuda.kernels;

/**
 * When a kernel that makes an object of an {@link ObjectHeap} takes a free block, rather than a place in a block that
 * has objects of the type already. Objects that lie in fewer blocks need less memory, and visits to all of them take
 * less time; but threads that look for places in the same blocks get into each other's way.
 *
 * <p>A block is <i>active</i> if an eighth of its places is free, or at least one of fewer than 16. Blocks with less
 * room are used when no other block is left. In each order a warp first tries the block where it has made an object
 * last.
 */
public enum MakeOrder {

    /**
     * A free block is taken when a warp finds no active one near: first among the 64 blocks at its place, then among the
     * 4,096 around it; and also where so few of those are active that warps would meet there, or after three that other
     * threads were faster at. This is the default. With the other orders, steps of some programs took up to 1.9 times as
     * long, without the lists; some programs needed less than half of the memory (H200, 2026-11-28).
     */
    NEAR_FIRST(0),

    /**
     * A free block is taken when no active block is found in the whole heap, or when other threads were faster at as
     * many active blocks as the heap has blocks.
     */
    ACTIVE_FIRST(1),

    /**
     * The order of Springer 2019, algorithm 1: as {@link #ACTIVE_FIRST}, and each block with a free place is active. The
     * paper's loop has no end when memory has run out; this one has.
     */
    PAPER(2);

    /** The value in kernels. */
    final int number;

    MakeOrder(final int number) {
        this.number = number;
    }
}
