package io.outboard.core;

/**
 * What a strategy may be told when it is made: the granule, and how much host memory its tables may take.
 *
 * <p>The defaults serve 100,000 live blocks in 256 GiB: every second block may be free, so that takes 200,001 blocks.
 *
 * @param granuleBytes unit that sizes are rounded up to, a power of two from 1 to 2^30. 256 bytes by default, what
 *     {@code cudaMalloc} aligns to; Bell et al. (2024, section V-C) recommend 4 KiB for real-time use
 * @param maxBlocks most blocks that the tables hold, free and in use together, from 2 to 2^26
 */
public record StrategyOptions(long granuleBytes, int maxBlocks) {

    /** 256-byte granules, 262,144 blocks. */
    public static final StrategyOptions DEFAULTS = new StrategyOptions(256, 1 << 18);

    /**
     * Checks the ranges.
     *
     * @param granuleBytes unit that sizes are rounded up to
     * @param maxBlocks most blocks that the tables hold
     * @throws IllegalArgumentException if an option is outside of its range
     */
    public StrategyOptions {
        if (Long.bitCount(granuleBytes) != 1 || granuleBytes < 0 || granuleBytes > 1L << 30) {
            throw new IllegalArgumentException(
                    "granuleBytes=" + granuleBytes + " must be a power of two from 1 to 2^30");
        }
        if (maxBlocks < 2 || maxBlocks > 1 << 26) {
            throw new IllegalArgumentException("maxBlocks=" + maxBlocks + " must be from 2 to 2^26");
        }
    }

    /**
     * These options with another granule.
     *
     * @param newGranuleBytes the granule in bytes, a power of two from 1 to 2^30
     * @return new options
     */
    public StrategyOptions withGranuleBytes(final long newGranuleBytes) {
        return new StrategyOptions(newGranuleBytes, maxBlocks);
    }

    /**
     * These options with tables of another size.
     *
     * @param newMaxBlocks most blocks, free and in use together, from 2 to 2^26
     * @return new options
     */
    public StrategyOptions withMaxBlocks(final int newMaxBlocks) {
        return new StrategyOptions(granuleBytes, newMaxBlocks);
    }
}
