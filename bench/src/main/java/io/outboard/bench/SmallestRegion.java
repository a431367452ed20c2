package io.outboard.bench;

import io.outboard.bench.trace.Trace;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;

/**
 * The smallest region in which a strategy serves a whole trace, looked for from below in steps of 0.25 % of peak live
 * bytes. Not by bisection: a region that serves doesn't mean that every larger one does, since another size leads to
 * other placements (the profile {@code paper} is served at 1.20 of peak live bytes, and not at 1.22).
 */
final class SmallestRegion {

    /** Steps that add up to peak live bytes: 0.25 % each. */
    private static final long STEPS = 400;

    private SmallestRegion() {}

    /**
     * Looks for it.
     *
     * @param mostBytes a size to stop at, in bytes
     * @return bytes
     * @throws WrongUseException if even {@code mostBytes} isn't enough
     */
    static long find(
            final StrategyProvider provider, final StrategyOptions options, final Trace trace, final long mostBytes) {
        final long[] addresses = new long[trace.slots()];
        final long step = Math.max(trace.peakLiveBytes() / STEPS, 1);
        final long most = Math.max(mostBytes, trace.peakLiveBytes());
        if (!serves(provider, options, trace, most, addresses)) {
            throw new WrongUseException("--region=smallest must be at most " + most + " bytes, and " + provider.name()
                    + " doesn't serve " + trace.name() + " in that");
        }
        long regionBytes = trace.peakLiveBytes();
        while (regionBytes < most && !serves(provider, options, trace, regionBytes, addresses)) {
            regionBytes += step;
        }
        return Math.min(regionBytes, most);
    }

    private static boolean serves(
            final StrategyProvider provider,
            final StrategyOptions options,
            final Trace trace,
            final long regionBytes,
            final long[] addresses) {
        return Replay.isServed(
                StrategyMeasurement.create(provider, VirtualMemorySource.region(regionBytes), options),
                trace.operations(),
                addresses);
    }
}
