package io.outboard.bench.cli.plan;

import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * This class makes orders in which blocks are placed, each at the lowest offset. Which order is best depends on the
 * trace. Safe for any number of threads.
 */
final class Orders {

    /**
     * The share of the peak, as a power of two, below which a block is small. Small blocks fill gaps between others, so
     * the order among small blocks of similar size doesn't matter.
     */
    private static final int SMALL_LOG2 = 12;

    private Orders() {}

    /** Returns the first orders to try; orders that are often the best come first. */
    static List<Supplier<int[]>> of(final Lifetimes blocks) {
        final IntPredicate isLong = block -> life(blocks, block) > blocks.count() / 2;
        final IntPredicate isAtPeak = block -> block <= blocks.peak() && blocks.end(block) > blocks.peak();
        return List.of(
                () -> sorted(blocks, first(isLong).thenComparing(largestFirst(blocks))),
                () -> sorted(blocks, largestFirst(blocks)),
                () -> sorted(blocks, first(isAtPeak).thenComparing(largestFirst(blocks))),
                () -> sorted(blocks, byArea(blocks)));
    }

    private static int[] sorted(final Lifetimes blocks, final Comparator<Integer> order) {
        return IntStream.range(0, blocks.count())
                .boxed()
                .sorted(order)
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private static Comparator<Integer> first(final IntPredicate which) {
        return Comparator.comparingInt(block -> which.test(block) ? 0 : 1);
    }

    /**
     * Orders blocks by size, and blocks of equal size by life, the longer first. Small blocks of similar size stay in
     * the order of their allocations. Placing in that order is fast, because blocks that follow each other live at near
     * times.
     */
    private static Comparator<Integer> largestFirst(final Lifetimes blocks) {
        final long small = blocks.peakGranules() >> SMALL_LOG2;
        return Comparator.comparingLong(block -> {
            final int size = blocks.size(block);
            return size > small
                    ? -((long) size << Integer.SIZE) - life(blocks, block)
                    : -(long) Integer.highestOneBit(size) << Integer.SIZE;
        });
    }

    private static Comparator<Integer> byArea(final Lifetimes blocks) {
        return Comparator.comparingLong(block -> -(long) blocks.size(block) * life(blocks, block));
    }

    private static int life(final Lifetimes blocks, final int block) {
        return blocks.end(block) - block;
    }
}
