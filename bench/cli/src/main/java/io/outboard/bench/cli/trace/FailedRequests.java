package io.outboard.bench.cli.trace;

/**
 * Requests of the recorded program that got no memory. In a {@link Trace} each is a block that is freed at once, as
 * would have been needed to serve it. Those of {@link Trace#MAX_BYTES} and more, which no device has, are only counted:
 * most are sizes that overflowed.
 *
 * @param count how many, {@code >= 0}
 * @param largestBytes size of the largest one, 0 if there is none; larger ones are cut to 2^40 in RMM's logs and to
 *     2^40 - 1 in a pool's recordings
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
