package io.outboard.bench.measure.threads.isolated;

/** Memory that is compared with all that is in use. */
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

    /** The mark goes first: as soon as the pool knows, another thread may have the block. */
    @Override
    void free(final long address) {
        shadow.freed(address);
        blocks.free(address);
    }
}
