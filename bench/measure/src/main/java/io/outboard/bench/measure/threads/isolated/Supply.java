package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;

/** Where threads' blocks come from. Safe for any number of threads. */
interface Supply extends AutoCloseable {

    /** Opens what the settings ask for. */
    static Supply open(final ThreadSettings settings) {
        return switch (settings.kind()) {
            case POOL -> PoolSupply.open(settings);
            case FACADE -> new FacadeSupply(settings);
            case CUDA_MALLOC, CU_MEM_ALLOC_ASYNC -> new DriverSupply(settings);
            case BARE -> new BareSupply();
        };
    }

    /** The same memory for one more thread. */
    Blocks blocks();

    /** What is held of the device, in bytes; 0 if that isn't known. */
    long heldBytes();

    /** What waits in limbo, in bytes; 0 if there is no such thing. */
    long limboBytes();

    /** Blocks in use; 0 if that isn't known. */
    long liveBlocks();

    /** Questions to the device so far; 0 if that isn't known. */
    long synchronizations();

    /** All blocks have been freed. */
    @Override
    void close();
}
