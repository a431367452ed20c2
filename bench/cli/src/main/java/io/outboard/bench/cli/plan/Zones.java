package io.outboard.bench.cli.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * This class plans blocks of different sizes in zones of their own, one above the other, the largest blocks lowest. In
 * a plan without zones, small blocks lie where a large block lies later; if a step deviates and one of the small blocks
 * is still there, the large one finds no room anywhere. In zones, a block that lies wrongly hinders others of about its
 * size alone, and their memory is soon found. Small blocks are a small part of what is live, so their zones cost
 * little. Safe for any number of threads.
 */
final class Zones {

    /** The region may be larger than without zones by this share of the peak. */
    private static final double MOST_COST = 0.01;

    private Zones() {}

    /**
     * Plans all blocks.
     *
     * @param planner of the blocks of one zone; is called for the smallest blocks first
     */
    static Layout plan(final Lifetimes blocks, final Function<Lifetimes, Layout> planner) {
        final List<int[]> zones = of(blocks);
        final List<Layout> layouts = new ArrayList<>();
        for (int zone = zones.size() - 1; zone >= 0; zone--) {
            layouts.add(0, planner.apply(blocks.only(zones.get(zone))));
        }
        final int[] offsets = new int[blocks.count()];
        int top = 0;
        for (int zone = 0; zone < zones.size(); zone++) {
            final int[] some = zones.get(zone);
            for (int i = 0; i < some.length; i++) {
                offsets[some[i]] = Math.addExact(top, layouts.get(zone).offsets()[i]);
            }
            top = Math.addExact(top, layouts.get(zone).top());
        }
        return new Layout(offsets, new int[0], top);
    }

    /**
     * Divides blocks into zones, at each power of two where that is cheap: where the peaks on both sides of it add up
     * to little more than the peak of all.
     */
    private static List<int[]> of(final Lifetimes blocks) {
        final List<int[]> zones = new ArrayList<>();
        int[] rest = new int[blocks.count()];
        Arrays.setAll(rest, block -> block);
        double left = blocks.peakGranules() * MOST_COST;
        for (int size = 1 << (Integer.SIZE - 2); size > 1; size >>= 1) {
            final int least = size;
            final int[] large = Arrays.stream(rest)
                    .filter(block -> blocks.size(block) >= least)
                    .toArray();
            if (large.length == 0 || large.length == rest.length) {
                continue;
            }
            final int[] small = Arrays.stream(rest)
                    .filter(block -> blocks.size(block) < least)
                    .toArray();
            final long cost = peak(blocks, large) + peak(blocks, small) - peak(blocks, rest);
            if (cost <= left) {
                left -= cost;
                zones.add(large);
                rest = small;
            }
        }
        zones.add(rest);
        return zones;
    }

    private static long peak(final Lifetimes blocks, final int[] some) {
        return blocks.only(some).peakGranules();
    }
}
