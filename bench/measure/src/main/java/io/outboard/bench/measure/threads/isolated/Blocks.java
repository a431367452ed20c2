package io.outboard.bench.measure.threads.isolated;

/** Blocks are memory as one thread sees it. Confined to one thread at a time. */
abstract class Blocks {

    /** The value that stands for no block. */
    static final long NO_BLOCK = 0;

    /**
     * Allocates a block.
     *
     * @return its address, never {@link #NO_BLOCK}
     * @throws RuntimeException if there is no memory
     */
    abstract long allocate(long sizeBytes);

    /** Frees a block, whoever allocated it. */
    abstract void free(long address);
}
