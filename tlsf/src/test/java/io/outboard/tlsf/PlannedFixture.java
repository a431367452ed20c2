package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** This class makes planned strategies whose plan has the sizes that tests ask for, with gaps between the places. */
final class PlannedFixture {

    private static final int BLOCKS = 400;

    /** The host memory of a plan, in bytes. */
    static final long PLAN_BYTES = 16 * (BLOCKS + 1);

    /** The plans, by granule. */
    private static final Map<Long, Plan> PLANS = new ConcurrentHashMap<>();

    private PlannedFixture() {}

    static PlannedStrategy planned(final Region region, final StrategyOptions options) {
        return new PlannedStrategy(
                region, options, PLANS.computeIfAbsent(options.granuleBytes(), PlannedFixture::planFor));
    }

    private static Plan planFor(final long granuleBytes) {
        final List<Plan.Block> blocks = new ArrayList<>();
        long offset = BLOCKS * 10L;
        for (int i = 0; i < BLOCKS; i++) {
            final long size = new long[] {1, 2, 8}[i % 3];
            offset -= size + i % 2;
            blocks.add(new Plan.Block(size * granuleBytes, offset * granuleBytes, i, BLOCKS + i));
        }
        return Plan.of(granuleBytes, BLOCKS * 10 * granuleBytes, blocks);
    }

    /** Returns a strategy with the plan of a program that asks for one granule again and again, from the second on. */
    static PlannedStrategy plannedForGranules(final Region region, final StrategyOptions options) {
        final long granuleBytes = options.granuleBytes();
        final List<Plan.Block> blocks = new ArrayList<>();
        for (int i = 0; i < BLOCKS; i++) {
            blocks.add(new Plan.Block(granuleBytes, (i % 7 * 5L + 1) * granuleBytes, 3 * i, 3 * i + 2));
        }
        return new PlannedStrategy(region, options, Plan.of(granuleBytes, 64 * granuleBytes, blocks));
    }
}
