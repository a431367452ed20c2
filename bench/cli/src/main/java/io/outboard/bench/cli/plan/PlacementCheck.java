package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.trace.Trace;
import java.util.Map;
import java.util.TreeMap;

/**
 * This class checks a placement by running the trace. Live blocks are in a map by offset, and the place of each new
 * block must be free. The check shares nothing with the search. Safe for any number of threads. Cost: O(log live
 * blocks) an operation.
 */
final class PlacementCheck {

    private PlacementCheck() {}

    /**
     * Runs a trace.
     *
     * @param offsets of the trace's blocks in the order of their allocations, in granules
     * @param granuleBytes the granule
     * @return the bytes that the placement takes, a multiple of the granule
     * @throws IllegalStateException if two blocks overlap, or a block starts before the region, which is an error of
     *     the search
     */
    static long regionBytes(final Trace trace, final int[] offsets, final long granuleBytes) {
        final TreeMap<Long, Long> endsByStart = new TreeMap<>();
        final long[] startInSlot = new long[trace.slots()];
        long regionBytes = 0;
        int block = 0;
        final long[] operations = trace.operations();
        for (int i = 0; i < operations.length; i++) {
            final int slot = Trace.slot(operations[i]);
            if (Trace.isFree(operations[i])) {
                endsByStart.remove(startInSlot[slot]);
                continue;
            }
            final long start = offsets[block++] * granuleBytes;
            final long end = start + (Trace.bytes(operations[i]) + granuleBytes - 1) / granuleBytes * granuleBytes;
            final Map.Entry<Long, Long> below = endsByStart.lowerEntry(end);
            if (start < 0 || (below != null && below.getValue() > start)) {
                throw new IllegalStateException("the block of operation " + i + " at [" + start + ", " + end
                        + ") must not overlap another that is live"
                        + (below == null ? "" : ", and does the one at " + below.getKey()));
            }
            endsByStart.put(start, end);
            startInSlot[slot] = start;
            regionBytes = Math.max(regionBytes, end);
        }
        return regionBytes;
    }
}
