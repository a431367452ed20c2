package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This strategy is best fit with all metadata in host memory: it takes the smallest free block in which a request
 * fits, the one at the lowest address among equals.
 *
 * <p>Bell, Kumar and Gill (2024), sections III-A and IV, algorithms 1, 2 and 3. It works as {@link HalFirstFitStrategy}
 * does, but allocate looks at all free blocks, until a chunk of the list holds an exact fit. With an alignment, it is
 * the smallest block that the aligned range fits into.
 *
 * <p>The pseudo-code needs mending: {@code docs/errata.md}, algorithms 1 to 3, says where.
 *
 * <p>Thread-safety: confined to one thread. Cost: as {@link HalFirstFitStrategy}, but O(n) for choosing among n free
 * blocks, some eight of them at a time. Some 22 bytes of host memory for each block that the tables can hold. When
 * nothing fits, the strategy returns {@link #NO_SPACE}.
 */
public final class HalBestFitStrategy extends HalStrategy {

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public HalBestFitStrategy(final Region region, final StrategyOptions options) {
        super(region, options);
    }

    @Override
    int choose(final int size, final long alignmentMask) {
        final int smallest = free.leastAtLeast(size);
        if (smallest == NONE || holds(smallest, size, alignmentMask)) {
            return smallest;
        }
        int best = NONE;
        int block = firstThatHolds(free.first(), size, alignmentMask);
        while (block != NONE) {
            if (best == NONE || size(free, block) < size(free, best)) {
                best = block;
            }
            final int next = free.next(block);
            block = next == NONE ? NONE : firstThatHolds(next, size, alignmentMask);
        }
        return best;
    }
}
