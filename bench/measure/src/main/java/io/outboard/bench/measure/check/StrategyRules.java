package io.outboard.bench.measure.check;

/**
 * The rules say what the contract leaves open and a strategy's Javadoc decides. A strategy with an unknown name has to
 * keep the rules that most strategies keep.
 *
 * @param rounding from what is asked for to the size of the block
 * @param merges whether any two free neighbours are one block
 * @param search when the strategy may answer that nothing fits
 * @param hasTable whether {@code maxBlocks} limits its blocks
 * @param keptBytes blocks of this size and less may keep it when they are trimmed
 * @param mostGranules of a region to check it in: more would take too much host memory, or time
 * @param mostMeanGranules of its blocks, on average, for the same reason
 */
record StrategyRules(
        Rounding rounding,
        boolean merges,
        Search search,
        boolean hasTable,
        long keptBytes,
        long mostGranules,
        long mostMeanGranules) {

    /** The sizes that blocks can have, in granules. */
    enum Rounding {
        /** Every size is possible. */
        EVERY,
        /** Every size except one granule is possible. */
        FROM_TWO,
        /** The sizes are 1, 2, 4, 8 and so on. */
        BINARY,
        /** The sizes are 1, 2, 3, 5, 8 and so on. */
        FIBONACCI,
        /** The sizes are 1, 2, 4, 8 and so on, and 3, 6, 12 and so on; the next one may serve, too. */
        DOUBLE
    }

    /** The cases in which a strategy may answer that nothing fits. */
    enum Search {
        /** No free block has room. */
        EXACT,
        /**
         * No free block has twice the room, and either more than {@link #SEARCHED} blocks are free or none has room.
         */
        BOUNDED,
        /** No free block has twice the room. */
        AMPLE,
        /** The largest free block, as the strategy reports it, has less than twice the room. */
        BOUNDED_BY_LARGEST,
        /** The largest free block, as the strategy reports it, has no room, or an alignment is asked for. */
        LARGEST
    }

    /** The number of free blocks that a bounded search looks at. */
    static final int SEARCHED = 64;

    /**
     * The most entries of the table that one operation may need: the depth of a tree of Fibonacci buddies, or a slab's
     * blocks.
     */
    static final int MOST_NEW_BLOCKS = 48;

    private static final long UNLIMITED = (1L << 32) - 1;

    /** Returns the rules of the strategy with a name. */
    static StrategyRules of(final String name) {
        return switch (name) {
            case "hal-first-fit", "hal-next-fit", "hal-best-fit" ->
                new StrategyRules(Rounding.EVERY, true, Search.EXACT, true, 0, UNLIMITED, UNLIMITED);
            case "bitmask" ->
                // The strategy has a bit for each granule, and a second one from the first retired block on: 48 MiB for
                // the largest region.
                new StrategyRules(Rounding.FROM_TWO, true, Search.EXACT, false, 0, 1L << 28, 1L << 12);
            case "segregated-fit-paper" ->
                new StrategyRules(Rounding.EVERY, true, Search.AMPLE, true, 0, UNLIMITED, UNLIMITED);
            case "buddy-binary" ->
                new StrategyRules(Rounding.BINARY, false, Search.LARGEST, true, 0, UNLIMITED, UNLIMITED);
            case "buddy-double" ->
                new StrategyRules(Rounding.DOUBLE, false, Search.LARGEST, true, 0, UNLIMITED, UNLIMITED);
            case "buddy-fibonacci" ->
                new StrategyRules(Rounding.FIBONACCI, false, Search.LARGEST, true, 0, UNLIMITED, UNLIMITED);
            case "pooled" ->
                new StrategyRules(
                        Rounding.EVERY, false, Search.BOUNDED_BY_LARGEST, true, 1L << 12, UNLIMITED, UNLIMITED);
            default -> new StrategyRules(Rounding.EVERY, true, Search.BOUNDED, true, 0, UNLIMITED, UNLIMITED);
        };
    }

    /**
     * Returns the size of the block that serves a request, both in granules. For a request larger than any region the
     * result is larger than any region, too.
     */
    long blockSize(final long size) {
        if (size > UNLIMITED) {
            return size;
        }
        return switch (rounding) {
            case EVERY -> size;
            case FROM_TWO -> Math.max(2, size);
            case BINARY -> size <= 1 ? size : Long.highestOneBit(size - 1) << 1;
            case FIBONACCI -> fibonacciFrom(size);
            case DOUBLE -> doubleFrom(size);
        };
    }

    /** Returns the size of a block that was made for a block size: that one, unless the block has the next. */
    long sizeMade(final long blockSize, final long actualSize) {
        return rounding == Rounding.DOUBLE && actualSize == blockSize(blockSize + 1) ? actualSize : blockSize;
    }

    /**
     * Returns, for a buddy system, the number of size classes between a block and its right half; 0 for other
     * strategies.
     */
    int buddyStep() {
        return switch (rounding) {
            case EVERY, FROM_TWO -> 0;
            case BINARY -> 1;
            case FIBONACCI, DOUBLE -> 2;
        };
    }

    /** Returns the number of buddy systems that divide a region. */
    int buddySystems() {
        return rounding == Rounding.DOUBLE ? 2 : 1;
    }

    private static long doubleFrom(final long size) {
        final long power = size <= 1 ? size : Long.highestOneBit(size - 1) << 1;
        return power >= 4 && power / 4 * 3 >= size ? power / 4 * 3 : power;
    }

    private static long fibonacciFrom(final long size) {
        long smaller = 1;
        long larger = 1;
        while (larger < size) {
            final long next = smaller + larger;
            smaller = larger;
            larger = next;
        }
        return larger;
    }
}
