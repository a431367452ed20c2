package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.core.ByteSize;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds where blocks lie in a small region, if all of their lives are known: dynamic storage allocation, which is
 * NP-hard (Garey and Johnson 1979, SR2). First a few orders, each block at the lowest offset; then a search that goes
 * on until there is nothing to gain, or time is out: for few blocks {@link FloorSearch}, for many {@link OrderSearch}.
 *
 * <p>Thread-safety: confined to one thread.
 */
final class Planner {

    /** Steps of the first searches for each ceiling; twice as many each time that all have failed. */
    private static final long FIRST_STEPS = 2000;

    /** Searches for each ceiling and number of steps. */
    private static final int ATTEMPTS = 10;

    /** Ceilings that are tried, in quarters of what lies between the bound and the top. */
    private static final int CEILINGS = 4;

    private final Lifetimes blocks;
    private final SplittableRandom random;
    private final BooleanSupplier goesOn;
    private @Nullable Layout best;

    /** What is asked whether to go on is asked often; the first layout is made in any case. */
    Planner(final Lifetimes blocks, final long seed, final BooleanSupplier goesOn) {
        this.blocks = blocks;
        this.goesOn = goesOn;
        random = new SplittableRandom(seed);
    }

    /**
     * The best layout that was found.
     *
     * @throws WrongUseException if none has less than 2^31 granules
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
        return layout.top() > blocks.peakGranules() && goesOn.getAsBoolean();
    }

    private Layout searchFloors(final FloorSearch search, final Layout known) {
        Layout found = known;
        for (long steps = FIRST_STEPS; mayGain(found); steps *= 2) {
            for (int attempt = 0; attempt < CEILINGS * ATTEMPTS && mayGain(found); attempt++) {
                final int above = found.top() - (int) blocks.peakGranules();
                final int quarter = attempt % CEILINGS;
                final int ceiling =
                        Math.min(found.top() - 1, (int) (blocks.peakGranules() + (long) above * quarter / CEILINGS));
                final Layout better = search.find(ceiling, attempt / CEILINGS, steps);
                found = better == null ? found : better;
            }
        }
        return found;
    }
}
