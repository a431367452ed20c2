package io.outboard.bench;

import io.outboard.bench.trace.Trace;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;

/** The smallest region in which a strategy serves a whole trace, by bisection. */
final class SmallestRegion {

    /** The answer is right to this fraction of peak live bytes: 0.25 %. */
    private static final long PRECISION = 400;

    private SmallestRegion() {}

    /**
     * Looks for it.
     *
     * @param mostBytes a size to start down from
     * @return bytes
     * @throws WrongUseException if even {@code mostBytes} isn't enough
     */
    static long find(
            final StrategyProvider provider,
            final StrategyOptions options,
            final Trace trace,
            final long mostBytes,
            final Progress progress) {
        final long[] addresses = new long[trace.slots()];
        final long precision = Math.max(trace.peakLiveBytes() / PRECISION, 1);
        long tooSmall = trace.peakLiveBytes() - 1;
        long enough = Math.max(mostBytes, trace.peakLiveBytes());
        if (!serves(provider, options, trace, enough, addresses)) {
            throw new WrongUseException("--region=smallest must be at most " + enough + " bytes, and " + provider.name()
                    + " doesn't serve " + trace.name() + " in that");
        }
        while (enough - tooSmall > precision) {
            final long middle = tooSmall + (enough - tooSmall) / 2;
            if (serves(provider, options, trace, middle, addresses)) {
                enough = middle;
            } else {
                tooSmall = middle;
            }
            progress.step(0);
        }
        return enough;
    }

    private static boolean serves(
            final StrategyProvider provider,
            final StrategyOptions options,
            final Trace trace,
            final long regionBytes,
            final long[] addresses) {
        return Replay.isServed(
                provider.create(VirtualMemorySource.region(regionBytes), options), trace.operations(), addresses);
    }
}
