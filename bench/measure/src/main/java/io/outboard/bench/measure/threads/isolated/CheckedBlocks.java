package io.outboard.bench.measure.threads.isolated;

/** The class compares each block with all that are in use. */
final class CheckedBlocks extends Blocks {

    private final Blocks blocks;
    private final Shadow shadow;

    CheckedBlocks(final Blocks blocks, final Shadow shadow) {
        this.blocks = blocks;
        this.shadow = shadow;
    }

    @Override
    long allocate(final long sizeBytes) {
        final long address = blocks.allocate(sizeBytes);
        shadow.allocated(address, sizeBytes);
        return address;
    }

    /** Clears the mark before the free: as soon as the pool has the block, another thread may get it. */
    @Override
    void free(final long address) {
        shadow.freed(address);
        blocks.free(address);
    }
}
