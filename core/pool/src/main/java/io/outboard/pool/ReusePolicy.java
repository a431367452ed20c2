package io.outboard.pool;

/**
 * A reuse policy says when a pool may hand a freed block out again. {@code cudaFree} waits for the device, and programs
 * rely on that wait: they free right after a launch. A block that is handed on at once, to another stream, is
 * overwritten by the old owner's kernel.
 */
public enum ReusePolicy {

    /**
     * A block comes back after all work that was submitted to the device before it was freed, on any stream: as safe as
     * {@code cudaFree}. Freed blocks wait in limbo, in batches. A mark of the device's work covers all batches that
     * were closed before; when it has finished, they come back. The pool asks when much is in limbo, and when it needs
     * memory, and hardly anything waits. While a stream is captured into a graph nothing is marked, since that would
     * break the capture, and nothing comes back.
     */
    STRICT,

    /** This is an older name of {@link #STRICT}, the use of which is logged once. */
    TRACKED,

    /**
     * What {@link Pool#freeAsync} gives back comes back as in the driver's asynchronous pools: at once on the stream
     * that it was freed on, after a mark of that stream's work on others. {@link Pool#free} is as with {@link #STRICT}.
     */
    STREAM_ORDERED,

    /** A block comes back at once. The caller promises that no unfinished work uses what it frees. */
    IMMEDIATE
}
