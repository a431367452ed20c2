package io.outboard.bench.measure.check;

import io.outboard.bench.cli.trace.SplitMix64;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * A shape is what a shard works on: a region, its granule and the size of the tables, drawn from the seed and the
 * shard's number.
 *
 * @param region starts at a multiple of a granule, hardly ever of more, and ends anywhere
 * @param options granule and tables; in every fourth shard the tables are hardly large enough for the blocks
 * @param mostBlocks in use at a time
 */
record Shape(Region region, StrategyOptions options, int mostBlocks) {

    private static final int[] GRANULES_LOG2 = {0, 8, 3, 12, 8, 21, 30, 4};

    /** The number of kinds of regions; shards take turns. */
    static final int KINDS = 8;

    private static final long MOST_GRANULES = (1L << 32) - 1;
    private static final long LEAST_TABLE = 64;
    private static final int MOST_BLOCKS_LOG2 = 14;

    static Shape of(final StrategyRules rules, final long shard, final SplitMix64 random) {
        final int granuleLog2 = GRANULES_LOG2[(int) ((shard + shard / KINDS) % GRANULES_LOG2.length)];
        final long most = Math.min(MOST_GRANULES, rules.mostGranules());
        final long granules = Math.min(most, granules((int) (shard % KINDS), random));
        final long granuleBytes = 1L << granuleLog2;
        final long base = switch ((int) random.below(4)) {
            case 0 -> 0;
            case 1 -> 1L << 61;
            default -> 1L << 40;
        };
        final long address = base + (random.below(1L << 12) << granuleLog2);
        final Region region = new Region(address, (granules << granuleLog2) + random.below(granuleBytes));
        final long blocks = 1L << (2 + random.below(MOST_BLOCKS_LOG2 - 1));
        final int mostBlocks = (int) Math.min(granules, blocks + random.below(blocks));
        final boolean tight = shard / KINDS % 4 == 3;
        final long table =
                tight ? LEAST_TABLE + mostBlocks + random.below(mostBlocks) / 2 : 4 * (LEAST_TABLE + mostBlocks);
        final StrategyOptions options = new StrategyOptions(granuleBytes, (int) table);
        return new Shape(
                region,
                random.below(2) == 0 ? options : options.growing((int) (LEAST_TABLE >>> random.below(7))),
                mostBlocks);
    }

    /** Returns at least two granules, the smallest region that the bitmask can divide. */
    private static long granules(final int kind, final SplitMix64 random) {
        return switch (kind) {
            case 0 -> 2 + random.below(63);
            case 1 -> 65 + random.below(1 << 12);
            case 2 -> MOST_GRANULES;
            case 3, 4 -> magnitude(24 + random.below(8), random);
            default -> magnitude(12 + random.below(12), random);
        };
    }

    private static long magnitude(final long log2, final SplitMix64 random) {
        return (1L << log2) + random.below(1L << log2);
    }

    /** Returns the whole granules of the region. */
    long granules() {
        return region.sizeBytes() / options.granuleBytes();
    }
}
