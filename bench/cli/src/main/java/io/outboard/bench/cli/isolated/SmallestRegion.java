package io.outboard.bench.cli.isolated;

import io.outboard.bench.cli.measurement.StrategyBench.Smallest;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * This class searches upwards for the smallest region in which a strategy serves a whole trace. The steps are 0.0625 %
 * of peak live bytes in regions up to 1.25 times the peak, and 0.25 % above. Bisection can't be used: if a region
 * serves the trace, a larger one may still fail, because blocks are then placed differently. For the profile
 * {@code large}, regions that serve lie scattered between 1.05 and 1.07 times peak live bytes, and coarser steps skip
 * some of these. A strategy that needs more than 1.25 times the peak isn't chosen for its low need of memory, so there
 * 0.25 % is precise enough.
 *
 * <p>The search starts at a lower bound: the most that live blocks add up to, rounded up as the strategy rounds.
 * Regions are tried on all cores, each with a strategy of its own; the answer is the smallest region that serves
 * nevertheless.
 */
final class SmallestRegion {

    /** The number of fine steps that add up to peak live bytes. */
    private static final long FINE_STEPS = 1600;

    private static final long COARSE_STEPS = 400;
    private static final double FINE_UP_TO = 1.25;

    /** The search ends at this multiple of the peak, because a strategy that needs more wastes most of its region. */
    private static final long MOST_TIMES_PEAK = 4;

    /** The search for a region that refuses starts at this multiple of peak live bytes, and goes down. */
    private static final double REFUSED_UP_TO = 1.5;

    /** The search for a region that refuses starts at least this share, 1/20, above the smallest region that serves. */
    private static final long REFUSED_SHARE = 20;

    /** The number of strategies at a time is limited, because each has tables of its own. */
    private static final int MOST_AT_A_TIME = 8;

    private final StrategyProvider provider;
    private final StrategyOptions options;
    private final Trace trace;
    private final long leastBytes;
    private final long fineBytes;
    private final long coarseBytes;
    private final long fineSteps;
    private final long lastStep;

    SmallestRegion(final StrategyProvider provider, final StrategyOptions options, final Trace trace) {
        this(provider, options, trace, MOST_TIMES_PEAK);
    }

    SmallestRegion(
            final StrategyProvider provider,
            final StrategyOptions options,
            final Trace trace,
            final double mostTimesPeak) {
        this.provider = provider;
        this.options = options;
        this.trace = trace;
        final long granule = options.granuleBytes();
        leastBytes = peakOfGranules(granule);
        fineBytes = Math.max((trace.peakLiveBytes() / FINE_STEPS) & -granule, granule);
        coarseBytes = Math.max((trace.peakLiveBytes() / COARSE_STEPS) & -granule, granule);
        final double finelyWalked = FINE_UP_TO * trace.peakLiveBytes() - leastBytes;
        fineSteps = Math.max(0, (long) Math.ceil(finelyWalked / fineBytes));
        lastStep = stepFrom((long) (mostTimesPeak * leastBytes) + 1) - 1;
    }

    /** Runs the search; sizes are multiples of the granule, up to four times the peak. */
    Smallest find(final Consumer<String> progress) {
        final int atATime = atATime();
        final long firstStep = stepFrom(peakOfBlocks());
        for (long step = firstStep; step <= lastStep; step += atATime) {
            progress.accept(progressOf(
                    "smallest region, " + (step - firstStep + 1) + " of at most " + (lastStep - firstStep + 1),
                    regionBytes(step)));
            final OptionalLong first = LongStream.rangeClosed(step, Math.min(step + atATime - 1, lastStep))
                    .parallel()
                    .filter(candidate -> serves(regionBytes(candidate)))
                    .min();
            if (first.isPresent()) {
                return new Smallest(regionBytes(first.getAsLong()), true);
            }
        }
        return new Smallest(regionBytes(lastStep), false);
    }

    /**
     * Searches downwards for the largest region that refuses an allocation. If no region above {@code servedBytes}
     * refuses any, the answer is one step less than {@code servedBytes}, a region that refuses or is too small.
     */
    long lastRefused(final long servedBytes, final Consumer<String> progress) {
        final long most =
                Math.max((long) (REFUSED_UP_TO * trace.peakLiveBytes()), servedBytes + servedBytes / REFUSED_SHARE);
        final int atATime = atATime();
        for (long above = most & -options.granuleBytes(); above > servedBytes; above -= atATime * coarseBytes) {
            progress.accept(progressOf("last region that refuses", above));
            final long from = above;
            final OptionalLong last = LongStream.range(0, atATime)
                    .map(i -> from - i * coarseBytes)
                    .filter(bytes -> bytes > servedBytes)
                    .parallel()
                    .filter(bytes -> !serves(bytes))
                    .max();
            if (last.isPresent()) {
                return last.getAsLong();
            }
        }
        final long step = stepFrom(servedBytes);
        return step == 0 ? servedBytes - options.granuleBytes() : regionBytes(step - 1);
    }

    private static int atATime() {
        return Math.min(Runtime.getRuntime().availableProcessors(), MOST_AT_A_TIME);
    }

    private String progressOf(final String what, final long regionBytes) {
        return String.format(Locale.ROOT, "%s: %.4f", what, (double) regionBytes / trace.peakLiveBytes());
    }

    /** Returns the first step whose region has at least the given bytes. */
    private long stepFrom(final long bytes) {
        long step = 0;
        while (regionBytes(step) < bytes) {
            step++;
        }
        return step;
    }

    private long regionBytes(final long step) {
        return leastBytes + Math.min(step, fineSteps) * fineBytes + Math.max(0, step - fineSteps) * coarseBytes;
    }

    private boolean serves(final long regionBytes) {
        final Strategy strategy = create(regionBytes);
        return strategy != null && Replay.isServed(StrategyTarget.over(strategy, trace.slots()), trace.operations());
    }

    /** Makes a strategy; null if the strategy can't divide such a region, and so doesn't serve the trace. */
    private @Nullable Strategy create(final long regionBytes) {
        try {
            return provider.create(VirtualMemorySource.region(regionBytes), options);
        } catch (final IllegalArgumentException e) {
            return null;
        }
    }

    /** Returns the most bytes live at a time when every size is rounded up to the granule; no region can be smaller. */
    private long peakOfGranules(final long granule) {
        long live = 0;
        long peak = 0;
        for (final long operation : trace.operations()) {
            final long bytes = (Trace.bytes(operation) + granule - 1) & -granule;
            live += Trace.isFree(operation) ? -bytes : bytes;
            peak = Math.max(peak, live);
        }
        return peak;
    }

    /**
     * Returns the most bytes in use at a time in the largest region. The sizes of blocks depend only on the requested
     * sizes, so the result holds for all regions.
     */
    private long peakOfBlocks() {
        final Strategy strategy = create(regionBytes(lastStep));
        if (strategy == null) {
            return leastBytes;
        }
        final Target target = StrategyTarget.over(strategy, trace.slots());
        final long freeBytes = strategy.freeBytes();
        long least = freeBytes;
        for (final long operation : trace.operations()) {
            final int slot = Trace.slot(operation);
            if (!Trace.isFree(operation)) {
                target.allocate(slot, Trace.bytes(operation));
                least = Math.min(least, strategy.freeBytes());
            } else if (target.wasServed(slot)) {
                target.free(slot);
            }
        }
        return freeBytes - least;
    }
}
