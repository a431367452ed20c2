package io.outboard.core;

/** A visitor sees the blocks of a region, one call a block. It must not call the strategy that it visits. */
@FunctionalInterface
public interface BlockVisitor {

    /**
     * Sees one block.
     *
     * @param address absolute device address of the block
     * @param sizeBytes size in bytes, a multiple of the granule
     * @param free true if the block is free, false if it is in use
     */
    void visit(long address, long sizeBytes, boolean free);
}
