package io.outboard.bench.measure.check;

import io.outboard.bench.cli.trace.SplitMix64;

/**
 * The load of one part of a shard decides how many blocks the part works with, and which sizes the blocks have, in
 * granules. Between two parts nothing is in use. Confined to one thread.
 */
final class Load {

    /** The fewest and the most operations of a part. */
    private static final long LEAST_OPERATIONS = 10_000;

    private static final long MOST_OPERATIONS = 400_000;

    private enum Sizes {
        EQUAL,
        UNIFORM,
        BY_MAGNITUDE,
        TWO,
        BORDERS,
        SMALL_AND_LARGE
    }

    private static final Sizes[] ALL_SIZES = Sizes.values();

    /** The share of the region, in 16ths, that all blocks of a load would take together. */
    private static final int[] FILLS = {1, 8, 14, 16, 20};

    /** The share of blocks, in 16ths, that are allocated by handle. */
    private static final int[] HANDLES = {0, 2, 8, 14, 16};

    private final SplitMix64 random;
    private final Sizes sizes;
    private final long mean;
    private final int meanLog2;
    private final int mostBlocks;
    private final int handles;
    private boolean small;

    Load(final Shape shape, final StrategyRules rules, final SplitMix64 random) {
        this.random = random;
        mostBlocks = Math.max(1, shape.mostBlocks() >> random.below(4));
        sizes = ALL_SIZES[(int) random.below(ALL_SIZES.length)];
        final long fill = FILLS[(int) random.below(FILLS.length)];
        mean = Math.max(1, Math.min(rules.mostMeanGranules(), shape.granules() / mostBlocks * fill / 16));
        handles = HANDLES[(int) random.below(HANDLES.length)];
        meanLog2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(mean);
    }

    /** Returns the most blocks that are in use at a time; a few more are possible. */
    int mostBlocks() {
        return mostBlocks;
    }

    /** Returns for how many operations a part with this load is worth running. */
    long operations() {
        return Math.max(LEAST_OPERATIONS, Math.min(MOST_OPERATIONS, 32L * mostBlocks));
    }

    /** Returns whether the next block should be named by a handle. */
    boolean byHandle() {
        return random.below(16) < handles;
    }

    /**
     * Returns the size of a block in bytes, a multiple of the granule. Sixteen times the mean may exceed a
     * {@code long}, so the size is limited.
     */
    long sizeBytes(final long granuleBytes) {
        return Math.min(size(), Long.MAX_VALUE / granuleBytes) * granuleBytes;
    }

    /** Returns the size of a block in granules, 1 or more. */
    private long size() {
        return switch (sizes) {
            case EQUAL -> mean;
            case UNIFORM -> 1 + random.below(2 * mean - 1);
            case BY_MAGNITUDE -> {
                final long least = Math.max(1, mean >>> 5) << random.below(8);
                yield least + random.below(least);
            }
            case TWO -> {
                small = !small;
                yield small ? Math.max(1, mean >>> 3) : 2 * mean;
            }
            case BORDERS -> border();
            case SMALL_AND_LARGE -> 1 + (random.below(16) == 0 ? random.below(16 * mean) : random.below(16));
        };
    }

    /**
     * Returns a size close to where a size class begins: a power of two, or a 32nd of the way from it to the next one.
     */
    private long border() {
        final long power = 1L << Math.max(0, meanLog2 - 2 + random.below(5));
        return Math.max(1, power + ((power * random.below(32)) >>> 5) + random.below(3) - 1);
    }

    /** Returns an alignment in bytes, mostly of a few granules, sometimes any power of two. */
    long alignmentBytes(final long granuleBytes) {
        if (random.below(32) == 0) {
            return 1L << random.below(Long.SIZE - 1);
        }
        final long log2 = Long.numberOfTrailingZeros(granuleBytes) + random.below(meanLog2 + 4);
        return 1L << Math.min(Long.SIZE - 2, log2);
    }
}
