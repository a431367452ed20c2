package io.outboard.bench.cli.plan;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This class searches for a layout of few blocks below a ceiling, depth first. Blocks are placed from the lowest offset
 * upwards. So the offset of the next block is known: the block lies on the highest placed block that is live at the
 * same time as it. A branch is given up when at some moment the blocks left to place need more than the room above
 * their lowest possible offset.
 *
 * <p>Two ideas are from Moffitt's solver MiniMalloc (MiniMalloc: a lightweight memory allocator for
 * hardware-accelerated machine learning, ASPLOS 2023): placing upwards with this bound, and not placing a block where
 * another block would fit below it. We deviate in running many short searches in random orders instead of few long ones
 * in fixed orders: a lucky search takes a few hundred steps, and an unlucky one rarely recovers.
 *
 * <p>Thread-safety: confined to one thread. Cost: a step looks at each block for each moment in which the block lives.
 */
final class FloorSearch {

    /** The limit of the sum of all blocks' lives, in moments; a step over a longer sum would take a millisecond. */
    private static final long MOST_CELLS = 1 << 18;

    private static final int MOST_BLOCKS = 1024;

    /**
     * The number of criteria by which blocks that could have the same offset are ranked; each rank is varied at random.
     */
    private static final int KINDS = 5;

    private final int count;
    private final int[] sizes;

    /**
     * For each block: the first moment of its life, and the moment after its last. A moment is a stretch of allocations
     * without the end of a block between them.
     */
    private final int[] from;

    private final int[] to;
    private final int[][] together;

    /** For each moment: the granules of the live blocks that aren't placed yet. */
    private final long[] left;

    /** For each block that isn't placed: the lowest offset that the placed blocks below leave it. */
    private final int[] floors;

    private final boolean[] placed;
    private final double[] ranks;

    /** For each moment: the lowest offset that is still possible. */
    private final int[] lowest;

    private final int[] raised;
    private final int[] floorsBefore;
    private int raises;
    private final SplittableRandom random;
    private final BooleanSupplier goesOn;
    private int ceiling;
    private long stepsLeft;

    /** Makes a search; null if there are too many blocks. */
    static @Nullable FloorSearch over(
            final Lifetimes blocks, final SplittableRandom random, final BooleanSupplier goesOn) {
        if (blocks.count() > MOST_BLOCKS) {
            return null;
        }
        final FloorSearch search = new FloorSearch(blocks, random, goesOn);
        long cells = 0;
        for (int block = 0; block < search.count; block++) {
            cells += search.to[block] - search.from[block];
        }
        return cells > MOST_CELLS ? null : search;
    }

    private FloorSearch(final Lifetimes blocks, final SplittableRandom random, final BooleanSupplier goesOn) {
        this.random = random;
        this.goesOn = goesOn;
        count = blocks.count();
        sizes = new int[count];
        from = new int[count];
        to = new int[count];
        final boolean[] ends = new boolean[count + 1];
        for (int block = 0; block < count; block++) {
            ends[blocks.end(block)] = true;
        }
        final int[] moment = new int[count + 1];
        for (int time = 1; time <= count; time++) {
            moment[time] = moment[time - 1] + (ends[time] ? 1 : 0);
        }
        for (int block = 0; block < count; block++) {
            sizes[block] = blocks.size(block);
            from[block] = moment[block];
            to[block] = moment[blocks.end(block)];
        }
        together = new int[count][];
        for (int block = 0; block < count; block++) {
            together[block] = liveWith(block);
        }
        left = new long[moment[count]];
        lowest = new int[moment[count]];
        floors = new int[count];
        placed = new boolean[count];
        ranks = new double[count];
        raised = new int[count * count];
        floorsBefore = new int[count * count];
    }

    private int[] liveWith(final int block) {
        final int[] found = new int[count];
        int length = 0;
        for (int other = 0; other < count; other++) {
            if (other != block && from[other] < to[block] && from[block] < to[other]) {
                found[length++] = other;
            }
        }
        return Arrays.copyOf(found, length);
    }

    /**
     * Searches once.
     *
     * @param newCeiling granules; no block may end above it
     * @param attempt number of the attempt, which selects the criterion of the ranks in turn
     * @param mostSteps number of steps after which the search gives up
     * @return a layout, or null if none was found
     */
    @Nullable
    Layout find(final int newCeiling, final int attempt, final long mostSteps) {
        ceiling = newCeiling;
        stepsLeft = mostSteps;
        raises = 0;
        Arrays.fill(placed, false);
        Arrays.fill(floors, 0);
        Arrays.fill(left, 0);
        for (int block = 0; block < count; block++) {
            addLeft(block, sizes[block]);
        }
        for (int block = 0; block < count; block++) {
            ranks[block] = rank(block, attempt % KINDS) * (0.7 + 0.6 * random.nextDouble());
        }
        if (!search(0, 0, -1)) {
            return null;
        }
        int top = 0;
        for (int block = 0; block < count; block++) {
            top = Math.max(top, floors[block] + sizes[block]);
        }
        return new Layout(floors.clone(), new int[0], top);
    }

    private double rank(final int block, final int kind) {
        final double life = to[block] - from[block];
        long most = 0;
        for (int moment = from[block]; moment < to[block]; moment++) {
            most = Math.max(most, left[moment]);
        }
        return switch (kind) {
            case 0 -> life * sizes[block];
            case 1 -> life * 1e6 + sizes[block];
            case 2 -> sizes[block] * 1e4 + life;
            case 3 -> most * 1e6 + life * sizes[block];
            default -> most * 1e6 + life;
        };
    }

    /**
     * Tells whether all remaining blocks can be placed at {@code offset} or above. A block can be placed exactly at
     * {@code offset} only if it comes after the block {@code last} in the order of ranks.
     */
    private boolean search(final int done, final int offset, final int last) {
        if (done == count) {
            return true;
        }
        if (--stepsLeft < 0 || ((stepsLeft & 255) == 0 && !goesOn.getAsBoolean())) {
            stepsLeft = -1;
            return false;
        }
        final int leastEnd = leastEnd(offset);
        if (leastEnd < 0) {
            return false;
        }
        for (final int block : candidates(offset, last, leastEnd)) {
            final int before = raises;
            put(block);
            if (search(done + 1, floors[block], block)) {
                return true;
            }
            if (stepsLeft < 0) {
                return false;
            }
            takeBack(block, before);
        }
        return false;
    }

    /** Returns the lowest end that a block left to place can have; -1 if a moment lacks room for all of its blocks. */
    private int leastEnd(final int offset) {
        Arrays.fill(lowest, Integer.MAX_VALUE);
        int least = Integer.MAX_VALUE;
        for (int block = 0; block < count; block++) {
            if (!placed[block]) {
                final int floor = Math.max(floors[block], offset);
                if (floor > ceiling - sizes[block]) {
                    return -1;
                }
                least = Math.min(least, floor + sizes[block]);
                for (int moment = from[block]; moment < to[block]; moment++) {
                    lowest[moment] = Math.min(lowest[moment], floor);
                }
            }
        }
        for (int moment = 0; moment < left.length; moment++) {
            if (left[moment] > 0 && lowest[moment] + left[moment] > ceiling) {
                return -1;
            }
        }
        return least;
    }

    /** Returns the blocks that may be placed next, low offsets first. */
    private int[] candidates(final int offset, final int last, final int leastEnd) {
        final int[] found = new int[count];
        int length = 0;
        for (int block = 0; block < count; block++) {
            // At one offset, blocks are placed in the order of ranks only; otherwise the same sets would be tried in
            // every order.
            if (!placed[block]
                    && floors[block] >= offset
                    && floors[block] < leastEnd
                    && (last < 0 || floors[block] > offset || isBefore(last, block))) {
                int at = length++;
                while (at > 0 && isBefore(block, found[at - 1])) {
                    found[at] = found[--at];
                }
                found[at] = block;
            }
        }
        return Arrays.copyOf(found, length);
    }

    private boolean isBefore(final int block, final int other) {
        if (floors[block] != floors[other]) {
            return floors[block] < floors[other];
        }
        return ranks[block] != ranks[other] ? ranks[block] > ranks[other] : block < other;
    }

    private void put(final int block) {
        placed[block] = true;
        addLeft(block, -sizes[block]);
        final int end = floors[block] + sizes[block];
        for (final int other : together[block]) {
            if (!placed[other] && floors[other] < end) {
                raised[raises] = other;
                floorsBefore[raises++] = floors[other];
                floors[other] = end;
            }
        }
    }

    private void takeBack(final int block, final int raisesBefore) {
        while (raises > raisesBefore) {
            raises--;
            floors[raised[raises]] = floorsBefore[raises];
        }
        addLeft(block, sizes[block]);
        placed[block] = false;
    }

    private void addLeft(final int block, final int size) {
        for (int moment = from[block]; moment < to[block]; moment++) {
            left[moment] += size;
        }
    }
}
