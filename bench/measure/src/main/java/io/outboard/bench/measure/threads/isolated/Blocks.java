package io.outboard.bench.measure.threads.isolated;

/** Memory as one thread sees it. Confined to one thread at a time. */
abstract class Blocks {

    /** Instead of a block's address. */
    static final long NO_BLOCK = 0;

    /**
     * Takes a block.
     *
     * @return its address, never {@link #NO_BLOCK}
     * @throws RuntimeException if there is no memory
     */
    abstract long allocate(long sizeBytes);

    /** Gives a block back, whoever allocated it. */
    abstract void free(long address);
}
