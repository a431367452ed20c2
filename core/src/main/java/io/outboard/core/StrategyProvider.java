package io.outboard.core;

/** A provider makes strategies of one kind. {@link Strategies} finds those of every {@link StrategyModule}. */
public interface StrategyProvider {

    /** The most granules of a region that a strategy divides, since their numbers are unsigned ints. */
    long MOST_GRANULES = (1L << 32) - 1;

    /**
     * Tells the name that users know the strategy by.
     *
     * @return lower-case words joined by hyphens, such as {@code tlsf}
     */
    String name();

    /**
     * Describes the strategy, for a list of strategies.
     *
     * @return one line: structure, cost, source
     */
    String description();

    /**
     * Makes a strategy over one region, all of it free.
     *
     * @param region what to divide
     * @param options granule and table sizes
     * @return a new strategy
     * @throws IllegalArgumentException if the strategy can't serve that region with these options
     */
    Strategy create(Region region, StrategyOptions options);

    /**
     * Tells whether the first blocks of a region lie at its lowest addresses, however large the region is. If so, a
     * pool may reserve many addresses, and put memory behind the first of them.
     *
     * @return true unless overridden
     */
    default boolean placesLow() {
        return true;
    }

    /**
     * Tells how large a region must be for a new strategy to be sure to serve one request, wherever the region starts.
     * A strategy that can't place blocks at every granule may need the region to start at a multiple of the alignment
     * besides.
     *
     * <p>Unless overridden, that is the request rounded up to the granule, and what an alignment above the granule may
     * cost.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param alignmentBytes any power of two
     * @param options granule and table sizes
     * @return bytes, a multiple of the granule, or {@link Long#MAX_VALUE} if no region is large enough
     */
    default long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
        final long granuleBytes = options.granuleBytes();
        final long paddingBytes = Math.max(alignmentBytes, granuleBytes) - granuleBytes;
        // Both terms may be 2^62 and more, so the sum is negative if it overflows.
        final long bytes = ((sizeBytes - 1) | (granuleBytes - 1)) + 1 + paddingBytes;
        return bytes < 0 || bytes / granuleBytes > MOST_GRANULES ? Long.MAX_VALUE : bytes;
    }
}
