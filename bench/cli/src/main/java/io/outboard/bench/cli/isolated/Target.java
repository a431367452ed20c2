package io.outboard.bench.cli.isolated;

/**
 * What a trace's operations are done on. Its blocks live in numbered slots; which of them are in use only the trace
 * knows. Confined to one thread.
 */
public abstract class Target {

    /**
     * Allocates into a slot that isn't in use.
     *
     * @return whether there was memory
     */
    public abstract boolean allocate(int slot, long sizeBytes);

    /** Whether there was memory when a slot was last allocated into. */
    public abstract boolean wasServed(int slot);

    /** The trace begins anew. */
    public void step() {}

    /** Frees what is in a slot. */
    public abstract void free(int slot);
}
