package io.outboard.bench.isolated;

/**
 * What a trace's operations are done on. Its blocks live in numbered slots; which of them are in use only the trace knows.
 * Confined to one thread.
 */
abstract class Target {

    /**
     * Allocates into a slot that isn't in use.
     *
     * @return whether there was memory
     */
    abstract boolean allocate(int slot, long sizeBytes);

    /** Whether there was memory when a slot was last allocated into. */
    abstract boolean wasServed(int slot);

    /** The trace begins anew. */
    void step() {}

    /** Frees what is in a slot. */
    abstract void free(int slot);
}
