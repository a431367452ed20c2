package io.outboard.bench.measure.check;

import io.outboard.bench.cli.trace.SplitMix64;

/**
 * How many blocks a part of a shard works with, and which sizes these have, in granules. Between one such part and the
 * next nothing is in use. Confined to one thread.
 */
final class Load {

    /** The least and the most operations of such a part. */
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

    /** Of the region, what all blocks together would take: in 16ths. */
    private static final int[] FILLS = {1, 8, 14, 16, 20};

    /** Of the blocks that are taken, those by handle: in 16ths. */
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

    /** Blocks that are taken at a time, at most, but for a few. */
    int mostBlocks() {
        return mostBlocks;
    }

    /** How long it is worth while. */
    long operations() {
        return Math.max(LEAST_OPERATIONS, Math.min(MOST_OPERATIONS, 32L * mostBlocks));
    }

    /** Whether a block is to be named by a handle. */
    boolean byHandle() {
        return random.below(16) < handles;
    }

    /**
     * The size of a block in bytes, a multiple of the granule: sixteen times the mean may be more than there are
     * numbers.
     */
    long sizeBytes(final long granuleBytes) {
        return Math.min(size(), Long.MAX_VALUE / granuleBytes) * granuleBytes;
    }

    /** The size of a block in granules, 1 or more. */
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

    /** Around where lists by size begin: at a power of two, and at 32nds between it and the next. */
    private long border() {
        final long power = 1L << Math.max(0, meanLog2 - 2 + random.below(5));
        return Math.max(1, power + ((power * random.below(32)) >>> 5) + random.below(3) - 1);
    }

    /** An alignment in bytes, mostly of a few granules, any power of two now and then. */
    long alignmentBytes(final long granuleBytes) {
        if (random.below(32) == 0) {
            return 1L << random.below(Long.SIZE - 1);
        }
        final long log2 = Long.numberOfTrailingZeros(granuleBytes) + random.below(meanLog2 + 4);
        return 1L << Math.min(Long.SIZE - 2, log2);
    }
}
