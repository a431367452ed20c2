package io.outboard.bench.cli.trace;

/**
 * Failed requests are allocations that found no memory in the recorded program. In a {@link Trace}, each is a block
 * that is allocated and freed at once, so that a strategy needs the memory that serving the request would have taken.
 * Requests of {@link Trace#MAX_BYTES} and more are counted but are no blocks: no device has so much memory, and most
 * are sizes that overflowed.
 *
 * @param count number of failed requests, {@code >= 0}
 * @param largestBytes size of the largest failed request, 0 if there is none; larger sizes are cut to 2^40 in RMM's
 *     logs and to 2^40 - 1 in a pool's recordings
 */
public record FailedRequests(long count, long largestBytes) {

    /** The value for a recording without a failed request. */
    static final FailedRequests NONE = new FailedRequests(0, 0);

    /** Tells whether a request of the given size becomes a block. */
    static boolean isServable(final long bytes) {
        return bytes > 0 && bytes < Trace.MAX_BYTES;
    }

    FailedRequests and(final long bytes) {
        return new FailedRequests(count + 1, Math.max(largestBytes, bytes));
    }
}
