package io.outboard.bench.cli.plan;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks for an order of blocks that gives a lower top, beginning with one that is known. Only the blocks matter that
 * live when much is live, and nearly all of a trace's don't: so the search goes over those alone, and then all others
 * are placed around them.
 *
 * <ol>
 *   <li>Blocks are placed in order, each at the lowest offset, up to a ceiling that is a little lower than the top.
 *   <li>One that finds no room moves forward in the order, to a place that is drawn; what was placed from there on
 *       is taken back, and it goes on from there.
 *   <li>When all have found room, all other blocks are placed in the order that they had. If one finds no room,
 *       more blocks matter than were thought to.
 * </ol>
 *
 * <p>Thread-safety: confined to one thread. Cost: as long as it may; deterministic, but for when it is told to end.
 */
final class OrderSearch {

    /** How much of the peak is live when a block matters; the next if one that doesn't finds no room. */
    private static final double[] SHARES = {0.9, 0.8, 0.6, 0.0};

    /** The ceiling takes one part in so many of what is above the bound. */
    private static final int CEILING_PARTS = 50;

    /**
     * After so many moves without success it begins anew. On the trace of ResNet-50, of 30, 100, 300, 1,000, 3,000 and
     * 10,000 with four seeds each and 5 s, 300 came to the lowest top with each seed, and the others with one to three,
     * or none (2026-11-25).
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

    /** The best layout that was found, or the one that was known. */
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
                // The square root draws places far in front less often than near ones.
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

    /** Lower than the top by one granule or more; not below the bound. */
    private int ceiling() {
        final int above = best.top() - (int) blocks.peakGranules();
        return best.top() - Math.max(1, above / CEILING_PARTS);
    }

    /** The best order of these blocks, by their numbers among these. */
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
