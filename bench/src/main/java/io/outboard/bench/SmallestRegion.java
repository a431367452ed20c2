package io.outboard.bench;

import io.outboard.bench.trace.Trace;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;

/**
 * The smallest region in which a strategy serves a whole trace, looked for from below in steps of a sixteenth of a
 * percent of peak live bytes. Not by bisection: a region that serves doesn't mean that every larger one does, since
 * another size leads to other placements. For the profile {@code large}, such regions lie scattered between 1.05 and 1.07
 * times peak live bytes.
 */
final class SmallestRegion {

    /** Steps that add up to peak live bytes: 0.0625 % each. A coarser walk steps over regions that serve. */
    private static final long STEPS = 1600;

    /** A strategy that needs more than so many times the peak wastes most of its region. */
    private static final long MOST_TIMES_PEAK = 4;

    private SmallestRegion() {}

    /**
     * Looks for it.
     *
     * @return bytes, a multiple of the granule
     * @throws WrongUseException if four times peak live bytes aren't enough
     */
    static long find(final StrategyProvider provider, final StrategyOptions options, final Trace trace) {
        final long[] addresses = new long[trace.slots()];
        final long granule = options.granuleBytes();
        final long least = peakOfGranules(trace, granule);
        final long step = Math.max((trace.peakLiveBytes() / STEPS) & -granule, granule);
        for (long regionBytes = least; regionBytes <= MOST_TIMES_PEAK * least; regionBytes += step) {
            final Strategy strategy =
                    StrategyMeasurement.create(provider, VirtualMemorySource.region(regionBytes), options);
            if (Replay.isServed(strategy, trace.operations(), addresses)) {
                return regionBytes;
            }
        }
        throw new WrongUseException("--region=smallest must be at most " + MOST_TIMES_PEAK * least + " bytes, and "
                + provider.name() + " doesn't serve " + trace.name() + " in that");
    }

    /** The most that is live at a time when every size is rounded up to the granule: no region can be smaller. */
    private static long peakOfGranules(final Trace trace, final long granule) {
        long live = 0;
        long peak = 0;
        for (final long operation : trace.operations()) {
            final long bytes = roundUp(Trace.bytes(operation), granule);
            live += Trace.isFree(operation) ? -bytes : bytes;
            peak = Math.max(peak, live);
        }
        return peak;
    }

    private static long roundUp(final long bytes, final long granule) {
        return (bytes + granule - 1) & -granule;
    }
}
