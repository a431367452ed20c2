package io.outboard.bench.cli.service;

import io.outboard.bench.cli.trace.Trace;

/**
 * This class scales a trace to another peak: all sizes are multiplied by one factor and rounded up to granules, with
 * the largest factor that the peak allows. Safe for any number of threads. Cost: some forty passes over the operations,
 * and a copy of them.
 */
final class TraceScale {

    /** The granule to which a pool rounds sizes up by default. */
    static final long GRANULE_BYTES = 256;

    /** The number of halvings, which makes the factor exact to one in 2^40, the size of the largest possible block. */
    private static final int HALVINGS = 40;

    private TraceScale() {}

    /**
     * Returns the lowest peak to which a trace can be scaled.
     *
     * @return bytes
     */
    static long leastPeakBytes(final Trace trace) {
        return trace.peakLiveBlocks() * GRANULE_BYTES;
    }

    /**
     * Scales a trace down or up.
     *
     * @param trace the trace to scale; it stays as it is
     * @param peakBytes the peak of live bytes, which the result reaches or stays a little below,
     *     {@link #leastPeakBytes} {@code <= peakBytes <= }{@link Trace#MAX_BYTES}
     * @return the same operations with other sizes, for a region of {@code peakBytes}
     */
    static Trace scaled(final Trace trace, final long peakBytes) {
        // Rounding up only adds bytes, so this factor is the most; the least is 0, with which each block has one
        // granule.
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
