package io.outboard.bench.cli.service;

import io.outboard.bench.cli.trace.Trace;

/**
 * Gives a trace another peak: all sizes by one factor, rounded up to granules, and the factor as large as the peak
 * allows. Safe for any number of threads. Cost: some forty passes over the operations, and a copy of them.
 */
final class TraceScale {

    /** What a pool rounds sizes up to by default. */
    static final long GRANULE_BYTES = 256;

    /** So that the factor is exact to one in 2^40, the largest block that there can be. */
    private static final int HALVINGS = 40;

    private TraceScale() {}

    /**
     * The least that a trace can be scaled to.
     *
     * @return bytes
     */
    static long leastPeakBytes(final Trace trace) {
        return trace.peakLiveBlocks() * GRANULE_BYTES;
    }

    /**
     * Scales it, down or up.
     *
     * @param trace what to scale; it stays as it is
     * @param peakBytes what is live at most is to be that or little less, {@link #leastPeakBytes} {@code <=
     *     peakBytes <= }{@link Trace#MAX_BYTES}
     * @return the same operations with other sizes, for a region of {@code peakBytes}
     */
    static Trace scaled(final Trace trace, final long peakBytes) {
        // Rounding up adds: this is the most, and 0 the least, of which each block is a granule.
        double most = (double) peakBytes / trace.peakLiveBytes();
        double factor = 0;
        if (peakBytes(trace, most) <= peakBytes) {
            factor = most;
        }
        for (int i = 0; i < HALVINGS && factor < most; i++) {
            final double middle = (factor + most) / 2;
            if (peakBytes(trace, middle) <= peakBytes) {
                factor = middle;
            } else {
                most = middle;
            }
        }
        final long[] operations = new long[trace.operationCount()];
        for (int i = 0; i < operations.length; i++) {
            final long operation = trace.operations()[i];
            final int slot = Trace.slot(operation);
            final long bytes = bytes(operation, factor);
            operations[i] = Trace.isFree(operation) ? Trace.free(slot, bytes) : Trace.allocation(slot, bytes);
        }
        return new Trace(trace.name(), trace.slots(), peakBytes, operations);
    }

    private static long peakBytes(final Trace trace, final double factor) {
        long live = 0;
        long peak = 0;
        for (final long operation : trace.operations()) {
            live += Trace.isFree(operation) ? -bytes(operation, factor) : bytes(operation, factor);
            peak = Math.max(peak, live);
        }
        return peak;
    }

    private static long bytes(final long operation, final double factor) {
        final long granules = (long) Math.ceil(Trace.bytes(operation) * factor / GRANULE_BYTES);
        return Math.max(1, granules) * GRANULE_BYTES;
    }
}
