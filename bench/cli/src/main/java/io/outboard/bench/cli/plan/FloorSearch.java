package io.outboard.bench.cli.plan;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This class searches for a layout of few blocks below a ceiling, depth first. Blocks are placed from the lowest offset
 * upwards. So the offset of the next block, its <em>floor</em>, is known: the block lies on the highest placed block
 * that is live at the same time as it.
 *
 * <pre>
 *   ceiling ---------------
 *             |  D? |          A, B and C are placed. D and E are left to place; their floors are on B and on C.
 *     ^       | B |    E? |    No block can be placed below the floor of the last that was placed.
 *     |    | A   | |  C  |
 *     +--------------------&gt; moments
 * </pre>
 *
 * <p>After Moffitt's solver MiniMalloc (MiniMalloc: a lightweight memory allocator for hardware-accelerated machine
 * learning, ASPLOS 2023):
 *
 * <ul>
 *   <li>Blocks are placed in the order of their offsets, those with one offset in the order of ranks, so that each
 *       layout is found in one order alone.
 *   <li>A block isn't placed where another one would fit below it.
 *   <li>A branch is given up when at some moment the blocks left to place don't fit between their lowest floor and the
 *       ceiling.
 *   <li>When no block left to place lives both before and after a moment, the two parts are searched one after the
 *       other, and neither search is repeated for what fails in the other part.
 *   <li>Ranks are by length of life, size or most live granules, each in turn.
 * </ul>
 *
 * <p>Where we deviate: the bound holds for each floor, not for the lowest alone: the blocks whose floors are at or
 * above it must fit above it. A block below the last offset needs another block below it first, which raises its floor.
 * Parts that failed are remembered by their floors, and left at once when they come again, in later searches, too. And there
 * are many short searches in random orders, each round longer than the one before, instead of few long ones: a lucky
 * search takes a few thousand steps, and an unlucky one rarely recovers.
 *
 * <p>Thread-safety: confined to one thread. Cost: a step looks at each block of the part for each moment in which the
 * block lives; 2 MiB of host memory.
 */
final class FloorSearch {

    /** The number of criteria by which blocks that could have the same offset are ranked. */
    static final int KINDS = 5;

    /** The limit of the sum of all blocks' lives, in moments; a step over a longer sum would take a millisecond. */
    private static final long MOST_CELLS = 1 << 18;

    private static final int MOST_BLOCKS = 1024;

    private static final int NONE = -1;

    /** The parts that are remembered, a power of two. A later part takes the place of an earlier one. */
    private static final int FAILED = 1 << 18;

    /** Ranks are varied at random by this share, except in the first search of each kind. */
    private static final double NOISE = 0.3;

    private final int count;
    private final int[] sizes;

    /**
     * For each block: the first moment of its life, and the moment after its last. A moment is a stretch of allocations
     * without the end of a block between them.
     */
    private final int[] from;

    private final int[] to;
    private final int[][] together;

    /** For each moment: the first block whose life begins there or later. */
    private final int[] firstFrom;

    /** For each moment: the granules of the live blocks that aren't placed yet. */
    private final int[] left;

    /** For each moment: how many blocks that aren't placed live then and at the next moment, too. */
    private final int[] crossing;

    /** For each moment: the granules of the blocks left whose floor is one or above it. */
    private final int[] above;

    /** For each block: its offset if it is placed, or else the lowest offset that the placed blocks leave it. */
    private final int[] floors;

    /** A ring of the blocks that aren't placed, in the order of their numbers; {@link #count} stands for both ends. */
    private final int[] nextLeft;

    private final int[] previousLeft;

    private final boolean[] placed;

    /** The blocks that are placed, in order. */
    private final int[] path;

    private int pathLength;

    /** The place of each block in the order of ranks. */
    private final int[] ranks;

    private final int[] raised;
    private final int[] floorsBefore;
    private int raises;
    private final long[] byFloor;
    private final long[] failed = new long[FAILED];
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
        final int moments = moment[count];
        firstFrom = new int[moments];
        int first = 0;
        for (int i = 0; i < moments; i++) {
            while (first < count && from[first] < i) {
                first++;
            }
            firstFrom[i] = first;
        }
        left = new int[moments];
        crossing = new int[moments];
        above = new int[moments];
        floors = new int[count];
        nextLeft = new int[count + 1];
        previousLeft = new int[count + 1];
        placed = new boolean[count];
        path = new int[count];
        ranks = new int[count];
        raised = new int[count * count];
        floorsBefore = new int[count * count];
        byFloor = new long[count];
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
        clear();
        rank(attempt % KINDS, attempt < KINDS ? 0 : NOISE);
        if (!searchParts(0, left.length, 0, NONE)) {
            return null;
        }
        int top = 0;
        for (int block = 0; block < count; block++) {
            top = Math.max(top, floors[block] + sizes[block]);
        }
        return new Layout(floors.clone(), new int[0], top);
    }

    private void clear() {
        raises = 0;
        pathLength = 0;
        Arrays.fill(placed, false);
        Arrays.fill(floors, 0);
        Arrays.fill(left, 0);
        Arrays.fill(crossing, 0);
        for (int block = 0; block < count; block++) {
            addLeft(block, sizes[block], 1);
        }
        for (int block = 0; block <= count; block++) {
            nextLeft[block] = block == count ? 0 : block + 1;
            previousLeft[block] = block == 0 ? count : block - 1;
        }
    }

    private void rank(final int kind, final double noise) {
        final double[] keys = new double[count];
        for (int block = 0; block < count; block++) {
            keys[block] = key(block, kind) * (1 - noise / 2 + noise * random.nextDouble());
        }
        final Integer[] order = new Integer[count];
        Arrays.setAll(order, block -> block);
        Arrays.sort(order, (block, other) -> Double.compare(keys[other], keys[block]));
        for (int i = 0; i < count; i++) {
            ranks[order[i]] = i;
        }
    }

    private double key(final int block, final int kind) {
        final double life = to[block] - from[block];
        long most = 0;
        for (int moment = from[block]; moment < to[block]; moment++) {
            most = Math.max(most, left[moment]);
        }
        return switch (kind) {
            case 0 -> life * 1e12 + life * sizes[block];
            case 1 -> most * 1e9 + life * sizes[block];
            case 2 -> most * 1e6 + life;
            case 3 -> life * sizes[block];
            default -> sizes[block] * 1e4 + life;
        };
    }

    /**
     * Tells whether all blocks left in a stretch of moments, none of which lives outside of it, can be placed; if so,
     * they are. The stretch is cut wherever no block left lives on both sides.
     */
    private boolean searchParts(final int start, final int end, final int offset, final int last) {
        int moment = start;
        while (moment < end) {
            final int partStart = moment;
            while (moment < end && crossing[moment] > 0) {
                moment++;
            }
            moment++;
            if (left[partStart] > 0 && !search(partStart, moment, offset, last)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Does the same for one part, in which there is a block. Blocks are placed at {@code offset} or above; a block can
     * be placed exactly at {@code offset} only if it comes after the block {@code last} in the order of ranks.
     */
    private boolean search(final int start, final int end, final int offset, final int last) {
        if (--stepsLeft < 0 || ((stepsLeft & 255) == 0 && !goesOn.getAsBoolean())) {
            stepsLeft = -1;
            return false;
        }
        final int first = firstLeft(start);
        int lowest = Integer.MAX_VALUE;
        int leastEnd = Integer.MAX_VALUE;
        long hash = ceiling;
        for (int block = first; block < count && from[block] < end; block = nextLeft[block]) {
            final boolean isOpen = isOpen(block, offset, last);
            lowest = isOpen ? Math.min(lowest, floors[block]) : lowest;
            leastEnd = Math.min(leastEnd, floors[block] + sizes[block]);
            hash += mixed(block + ((long) (isOpen ? floors[block] : NONE) << Integer.SIZE));
        }
        // What can follow depends on the open blocks' floors alone; other floors rise above all of these first.
        hash = mixed(hash);
        final int memory = (int) hash & (FAILED - 1);
        if (failed[memory] == hash) {
            return false;
        }
        if (lowest < leastEnd && hasRoom(first, start, end, offset, last, lowest)) {
            for (final int block : candidates(first, end, offset, last, leastEnd)) {
                final int raisesBefore = raises;
                final int lengthBefore = pathLength;
                put(block);
                if (searchParts(start, end, floors[block], block)) {
                    return true;
                }
                takeBack(lengthBefore, raisesBefore);
                if (stepsLeft < 0) {
                    return false;
                }
            }
        }
        failed[memory] = hash;
        return false;
    }

    private int firstLeft(final int start) {
        int block = firstFrom[start];
        while (placed[block]) {
            block++;
        }
        return block;
    }

    private boolean isOpen(final int block, final int offset, final int last) {
        return floors[block] > offset || (floors[block] == offset && (last == NONE || ranks[block] > ranks[last]));
    }

    /** Mixes the bits of a number, as SplitMix64 does. */
    private static long mixed(final long number) {
        long bits = number * 0x9E3779B97F4A7C15L;
        bits = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
        bits = (bits ^ (bits >>> 27)) * 0x94D049BB133111EBL;
        return bits ^ (bits >>> 31);
    }

    /**
     * Tells whether at each moment of a part, the blocks left fit above their floors.
     *
     * @param lowest the lowest offset at which a block can be placed
     */
    private boolean hasRoom(
            final int first, final int start, final int end, final int offset, final int last, final int lowest) {
        int length = 0;
        for (int block = first; block < count && from[block] < end; block = nextLeft[block]) {
            final long floor = isOpen(block, offset, last) ? floors[block] : leastFloor(block, lowest);
            if (floor > ceiling - sizes[block]) {
                return false;
            }
            byFloor[length++] = floor << Integer.SIZE | block;
        }
        Arrays.sort(byFloor, 0, length);
        Arrays.fill(above, start, end, 0);
        for (int i = length - 1; i >= 0; i--) {
            final int block = (int) byFloor[i];
            final int most = ceiling - (int) (byFloor[i] >>> Integer.SIZE);
            for (int moment = from[block]; moment < to[block]; moment++) {
                above[moment] += sizes[block];
                if (above[moment] > most) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Returns the lowest floor of a block that another block left must raise first; above the ceiling if none can. */
    private int leastFloor(final int block, final int lowest) {
        int least = ceiling;
        for (final int other : together[block]) {
            if (!placed[other]) {
                least = Math.min(least, Math.max(floors[other], lowest) + sizes[other]);
            }
        }
        return least;
    }

    /** Returns the blocks that may be placed next, low offsets first. */
    private int[] candidates(final int first, final int end, final int offset, final int last, final int leastEnd) {
        final int[] found = new int[count];
        int length = 0;
        for (int block = first; block < count && from[block] < end; block = nextLeft[block]) {
            if (floors[block] < leastEnd && isOpen(block, offset, last)) {
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
        return floors[block] != floors[other] ? floors[block] < floors[other] : ranks[block] < ranks[other];
    }

    private void put(final int block) {
        placed[block] = true;
        path[pathLength++] = block;
        nextLeft[previousLeft[block]] = nextLeft[block];
        previousLeft[nextLeft[block]] = previousLeft[block];
        addLeft(block, -sizes[block], -1);
        final int end = floors[block] + sizes[block];
        for (final int other : together[block]) {
            if (!placed[other] && floors[other] < end) {
                raised[raises] = other;
                floorsBefore[raises++] = floors[other];
                floors[other] = end;
            }
        }
    }

    private void takeBack(final int lengthBefore, final int raisesBefore) {
        while (raises > raisesBefore) {
            raises--;
            floors[raised[raises]] = floorsBefore[raises];
        }
        while (pathLength > lengthBefore) {
            final int block = path[--pathLength];
            placed[block] = false;
            nextLeft[previousLeft[block]] = block;
            previousLeft[nextLeft[block]] = block;
            addLeft(block, sizes[block], 1);
        }
    }

    private void addLeft(final int block, final int size, final int crosses) {
        for (int moment = from[block]; moment < to[block]; moment++) {
            left[moment] += size;
        }
        for (int moment = from[block]; moment < to[block] - 1; moment++) {
            crossing[moment] += crosses;
        }
    }
}
