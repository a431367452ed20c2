package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.SeedFromSystemProperties;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * Blocks come into lists on the side that their address and half of what is used say, and every other block keeps its
 * place. This repeats a seed: {@code -Doutboard.seed=SEED}.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class TwoLevelListsProperties {

    private static final int BLOCKS = 64;
    private static final int STEPS = 500;

    /** The sizes of lists 64 and 65: two in each. */
    private static final int LEAST_SIZE = 64;

    private static final int SIZES = 4;

    @Property(tries = 100)
    void shouldOrderListsByTheHalvesOfWhatIsUsed(@ForAll final long seed) {
        final Random random = new Random(seed);
        final TwoLevelLists lists = new TwoLevelLists(StrategyOptions.DEFAULTS.withMaxBlocks(2 * BLOCKS));
        final List<List<Integer>> model = List.of(new ArrayList<>(), new ArrayList<>());
        final List<Integer> used = new ArrayList<>();
        for (int i = 0; i < BLOCKS; i++) {
            used.add(lists.create(random.nextInt(), LEAST_SIZE + random.nextInt(SIZES)));
        }
        long half = 0;

        for (int step = 0; step < STEPS; step++) {
            if (random.nextBoolean() && !used.isEmpty()) {
                final int block = used.remove(random.nextInt(used.size()));
                if (random.nextInt(10) == 0) {
                    half = random.nextLong() >>> 33;
                    lists.noteUsed(2 * half + random.nextInt(2));
                }
                if (random.nextBoolean()) {
                    // Few of all starts are near the border.
                    lists.setRange(block, (int) (half + random.nextInt(5) - 2), lists.size(block));
                }
                lists.insertFree(block);
                final List<Integer> list = model.get(indexOfList(lists.size(block)));
                list.add(Integer.toUnsignedLong(lists.start(block)) < half ? 0 : list.size(), block);
            } else {
                final List<Integer> list = model.get(random.nextInt(2));
                if (!list.isEmpty()) {
                    final int block = list.remove(random.nextInt(list.size()));
                    lists.removeFree(block);
                    used.add(block);
                }
            }
            assertEquals(model.get(0), list(lists, LEAST_SIZE));
            assertEquals(model.get(1), list(lists, LEAST_SIZE + 1));
        }
    }

    private static int indexOfList(final int size) {
        return (size - LEAST_SIZE) / 2;
    }

    private static List<Integer> list(final FreeLists lists, final int number) {
        final List<Integer> blocks = new ArrayList<>();
        final int head = lists.head(number);
        for (int block = lists.next(head); block != head; block = lists.next(block)) {
            assertEquals(blocks.isEmpty() ? head : blocks.get(blocks.size() - 1), lists.previous(block));
            blocks.add(block);
        }
        return blocks;
    }
}
