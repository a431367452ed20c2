package io.outboard.core;

/** A visitor sees the large free blocks of a region, one call a block. It must not call the strategy that it visits. */
@FunctionalInterface
public interface FreeBlockVisitor {

    /**
     * Sees one free block.
     *
     * @param block names it, for {@link PartRetiringStrategy#retireFree}
     * @param address absolute device address of the block
     * @param sizeBytes size in bytes, a multiple of the granule
     */
    void visit(long block, long address, long sizeBytes);
}
