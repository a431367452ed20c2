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
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A run measures one trace on several strategies and, if there is a GPU, on the driver's own allocators, and then shows
 * the results.
 */
public final class MeasurementRun {

    private static final String NO_DEVICE = "none";

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
    private final List<RuntimeException> problems = new ArrayList<>();
    private List<Measurement> measurements = List.of();
    private boolean isForAdvice;

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

    /**
     * Makes strategies divide addresses that nothing backs even if there is a GPU. A strategy that can't be measured is
     * then reported, but doesn't fail the run.
     */
    public void measureForAdvice() {
        isForAdvice = true;
    }

    /** Measures and prints; returns the exit code. */
    public int run() throws IOException {
        final Results results;
        try (DeviceProbe probe = options.openDevice()) {
            final @Nullable CudaMemorySource source = probe.source().orElse(null);
            final @Nullable CudaDevice gpu = source == null ? null : source.device();
            final DriverBaselines baselines = new DriverBaselines(trace, gpu);
            results = new Results(trace, gpu, options, out, err, baselines::settings);
            final int strategies = options.strategies().size();
            try (Progress progress = new Progress(
                    Passes.operations(trace) * strategies + baselines.steps(),
                    options.smallestRegion() ? strategies : 0)) {
                for (final String strategy : options.strategies()) {
                    progress.stage(strategy);
                    measure(strategy, isForAdvice ? null : source, progress, results);
                }
                baselines.measure(progress, results::add);
            }
        }
        measurements = results.measurements();
        if (results.isEmpty()) {
            throw failure();
        }
        final int exitCode = results.finish();
        if (!problems.isEmpty() && !isForAdvice) {
            throw failure();
        }
        problems.forEach(problem -> err.println("not measured: " + problem.getMessage()));
        return exitCode;
    }

    /** Returns the measurements of {@link #run}. */
    public List<Measurement> measurements() {
        return measurements;
    }

    /**
     * Makes the exception that ends the run: the failure itself if one strategy was requested, otherwise one line with
     * the failures of all strategies.
     */
    private RuntimeException failure() {
        final RuntimeException first = problems.get(0);
        if (options.strategies().size() == 1) {
            return first;
        }
        final String all =
                "not measured: " + problems.stream().map(Throwable::getMessage).collect(Collectors.joining("; "));
        final RuntimeException failure = problems.stream().allMatch(WrongUseException.class::isInstance)
                ? new WrongUseException(all)
                : new IllegalStateException(all, first);
        problems.stream().skip(1).forEach(failure::addSuppressed);
        return failure;
    }

    /** Measures a strategy. A failure is kept for later, because the other strategies still have results. */
    private void measure(
            final String strategy,
            final @Nullable CudaMemorySource source,
            final Progress progress,
            final Results results)
            throws IOException {
        try {
            results.add(measure(strategy, source, progress));
        } catch (final WrongUseException e) {
            problems.add(e);
        } catch (final RuntimeException | OutOfMemoryError e) {
            // The exception's class may be known only to the strategy's own class loader, so only its message is passed
            // on.
            final String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            problems.add(new IllegalStateException(strategy + " on " + trace.name() + ": " + message, e));
        }
    }

    private Measurement measure(final String strategy, final @Nullable CudaMemorySource source, final Progress progress)
            throws IOException {
        // The search runs in classes of its own, so that the JIT compiles the measured classes as if no search had run.
        final StrategyBench scout = opener.open(strategy, trace, maxBlocks);
        final StrategyBench.@Nullable Smallest smallest = options.smallestRegion() ? search(scout, progress) : null;
        final double hostBytesPerBlock = scout.hostBytesPerBlock();
        final long wanted =
                smallest == null ? options.regionBytes().orElse(trace.regionBytes()) : smallest.regionBytes();
        final @Nullable Long served = smallest == null || !smallest.serves() ? null : (Long) smallest.regionBytes();
        if (source == null) {
            return measure(strategy, VirtualMemorySource.region(wanted), null, progress)
                    .with(served, hostBytesPerBlock);
        }
        final Region region = takeRegion(source, wanted, smallest != null);
        try {
            return measure(strategy, region, source, progress).with(served, hostBytesPerBlock);
        } finally {
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

    private Measurement measure(
            final String strategy,
            final Region region,
            final @Nullable CudaMemorySource source,
            final Progress progress)
            throws IOException {
        if (placements != null) {
            AtomicFile.write(
                    placements,
                    file -> opener.open(strategy, trace, maxBlocks)
                            .writePlacements(region.address(), region.sizeBytes(), file));
        }
        return opener.open(strategy, trace, maxBlocks)
                .measure(
                        region.address(),
                        region.sizeBytes(),
                        byHandle,
                        source == null
                                ? NO_DEVICE
                                : String.valueOf(source.device().ordinal()),
                        source == null ? null : source::usedBytes,
                        progress);
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
