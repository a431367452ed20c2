package io.outboard.pool;

/**
 * When a pool may hand a freed block out again. {@code cudaFree} waits for the device, and programs rely on it: they free
 * right after a launch. A block that is handed on at once, to another stream, is overwritten by the old owner's kernel.
 */
public enum ReusePolicy {

    /**
     * After the whole device has been synchronised: as safe as {@code cudaFree}. Freed blocks wait in limbo and come back
     * in batches, one synchronisation for all, when the pool needs them or limbo passes a limit that was set; ahead of need, by a
     * thread of the pool's own, where {@link DeviceWork#isGuarded} allows it. Where these waits are long the pool grows
     * instead, see {@link Pool}. While a stream is captured into a graph nothing is
     * synchronised, since that would break the capture.
     */
    STRICT,

    /**
     * After all work that was submitted before the free to any stream that the pool knows of, found out by events: as
     * safe as {@link #STRICT} as long as the pool knows all streams, and nothing blocks, except when memory would be
     * exhausted otherwise: then it waits for one batch of frees after another until the request is served; and once after
     * a stream was destroyed while one was captured into a graph.
     */
    TRACKED,

    /**
     * {@link Pool#allocateAsync} and {@link Pool#freeAsync} as the driver's asynchronous pools: at once on the stream that
     * a block was freed on, after an event on others. {@link Pool#free} is as with {@link #TRACKED}.
     */
    STREAM_ORDERED,

    /** At once. The caller promises that no unfinished work uses what it frees. */
    IMMEDIATE
}
