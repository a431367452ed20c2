package io.outboard.bench.cli.tail;

import io.outboard.bench.cli.common.Latencies;

/**
 * A tail bench runs a trace's operations in a loop, with a clock around each, on one strategy or on nothing. It is made
 * of classes of its own, see {@link io.outboard.bench.cli.common.Isolation}. Thread-safety: confined to one thread.
 */
public interface TailBench {

    /** The name for no strategy: the same loop reads the clock and walks the trace, but calls no allocator. */
    String NOTHING = "nothing";

    /**
     * Runs the next operations. After the trace's end, the loop frees what is still in use, without a clock, and begins
     * again.
     *
     * @param operations number of operations, > 0
     * @param allocate gets the time of each allocation
     * @param free gets the time of each free; frees of allocations that found no memory are left out
     */
    void run(int operations, Latencies allocate, Latencies free);

    /**
     * Returns how many allocations have found no memory.
     *
     * @return count, >= 0
     */
    long failures();
}
