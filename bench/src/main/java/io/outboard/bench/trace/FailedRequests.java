package io.outboard.bench.trace;

/**
 * Requests of the recorded program that got no memory. In a {@link Trace} each is a block that is freed at once, as would have been
 * needed to serve it; but for those of {@link Trace#MAX_BYTES} and more, which no device has: a number that ran over, mostly.
 *
 * @param count how many, {@code >= 0}
 * @param largestBytes of the largest one, which a log may have as 2^40 and a recording as 2^40 - 1 if it was larger; 0 if there is none
 */
public record FailedRequests(long count, long largestBytes) {

    /** No such request. */
    static final FailedRequests NONE = new FailedRequests(0, 0);

    /** Whether a request of so many bytes becomes a block. */
    static boolean isServable(final long bytes) {
        return bytes > 0 && bytes < Trace.MAX_BYTES;
    }

    FailedRequests and(final long bytes) {
        return new FailedRequests(count + 1, Math.max(largestBytes, bytes));
    }
}
