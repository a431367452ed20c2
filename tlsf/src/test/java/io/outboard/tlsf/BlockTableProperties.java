package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.SeedFromSystemProperties;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.BeforeTry;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * The hash table behaves as a {@code HashMap} does, through several doublings by linear hashing. This repeats a seed:
 * {@code -Doutboard.seed=SEED}.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class BlockTableProperties {

    private static final int MAX_BLOCKS = 1 << 16;

    private BlockTable table = new BlockTable(MAX_BLOCKS, MAX_BLOCKS, 0, 0);
    private Map<Integer, Integer> model = new HashMap<>();

    /** All tries of a property share this instance, so its table is made anew for each. */
    @BeforeTry
    void startAnew() {
        table = new BlockTable(MAX_BLOCKS, MAX_BLOCKS, 0, 0);
        model = new HashMap<>();
    }

    @Property(tries = 25)
    void shouldBehaveAsAHashMapWhileItGrows(
            @ForAll final long seed, @ForAll @IntRange(min = 1, max = 3000) final int firstBlocks) {
        table = new BlockTable(firstBlocks, MAX_BLOCKS, 3, 0);

        compare(new Random(seed), random -> random.nextInt(MAX_BLOCKS));
    }

    @Property(tries = 25)
    void shouldBehaveAsAHashMapForEquallySpacedStarts(
            @ForAll final long seed, @ForAll final int origin, @ForAll @IntRange(max = 16) final int spacingLog2) {
        compare(new Random(seed), random -> origin + (random.nextInt(MAX_BLOCKS) << spacingLog2));
    }

    @Property(tries = 15)
    void shouldBehaveAsAHashMapForStartsFromAllOf32Bits(@ForAll final long seed) {
        compare(new Random(seed), Random::nextInt);
    }

    /** The blocks lie as in a region that is cut up from its start. */
    @Property(tries = 10)
    void shouldFindEveryOneOfConsecutiveStarts(@ForAll final int origin) {
        for (int i = 0; i < MAX_BLOCKS; i++) {
            enter(origin + i);
        }

        drain();
    }

    /**
     * Blocks of one size lie at equally spaced starts. With any spacing, they must spread over many slots. A perfectly
     * random hash gives 1.25 to 1.5 here; low bits of a product alone give 10 to 1000.
     */
    @Property(tries = 200)
    void shouldSpreadEquallySpacedStarts(
            @ForAll @IntRange(min = 100, max = 50_000) final int blocks,
            @ForAll @IntRange(min = 1, max = 1 << 14) final int spacing,
            @ForAll final int origin) {
        final int slots = Integer.highestOneBit(blocks) << 2;
        final int[] chains = new int[slots];
        for (int i = 0; i < blocks; i++) {
            chains[BlockTable.hash(origin + i * spacing) & (slots - 1)]++;
        }

        final double meanChain =
                Arrays.stream(chains).mapToDouble(n -> (double) n * n).sum() / blocks;

        assertTrue(meanChain < 4, "meanChain=" + meanChain);
    }

    private void compare(final Random random, final Starts starts) {
        final int blocks = 1 + random.nextInt(60_000);
        for (int i = 0; i < blocks; i++) {
            final int start = starts.next(random);
            if (!model.containsKey(start)) {
                enter(start);
            }
        }
        for (int i = 0; i < blocks; i++) {
            final int start = starts.next(random);
            final int expected = model.getOrDefault(start, BlockTable.NONE);
            assertEquals(expected, table.find(start));
            if (random.nextBoolean()) {
                assertEquals(expected, table.remove(start));
                if (model.remove(start) != null) {
                    table.discard(expected);
                }
            } else if (expected == BlockTable.NONE && table.makeRoomFor(1)) {
                enter(start);
            }
            assertEquals(model.size(), table.entered());
        }
        drain();
    }

    private void enter(final int start) {
        assertTrue(table.makeRoomFor(1));
        final int block = table.create(start, 1);
        table.enter(block);
        model.put(start, block);
    }

    private void drain() {
        model.forEach((start, block) -> assertEquals(block, table.find(start)));
        model.forEach((start, block) -> assertEquals(block, table.remove(start)));
        model.forEach((start, block) -> assertEquals(BlockTable.NONE, table.find(start)));
        assertEquals(0, table.entered());
    }

    @FunctionalInterface
    private interface Starts {
        int next(Random random);
    }
}
