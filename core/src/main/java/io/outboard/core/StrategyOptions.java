package io.outboard.core;

/**
 * Options tell a strategy, when it is made, its granule and how much host memory its tables may take.
 *
 * <p>The defaults serve 100,000 live blocks in 256 GiB: every second block may be free, so that takes 200,001 blocks.
 *
 * <p>Tables take all of their memory when a strategy is made, unless {@code firstBlocks} is less than {@code
 * maxBlocks}. Then they start with room for {@code firstBlocks}, and double when a block is wanted and there is no
 * room, before anything else of the call happens. This takes as long as copying the tables does, which is microseconds
 * for a thousand blocks and some milliseconds for a quarter of a million (the block table of TLSF has figures).
 * Meanwhile old and new tables are held together, and the old ones are garbage after that. If the JVM has no memory for
 * that, the call throws {@link OutOfMemoryError} and nothing changes.
 *
 * @param granuleBytes unit that sizes are rounded up to, a power of two from 1 to 2^30. 256 bytes by default, what
 *     {@code cudaMalloc} aligns to; Bell et al. (2024, section V-C) recommend 4 KiB for real-time use
 * @param maxBlocks most blocks that the tables hold, free and in use together, from 2 to 2^26. Block tables take memory
 *     by powers of two, so 229,000 are as cheap as 120,000, and 262,144 take twice as much
 * @param firstBlocks how many blocks the tables hold before they grow, from 1 to {@code maxBlocks}
 */
public record StrategyOptions(long granuleBytes, int maxBlocks, int firstBlocks) {

    /**
     * The options with granules of 256 bytes, and tables that take all of their memory at once, for 229,000 blocks: as
     * many as block tables hold in 8 MiB.
     */
    public static final StrategyOptions DEFAULTS = new StrategyOptions(256, 229_000);

    /**
     * Checks the ranges.
     *
     * @param granuleBytes unit that sizes are rounded up to
     * @param maxBlocks most blocks that the tables hold
     * @param firstBlocks how many they hold before they grow
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
        if (firstBlocks < 1 || firstBlocks > maxBlocks) {
            throw new IllegalArgumentException(
                    "firstBlocks=" + firstBlocks + " must be from 1 to maxBlocks, " + maxBlocks);
        }
    }

    /**
     * Makes options for tables that take all of their memory at once.
     *
     * @param granuleBytes unit that sizes are rounded up to, a power of two from 1 to 2^30
     * @param maxBlocks most blocks, free and in use together, from 2 to 2^26
     * @throws IllegalArgumentException if an option is outside of its range
     */
    public StrategyOptions(final long granuleBytes, final int maxBlocks) {
        this(granuleBytes, maxBlocks, maxBlocks);
    }

    /**
     * Changes the granule.
     *
     * @param newGranuleBytes the granule in bytes, a power of two from 1 to 2^30
     * @return new options
     */
    public StrategyOptions withGranuleBytes(final long newGranuleBytes) {
        return new StrategyOptions(newGranuleBytes, maxBlocks, firstBlocks);
    }

    /**
     * Changes the size of tables. Those that grow start as before, if that isn't too large now.
     *
     * @param newMaxBlocks most blocks, free and in use together, from 2 to 2^26
     * @return new options
     */
    public StrategyOptions withMaxBlocks(final int newMaxBlocks) {
        return new StrategyOptions(
                granuleBytes,
                newMaxBlocks,
                firstBlocks == maxBlocks ? newMaxBlocks : Math.min(firstBlocks, newMaxBlocks));
    }

    /**
     * Has tables start small and grow.
     *
     * @param newFirstBlocks how many blocks they hold before they grow, from 1 to {@link #maxBlocks}
     * @return new options
     */
    public StrategyOptions growing(final int newFirstBlocks) {
        return new StrategyOptions(granuleBytes, maxBlocks, newFirstBlocks);
    }
}
