package io.outboard.bench.measure.check;

/**
 * A part of the work that is done, and repeated, by itself. A shorter one does the same operations as far as it goes.
 *
 * @param strategy name
 * @param seed of the whole run
 * @param number among those of the strategy, from 0
 * @param operations how many; the last blocks' frees come on top
 */
record Shard(String strategy, long seed, long number, long operations) {

    /** The most operations of one: some seconds, and what an interruption costs. */
    static final long MOST_OPERATIONS = 4_000_000;

    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    /** What all of a shard's random numbers come from. */
    long randomSeed() {
        return seed * 0xD1342543DE82EF95L + number * GOLDEN_GAMMA;
    }
}
