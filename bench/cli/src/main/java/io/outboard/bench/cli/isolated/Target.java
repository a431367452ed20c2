package io.outboard.bench.cli.isolated;

/**
 * A target executes a trace's operations. Its blocks live in numbered slots; only the trace knows which slots are in
 * use. Confined to one thread.
 */
public abstract class Target {

    /**
     * Allocates into a slot that isn't in use.
     *
     * @return whether there was memory
     */
    public abstract boolean allocate(int slot, long sizeBytes);

    /** Tells whether there was memory when a slot was last allocated into. */
    public abstract boolean wasServed(int slot);

    /** Prepares the strategy for the next replay, once a replay has ended. */
    public void step() {}

    /** Frees the block in a slot. */
    public abstract void free(int slot);
}
