package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;

/** A supply is where threads get their blocks. Safe for any number of threads. */
interface Supply extends AutoCloseable {

    /** Opens the supply that the settings ask for. */
    static Supply open(final ThreadSettings settings) {
        return switch (settings.kind()) {
            case POOL -> PoolSupply.open(settings);
            case FACADE -> new FacadeSupply(settings);
            case CUDA_MALLOC, CU_MEM_ALLOC_ASYNC -> new DriverSupply(settings);
            case BARE -> new BareSupply();
        };
    }

    /** Returns the blocks for one more thread. */
    Blocks blocks();

    /** Returns the bytes that are held of the device; 0 if that isn't known. */
    long heldBytes();

    /** Returns the bytes in limbo; 0 if there is no limbo. */
    long limboBytes();

    /** Returns the number of blocks in use; 0 if that isn't known. */
    long liveBlocks();

    /** Returns how often the device was asked so far; 0 if that isn't known. */
    long synchronizations();

    /** Closes the supply; all blocks have been freed before. */
    @Override
    void close();
}
