package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.SeedFromSystemProperties;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * Random operations run on a buddy strategy and on a {@link BuddyTree}. Both give the same addresses, and after each
 * step have the same blocks.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class BuddyTreeProperties {

    private static final StrategyOptions OPTIONS = new StrategyOptions(1, 1024);

    /** The size of a region in which an aligned search looks at all granules. */
    private static final long SEARCHED_GRANULES = 32;

    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void shouldPlaceAsTheTreeDoesInTinyRegions(
            @ForAll final boolean fibonacci,
            @ForAll @LongRange(min = 1, max = SEARCHED_GRANULES) final long granules,
            @ForAll @IntRange(max = 40) final int address,
            @ForAll("steps") final List<Step> steps) {
        compare(fibonacci, granules, address, steps);
    }

    @Property(tries = 1000, edgeCases = EdgeCasesMode.NONE)
    void shouldPlaceAsTheTreeDoesInMiddlingRegions(
            @ForAll final boolean fibonacci,
            @ForAll @LongRange(min = 33, max = 5000) final long granules,
            @ForAll @IntRange(max = 40) final int address,
            @ForAll("steps") final List<Step> steps) {
        compare(fibonacci, granules, address, steps);
    }

    private static void compare(
            final boolean fibonacci, final long granules, final long address, final List<Step> steps) {
        final Region region = new Region(address, granules);
        final Strategy strategy =
                fibonacci ? new FibonacciBuddyStrategy(region, OPTIONS) : new BinaryBuddyStrategy(region, OPTIONS);
        final BuddyTree tree = new BuddyTree(fibonacci, granules);
        assertSameBlocks(tree, strategy);
        for (final Step step : steps) {
            apply(step, tree, strategy);
            assertSameBlocks(tree, strategy);
        }
    }

    private static void apply(final Step step, final BuddyTree tree, final Strategy strategy) {
        final Region region = strategy.region();
        final long size = 1 + step.size % (1L << step.sizeLog2) % region.sizeBytes();
        final List<BuddyTree.Node> used = tree.used();
        if (step.kind <= 3 || used.isEmpty()) {
            final long start = tree.allocate(tree.blockSize(size));
            assertEquals(start < 0 ? Strategy.NO_SPACE : region.address() + start, strategy.allocate(size));
        } else if (step.kind == 4) {
            allocateAligned(size, 1L << step.alignmentLog2, tree, strategy);
        } else {
            final BuddyTree.Node block = used.get(step.pick % used.size());
            final long address = region.address() + block.start;
            if (step.kind <= 7) {
                tree.free(block.start);
                strategy.free(address);
            } else if (step.kind == 8) {
                final long kept = 1 + size % block.size;
                tree.trim(block.start, tree.blockSize(kept));
                strategy.trim(address, kept);
            } else {
                final long wanted = Math.min(region.sizeBytes(), block.size + size);
                assertEquals(tree.extend(block.start, tree.blockSize(wanted)), strategy.extend(address, wanted));
            }
        }
    }

    /** Allocates an aligned part in both; which of the aligned parts is taken isn't prescribed. */
    private static void allocateAligned(
            final long size, final long alignment, final BuddyTree tree, final Strategy strategy) {
        final Region region = strategy.region();
        final long wanted = tree.blockSize(size);

        final long address = strategy.allocate(size, alignment);

        if (address != Strategy.NO_SPACE) {
            assertEquals(0, address % alignment);
            assertTrue(tree.take(address - region.address(), wanted), () -> address + " is no free part");
        } else if (region.sizeBytes() <= SEARCHED_GRANULES) {
            assertTrue(LongStream.range(0, region.sizeBytes())
                    .filter(start -> (region.address() + start) % alignment == 0)
                    .noneMatch(start -> tree.canTake(start, wanted)));
        }
    }

    private static void assertSameBlocks(final BuddyTree tree, final Strategy strategy) {
        final long origin = strategy.region().address();
        final List<String> blocks = new ArrayList<>();
        strategy.forEachBlock(
                (address, bytes, free) -> blocks.add((address - origin) + "+" + bytes + (free ? " free" : " used")));
        assertEquals(tree.blocks().map(BuddyTree.Node::toString).toList(), blocks);
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(uniform(9), uniform(255), uniform(12), uniform(4095), uniform(5))
                .as(Step::new)
                .list()
                .ofMaxSize(200)
                .withSizeDistribution(RandomDistribution.uniform());
    }

    private static Arbitrary<Integer> uniform(final int max) {
        return Arbitraries.integers().between(0, max).withDistribution(RandomDistribution.uniform());
    }

    /**
     * A step is one operation. Its numbers only have a meaning together with the blocks in use.
     *
     * @param kind which operation
     * @param pick which block in use, modulo how many there are
     * @param sizeLog2 log2 of the bound of the size
     * @param size the size, modulo its bound and the region
     * @param alignmentLog2 log2 of the alignment
     */
    record Step(int kind, int pick, int sizeLog2, int size, int alignmentLog2) {}
}
