package io.outboard.bench.cli.plan;

import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Orders in which blocks are placed, each at the lowest offset: which of them is best depends on the trace. Safe for
 * any number of threads.
 */
final class Orders {

    /**
     * Blocks below this part of the peak fill what is left between others: among those of about a size, any order will
     * do.
     */
    private static final int SMALL_LOG2 = 12;

    private Orders() {}

    /** The orders to begin with, the ones that are best most often first. */
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
     * The longer life first if sizes are equal. Small blocks stay in the order of their lives, which is fast: near ones
     * are near.
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
