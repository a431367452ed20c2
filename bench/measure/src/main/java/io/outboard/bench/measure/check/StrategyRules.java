package io.outboard.bench.measure.check;

/**
 * What the contract leaves to a strategy, as its Javadoc says. One that isn't known by its name has to keep what most
 * do.
 *
 * @param rounding from what is asked for to the size of the block
 * @param merges whether any two free neighbours are one block
 * @param search when it may answer that nothing fits
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

    /** Sizes that blocks have, in granules. */
    enum Rounding {
        /** All. */
        EVERY,
        /** All but one. */
        FROM_TWO,
        /** 1, 2, 4, 8, .. */
        BINARY,
        /** 1, 2, 3, 5, 8, .. */
        FIBONACCI
    }

    /** When nothing fits. */
    enum Search {
        /** If no free block has room. */
        EXACT,
        /** If no free block has twice the room, and more than {@link #SEARCHED} are free or none has room. */
        BOUNDED,
        /** If the largest free block, as the strategy tells it, hasn't twice the room. */
        BOUNDED_BY_LARGEST,
        /**
         * If the largest free block, as the strategy tells it, has no room; at any time if an alignment is asked for.
         */
        LARGEST
    }

    /** Free blocks that a bounded search looks at. */
    static final int SEARCHED = 64;

    /**
     * Of the table, what an operation may need at once: the depth of a tree of Fibonacci buddies, and a slab's blocks.
     */
    static final int MOST_NEW_BLOCKS = 48;

    private static final long UNLIMITED = (1L << 32) - 1;

    /** The rules of a strategy, by name. */
    static StrategyRules of(final String name) {
        return switch (name) {
            case "hal-first-fit", "hal-next-fit", "hal-best-fit" ->
                new StrategyRules(Rounding.EVERY, true, Search.EXACT, true, 0, UNLIMITED, UNLIMITED);
            case "bitmask" ->
                // A bit for each granule, another one from the first retired block on: 48 MiB with the most.
                new StrategyRules(Rounding.FROM_TWO, true, Search.EXACT, false, 0, 1L << 28, 1L << 12);
            case "buddy-binary" ->
                new StrategyRules(Rounding.BINARY, false, Search.LARGEST, true, 0, UNLIMITED, UNLIMITED);
            case "buddy-fibonacci" ->
                new StrategyRules(Rounding.FIBONACCI, false, Search.LARGEST, true, 0, UNLIMITED, UNLIMITED);
            case "pooled" ->
                new StrategyRules(
                        Rounding.EVERY, false, Search.BOUNDED_BY_LARGEST, true, 1L << 12, UNLIMITED, UNLIMITED);
            default -> new StrategyRules(Rounding.EVERY, true, Search.BOUNDED, true, 0, UNLIMITED, UNLIMITED);
        };
    }

    /** The block that serves a request, both in granules: any size that no region has for a request that none has. */
    long blockSize(final long size) {
        if (size > UNLIMITED) {
            return size;
        }
        return switch (rounding) {
            case EVERY -> size;
            case FROM_TWO -> Math.max(2, size);
            case BINARY -> size <= 1 ? size : Long.highestOneBit(size - 1) << 1;
            case FIBONACCI -> fibonacciFrom(size);
        };
    }

    /** How many classes of sizes below a block's own its right half is, in a buddy system; 0 if it is none. */
    int buddyStep() {
        return switch (rounding) {
            case EVERY, FROM_TWO -> 0;
            case BINARY -> 1;
            case FIBONACCI -> 2;
        };
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
