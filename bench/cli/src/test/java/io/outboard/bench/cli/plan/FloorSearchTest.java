package io.outboard.bench.cli.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.outboard.bench.cli.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FloorSearchTest {

    private static final int BLOCKS = 7;

    /** Makes a trace of few blocks; times are drawn so that parts fall apart, and so that blocks share their lives. */
    private static Trace trace(final SplittableRandom random) {
        final List<Long> operations = new ArrayList<>();
        final List<Integer> live = new ArrayList<>();
        final long[] bytes = IntStream.range(0, BLOCKS)
                .mapToLong(block -> 1 + random.nextInt(6))
                .toArray();
        for (int block = 0; block < BLOCKS; block++) {
            while (!live.isEmpty() && random.nextInt(3) == 0) {
                final int freed = live.remove(random.nextInt(live.size()));
                operations.add(Trace.free(freed, bytes[freed]));
            }
            operations.add(Trace.allocation(block, bytes[block]));
            live.add(block);
        }
        return new Trace(
                "few",
                BLOCKS,
                1 << 20,
                operations.stream().mapToLong(Long::longValue).toArray());
    }

    /** One of all orders leads to a layout that nothing is better than, each block being at its lowest offset. */
    private static int leastTop(final Lifetimes blocks, final List<Integer> order, final int[] least) {
        if (order.size() == BLOCKS) {
            final Layout layout = new Placement(blocks)
                    .placeAll(order.stream().mapToInt(Integer::intValue).toArray(), Integer.MAX_VALUE);
            assertNotNull(layout);
            least[0] = Math.min(least[0], layout.top());
        }
        for (int block = 0; block < BLOCKS; block++) {
            if (!order.contains(block)) {
                order.add(block);
                leastTop(blocks, order, least);
                order.remove(order.size() - 1);
            }
        }
        return least[0];
    }

    /** What the search leaves out holds no layout, and what it remembers as failed has none. */
    @Test
    void shouldFindALayoutWhereThereIsOneAndNoneElse() {
        final SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < 60; i++) {
            final Trace trace = trace(random);
            final Lifetimes blocks = Lifetimes.of(trace, 1);
            final int least = leastTop(blocks, new ArrayList<>(), new int[] {Integer.MAX_VALUE});
            final FloorSearch search = FloorSearch.over(blocks, random, () -> true);
            assertNotNull(search);

            for (int attempt = 0; attempt < 2 * FloorSearch.KINDS; attempt++) {
                assertNull(search.find(least - 1, attempt, Integer.MAX_VALUE));
                final Layout layout = search.find(least, attempt, Integer.MAX_VALUE);
                assertNotNull(layout, () -> "a layout of " + least + " of trace " + trace);
                assertEquals(least, layout.top());
                assertEquals(least, PlacementCheck.regionBytes(trace, layout.offsets(), 1));
            }
        }
    }
}
