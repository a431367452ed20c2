package io.outboard.bench.cli.plan;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This class searches for an order of blocks that gives a lower top than a known order. Only the blocks matter that
 * live at moments when much is live, and most blocks of a trace don't. So the search covers those blocks alone, and
 * places all others around them afterwards.
 *
 * <ol>
 *   <li>Blocks are placed in order, each at the lowest offset, below a ceiling that is a little lower than the top.
 *   <li>A block that finds no room moves forward to a random place in the order. The blocks from that place on are
 *       taken back, and placing continues there.
 *   <li>When all these blocks have found room, all others are placed in the order that they had. If one of the others
 *       finds no room, more blocks matter than assumed, and the search starts again with more.
 * </ol>
 *
 * <p>Thread-safety: confined to one thread. Cost: the search runs until it is told to end, or until nothing can be
 * gained; deterministic except for the moment of its end.
 */
final class OrderSearch {

    /**
     * The shares of the peak that must be live at some moment of a block's life for the block to matter. The next share
     * is used when a block that doesn't matter finds no room.
     */
    private static final double[] SHARES = {0.9, 0.8, 0.6, 0.0};

    /**
     * The difference between top and bound is divided into this many parts, and the ceiling is one part below the top.
     */
    private static final int CEILING_PARTS = 50;

    /**
     * The number of moves without success after which the search starts anew. On the trace of ResNet-50, 30, 100, 300,
     * 1,000, 3,000 and 10,000 were tried with four seeds each and 5 s; 300 reached the lowest top with each seed, and
     * the others with three seeds at most (2026-11-25).
     */
    private static final int PATIENCE = 300;

    private final Lifetimes blocks;
    private final Placement whole;
    private final SplittableRandom random;
    private final BooleanSupplier goesOn;
    private Layout best;

    OrderSearch(
            final Lifetimes blocks,
            final Placement whole,
            final Layout known,
            final SplittableRandom random,
            final BooleanSupplier goesOn) {
        this.blocks = blocks;
        this.whole = whole;
        this.random = random;
        this.goesOn = goesOn;
        best = known;
    }

    /** Returns the best layout that was found, or the known layout. */
    Layout run() {
        int most = -1;
        for (final double share : SHARES) {
            final int[] some = blocks.liveAbove(share);
            if (some.length > most && best.top() > blocks.peakGranules() && goesOn.getAsBoolean()) {
                most = some.length;
                improve(some);
            }
        }
        return best;
    }

    private void improve(final int[] some) {
        final Lifetimes these = blocks.only(some);
        final Placement placement = new Placement(these);
        int[] order = orderOf(some);
        int moves = 0;
        int placed = 0;
        while (best.top() > blocks.peakGranules() && goesOn.getAsBoolean()) {
            final int ceiling = ceiling();
            while (placed < order.length && placement.place(order[placed], ceiling) != Placement.NO_ROOM) {
                placed++;
            }
            if (placed == order.length) {
                final Layout found = withOthers(some, order, ceiling);
                if (found == null) {
                    return;
                }
                best = found;
                moves = PATIENCE;
            }
            if (moves++ >= PATIENCE) {
                moves = 0;
                placed = 0;
                order = orderOf(some);
                placement.clear();
            } else {
                // The square root draws places far in front less often than near places.
                final int to = (int) (placed * Math.sqrt(random.nextDouble()));
                placed = moveForward(order, placed, to, placement);
            }
        }
    }

    private static int moveForward(final int[] order, final int from, final int to, final Placement placement) {
        for (int i = from - 1; i >= to; i--) {
            placement.takeBack(order[i]);
        }
        final int moved = order[from];
        System.arraycopy(order, to, order, to + 1, from - to);
        order[to] = moved;
        return to;
    }

    /** Returns a ceiling below the top by at least one granule, but not below the bound. */
    private int ceiling() {
        final int above = best.top() - (int) blocks.peakGranules();
        return best.top() - Math.max(1, above / CEILING_PARTS);
    }

    /** Returns the best order of these blocks alone, as indexes in {@code some}. */
    private int[] orderOf(final int[] some) {
        final int[] order = new int[some.length];
        int count = 0;
        for (final int block : best.order()) {
            final int number = Arrays.binarySearch(some, block);
            if (number >= 0) {
                order[count++] = number;
            }
        }
        return order;
    }

    private @Nullable Layout withOthers(final int[] some, final int[] order, final int ceiling) {
        final int[] all = new int[blocks.count()];
        int count = 0;
        for (final int number : order) {
            all[count++] = some[number];
        }
        for (final int block : best.order()) {
            if (Arrays.binarySearch(some, block) < 0) {
                all[count++] = block;
            }
        }
        return whole.placeAll(all, ceiling);
    }
}
