package io.outboard.bench.cli.tail;

import io.outboard.bench.cli.common.Latencies;

/**
 * A loop over a trace's operations, with a clock around each: on one strategy, or on nothing. Made among classes of its
 * own, see {@link io.outboard.bench.cli.common.Isolation}. Thread-safety: confined to one thread.
 */
public interface TailBench {

    /** Name of no strategy: the same loop, which reads the clock and walks the trace, but calls no allocator. */
    String NOTHING = "nothing";

    /**
     * Goes on with the next operations, from the trace's beginning again after its end; what is in use there is freed
     * first, without a clock.
     *
     * @param operations how many, > 0
     * @param allocate gets what each allocation took
     * @param free gets what each free took; that of what found no memory is left out
     */
    void run(int operations, Latencies allocate, Latencies free);

    /**
     * Allocations that have found no memory.
     *
     * @return count, >= 0
     */
    long failures();
}
