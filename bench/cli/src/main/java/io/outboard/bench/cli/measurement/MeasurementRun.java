package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.device.DeviceProbe;
import io.outboard.bench.cli.report.AtomicFile;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.CudaDevice;
import io.outboard.cuda.CudaMemorySource;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A run measures one trace on several strategies and, if there is a GPU, on the driver's own allocators, and then shows
 * the results.
 */
public final class MeasurementRun {

    static final String NO_DEVICE = "none";

    /** The share of a device's free memory that a region takes at most by default. */
    private static final double DEVICE_SHARE = 0.9;

    private final Trace trace;
    private final MeasureOptions options;
    private final Opener opener;
    private final int maxBlocks;
    private final PrintWriter out;
    private final PrintWriter err;
    private @Nullable Path placements;
    private boolean byHandle;

    public MeasurementRun(
            final Trace trace, final MeasureOptions options, final PrintWriter out, final PrintWriter err) {
        this(trace, options, out, err, StrategyBench::open);
    }

    MeasurementRun(
            final Trace trace,
            final MeasureOptions options,
            final PrintWriter out,
            final PrintWriter err,
            final Opener opener) {
        this.trace = trace;
        this.options = options;
        this.out = out;
        this.err = err;
        this.opener = opener;
        this.maxBlocks = maxBlocks(trace);
    }

    /**
     * Returns the number of blocks that a strategy's tables hold for a trace; every second block may be free. The
     * result is at least the default number, because users get the default.
     */
    public static int maxBlocks(final Trace trace) {
        return Math.max(2 * trace.peakLiveBlocks() + 1, StrategyOptions.DEFAULTS.maxBlocks());
    }

    public void writePlacementsTo(final Path file) {
        placements = file;
    }

    public void nameBlocksByHandle() {
        byHandle = true;
    }

    /** Measures and prints; returns the exit code. */
    public int run() throws IOException {
        final Results results;
        final Contest contest;
        try (DeviceProbe probe = options.openDevice()) {
            final @Nullable CudaMemorySource source = probe.source().orElse(null);
            final @Nullable CudaDevice gpu = source == null ? null : source.device();
            final DriverBaselines baselines = new DriverBaselines(trace, gpu);
            results = new Results(trace, gpu, options, out, err, baselines::settings);
            final int strategies = options.strategies().size();
            try (Progress progress = new Progress(
                    Passes.operations(trace) * strategies + baselines.steps(),
                    options.smallestRegion() ? strategies : 0)) {
                contest = new Contest(trace, progress);
                for (final String strategy : options.strategies()) {
                    contest.enter(strategy, () -> place(strategy, source, progress));
                }
                contest.takeTurns(false);
                contest.finish(results::add);
                baselines.measure(progress, results::add);
            }
        }
        final int exitCode = results.isEmpty() ? 0 : results.finish();
        if (!contest.problems().isEmpty()) {
            throw options.strategies().size() == 1 ? contest.problems().get(0) : contest.failure();
        }
        return exitCode;
    }

    private Contest.Entrant place(
            final String strategy, final @Nullable CudaMemorySource source, final Progress progress)
            throws IOException {
        // The search runs in classes of its own, so that the JIT compiles the measured classes as if no search had run.
        final StrategyBench scout = opener.open(strategy, trace, maxBlocks);
        final StrategyBench.@Nullable Smallest smallest = options.smallestRegion() ? search(scout, progress) : null;
        final double hostBytesPerBlock = scout.hostBytesPerBlock();
        final long wanted =
                smallest == null ? options.regionBytes().orElse(trace.regionBytes()) : smallest.regionBytes();
        final @Nullable Long served = smallest == null || !smallest.serves() ? null : (Long) smallest.regionBytes();
        if (source == null) {
            return place(strategy, VirtualMemorySource.region(wanted), null, progress, served, hostBytesPerBlock);
        }
        final Region region = takeRegion(source, wanted, smallest != null);
        try {
            return place(strategy, region, source, progress, served, hostBytesPerBlock);
        } finally {
            // The turns need addresses only.
            source.giveBack(region);
        }
    }

    private static StrategyBench.Smallest search(final StrategyBench scout, final Progress progress) {
        progress.beginSearch();
        try {
            return scout.smallestRegion(progress::pass);
        } finally {
            progress.endSearch();
        }
    }

    private Contest.Entrant place(
            final String strategy,
            final Region region,
            final @Nullable CudaMemorySource source,
            final Progress progress,
            final @Nullable Long served,
            final double hostBytesPerBlock)
            throws IOException {
        if (placements != null) {
            AtomicFile.write(
                    placements,
                    file -> opener.open(strategy, trace, maxBlocks)
                            .writePlacements(region.address(), region.sizeBytes(), file));
        }
        final StrategyBench bench = opener.open(strategy, trace, maxBlocks);
        final StrategyBench.Placed placed = bench.place(
                region.address(),
                region.sizeBytes(),
                byHandle,
                true,
                source == null ? NO_DEVICE : String.valueOf(source.device().ordinal()),
                source == null ? null : source::usedBytes,
                progress);
        return new Contest.Entrant(strategy, bench, placed, measurement -> measurement.with(served, hostBytesPerBlock));
    }

    /**
     * Takes a region of exactly the requested size; or, if none was requested, of the size that the trace suggests, as
     * far as the device has free memory.
     */
    private Region takeRegion(final CudaMemorySource source, final long wanted, final boolean exactly) {
        final long most = (long) (source.availableBytes() * DEVICE_SHARE);
        final boolean asked = exactly || options.regionBytes().isPresent();
        try {
            return source.take(
                    asked ? wanted : Math.max(Math.min(wanted, most), StrategyOptions.DEFAULTS.granuleBytes()));
        } catch (final DeviceOutOfMemoryException e) {
            throw new WrongUseException("--region=" + wanted + " must fit on the device: " + e.getMessage());
        }
    }

    /** Makes the bench of a strategy from its name, the trace, and the number of blocks that its tables hold. */
    @FunctionalInterface
    interface Opener {

        StrategyBench open(String strategy, Trace trace, int maxBlocks);
    }
}
