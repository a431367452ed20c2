package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.core.ByteSize;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * This class finds offsets of blocks in a small region when all their lives are known. The problem is dynamic storage
 * allocation, which is NP-hard (Garey and Johnson 1979, SR2). First blocks are placed in a few orders, each block at
 * the lowest offset. Then a search runs until nothing can be gained or time is out: {@link FloorSearch} for few blocks,
 * {@link OrderSearch} for many.
 *
 * <p>Thread-safety: confined to one thread.
 */
final class Planner {

    /** The number of steps of the first searches for each ceiling; half as many more when all searches have failed. */
    private static final long FIRST_STEPS = 2000;

    /** The number of ceilings that are tried in turn, in quarters of the difference between bound and top. */
    private static final int CEILINGS = 4;

    private final Lifetimes blocks;
    private final long goal;
    private final boolean hasCapacity;
    private final SplittableRandom random;
    private final BooleanSupplier goesOn;
    private @Nullable Layout best;

    /**
     * Makes a planner. A layout of {@code capacity} granules is good enough; 0 asks for the best. {@code goesOn} is
     * asked often whether to continue; the first layout is made in any case.
     */
    Planner(final Lifetimes blocks, final long capacity, final long seed, final BooleanSupplier goesOn) {
        this.blocks = blocks;
        hasCapacity = capacity > 0;
        goal = Math.max(capacity, blocks.peakGranules());
        this.goesOn = goesOn;
        random = new SplittableRandom(seed);
    }

    /**
     * Returns the best layout that was found.
     *
     * @throws WrongUseException if no layout has less than 2^31 granules
     */
    Layout run() {
        final Placement placement = new Placement(blocks);
        for (final Supplier<int[]> order : Orders.of(blocks)) {
            if (best == null || mayGain(best)) {
                final Layout found = placement.placeAll(order.get(), best == null ? Integer.MAX_VALUE : best.top() - 1);
                best = found == null ? best : found;
            }
        }
        if (best == null) {
            throw new WrongUseException("--granule=" + ByteSize.text(blocks.granuleBytes())
                    + " must be so large that the plan has less than 2^31 of them");
        }
        final FloorSearch floors = FloorSearch.over(blocks, random, goesOn);
        return floors == null
                ? new OrderSearch(blocks, placement, best, random, goesOn).run()
                : searchFloors(floors, best);
    }

    private boolean mayGain(final Layout layout) {
        return layout.top() > goal && goesOn.getAsBoolean();
    }

    private Layout searchFloors(final FloorSearch search, final Layout known) {
        Layout found = known;
        int attempt = 0;
        for (long steps = FIRST_STEPS; mayGain(found); steps += steps / 2) {
            for (int kind = 0; kind < FloorSearch.KINDS && mayGain(found); kind++) {
                for (int part = 0; part < CEILINGS && mayGain(found); part++) {
                    // Where there is a capacity, the region counts less that is found if that isn't.
                    final int share = hasCapacity ? part / (CEILINGS - 1) * CEILINGS / 2 : part;
                    final long ceiling = goal + (found.top() - goal) * share / CEILINGS;
                    final Layout better = search.find((int) Math.min(ceiling, found.top() - 1), attempt, steps);
                    found = better == null ? found : better;
                    attempt += hasCapacity ? 1 : 0;
                }
                attempt++;
            }
        }
        return found;
    }
}
