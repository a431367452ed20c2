package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.Block;
import io.outboard.core.Region;
import io.outboard.core.SeedFromSystemProperties;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * The strategy takes the block that a walk over all blocks names for next fit. {@code -Doutboard.seed} repeats a seed.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class BitmaskProperties {

    private static final long BASE = 1L << 40;
    private static final long GRANULE = 8;

    @Property(tries = 300)
    void shouldTakeWhatNextFitNamesAmongSmallBlocks(
            @ForAll final long seed, @ForAll @IntRange(min = 2, max = 3000) final int granules) {
        compare(new Random(seed), granules, 80);
    }

    /** Blocks have up to 80,000 granules, so the search is for runs of words, of nodes, and of words of nodes. */
    @Property(tries = 100)
    void shouldTakeWhatNextFitNamesAmongBlocksOfAllSizes(
            @ForAll final long seed, @ForAll @IntRange(min = 100_000, max = 1_000_000) final int granules) {
        compare(new Random(seed), granules, 80_000);
    }

    private static void compare(final Random random, final int granules, final int maxSize) {
        final Strategy strategy =
                new BitmaskStrategy(new Region(BASE, granules * GRANULE), new StrategyOptions(GRANULE, 2));
        final List<Long> live = new ArrayList<>();
        long lastEnd = BASE;
        for (int step = 0; step < 400; step++) {
            final long sizeBytes = GRANULE * (2 + random.nextInt(1 + random.nextInt(maxSize)));
            final int choice = random.nextInt(16);
            if (live.isEmpty() || choice < 9) {
                final long expected = nextFit(Block.of(strategy), lastEnd, sizeBytes);
                assertEquals(expected, strategy.allocate(sizeBytes), sizeBytes + " bytes from " + lastEnd);
                if (expected != Strategy.NO_SPACE) {
                    live.add(expected);
                    lastEnd = expected + sizeBytes;
                }
            } else if (choice < 14) {
                strategy.free(live.remove(random.nextInt(live.size())));
            } else {
                final long address = live.get(random.nextInt(live.size()));
                strategy.trim(address, Math.min(sizeBytes, strategy.sizeOf(address)));
            }
        }
    }

    /** Returns the first fitting block of those that end at the place or behind it, or else the first fitting one. */
    private static long nextFit(final List<Block> blocks, final long place, final long sizeBytes) {
        final List<Block> fitting = blocks.stream()
                .filter(block -> block.free() && block.sizeBytes() >= sizeBytes)
                .toList();
        return fitting.stream()
                .filter(block -> block.address() + block.sizeBytes() >= place)
                .findFirst()
                .or(() -> fitting.stream().findFirst())
                .map(Block::address)
                .orElse(Strategy.NO_SPACE);
    }
}
