package io.outboard.bench.measure.check;

/**
 * A shard is a part of a check that runs, and can be repeated, on its own. A shorter shard does the same operations up
 * to its end.
 *
 * @param strategy name
 * @param seed of the whole run
 * @param number among those of the strategy, from 0
 * @param operations how many, without the frees of the last blocks
 */
record Shard(String strategy, long seed, long number, long operations) {

    /** The most operations of a shard: they take a few seconds, which is what an interruption costs. */
    static final long MOST_OPERATIONS = 4_000_000;

    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    /** Returns the seed of all random numbers of the shard. */
    long randomSeed() {
        return seed * 0xD1342543DE82EF95L + number * GOLDEN_GAMMA;
    }
}
