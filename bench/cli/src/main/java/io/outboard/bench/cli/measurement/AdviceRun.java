package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.device.DeviceProbe;
import io.outboard.bench.cli.report.strategies.AdviceSection;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.CudaDevice;
import io.outboard.cuda.CudaMemorySource;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * This run measures what advice needs: of each strategy, in one pass, whether it serves the trace in the memory that
 * there is, and how far its blocks reach; of those that fit, in some turns, how fast they are; and the driver's allocators, if there
 * is a GPU. Strategies divide addresses that nothing backs.
 */
public final class AdviceRun {

    /** A strategy that needs more than this multiple of the peak wastes most of its memory. */
    private static final long MOST_TIMES_PEAK = 4;

    private final Trace trace;
    private final MeasureOptions options;
    private final @Nullable Long memoryBytes;
    private final PrintWriter out;
    private final PrintWriter err;
    private final MeasurementRun.Opener opener;

    /** Makes a run; {@code memoryBytes} is how much memory there is, if that is known. */
    public AdviceRun(
            final Trace trace,
            final MeasureOptions options,
            final @Nullable Long memoryBytes,
            final PrintWriter out,
            final PrintWriter err) {
        this(trace, options, memoryBytes, out, err, StrategyBench::open);
    }

    AdviceRun(
            final Trace trace,
            final MeasureOptions options,
            final @Nullable Long memoryBytes,
            final PrintWriter out,
            final PrintWriter err,
            final MeasurementRun.Opener opener) {
        this.trace = trace;
        this.options = options;
        this.memoryBytes = memoryBytes;
        this.out = out;
        this.err = err;
        this.opener = opener;
    }

    /** Measures, prints, and makes the page if one is wanted. */
    public Advice run() throws IOException {
        try (DeviceProbe probe = options.openDevice()) {
            final @Nullable CudaDevice gpu =
                    probe.source().map(CudaMemorySource::device).orElse(null);
            final DriverBaselines baselines = new DriverBaselines(trace, gpu);
            final Results results = new Results(trace, gpu, options, out, err, baselines::settings);
            try (Progress progress =
                    new Progress(Passes.operations(trace) * options.strategies().size() + baselines.steps())) {
                return advise(baselines, results, progress);
            }
        }
    }

    private Advice advise(final DriverBaselines baselines, final Results results, final Progress progress)
            throws IOException {
        final long granuleBytes = StrategyOptions.DEFAULTS.granuleBytes();
        // Small blocks take more than what was asked for.
        final long peakBytes = Math.max(trace.peakLiveBytes(), granuleBytes * trace.peakLiveBlocks());
        final long roomyBytes = Math.min(MOST_TIMES_PEAK * peakBytes, StrategyProvider.MOST_GRANULES * granuleBytes);
        final long regionBytes = memoryBytes == null ? roomyBytes : Math.min(memoryBytes, roomyBytes);
        final Contest contest = place(options.strategies(), regionBytes, progress);
        final List<Advice.Need> fitting = Advice.fitting(needs(contest), memoryBytes);
        final Contest roomy =
                fitting.isEmpty() && memoryBytes != null ? place(options.strategies(), roomyBytes, progress) : contest;
        final Optional<Advice.Need> least =
                Advice.fitting(needs(roomy), null).stream().findFirst();
        if (roomy.entrants().isEmpty()) {
            throw roomy.failure();
        }
        contest.keep(contest.entrants().stream()
                .filter(entrant -> fitting.contains(need(entrant)))
                .toList());
        for (final Measurement measurement : times(contest, regionBytes, progress)) {
            results.add(measurement);
        }
        baselines.measure(progress, results::add);

        final Advice advice = new Advice(trace, memoryBytes, fitting, least, results.measurements());
        if (options.out() != null) {
            options.output()
                    .writeLines(AdviceSection.FILE_NAME, List.of(advice.json().toString()));
        }
        results.finish();
        roomy.problems().forEach(problem -> err.println("not measured: " + problem.getMessage()));
        return advice;
    }

    /**
     * Measures speed twice, the second time with classes that are defined anew and only of strategies that aren't far
     * behind: the JIT compiler's choices sometimes make a strategy slower by a sixth, but hardly twice.
     */
    private List<Measurement> times(final Contest contest, final long regionBytes, final Progress progress)
            throws IOException {
        final List<Measurement> first = turns(contest, true);
        final List<String> near = first.stream()
                .filter(measurement -> measurement.turnsNs().size() == Passes.TURNS)
                .map(Measurement::strategy)
                .toList();
        final List<Measurement> second = near.size() < 2 ? List.of() : turns(place(near, regionBytes, progress), false);
        return first.stream()
                .map(measurement -> second.stream()
                        .filter(other -> other.strategy().equals(measurement.strategy()))
                        .findFirst()
                        .map(measurement::fasterTurns)
                        .orElse(measurement))
                .toList();
    }

    private static List<Measurement> turns(final Contest contest, final boolean dropsSlow) throws IOException {
        final List<Measurement> measurements = new ArrayList<>();
        contest.takeTurns(dropsSlow);
        contest.finish(measurements::add);
        return measurements;
    }

    /** Replays the trace once on each of the strategies, in a region of the given size. */
    private Contest place(final List<String> strategies, final long regionBytes, final Progress progress)
            throws IOException {
        final Contest contest = new Contest(trace, progress);
        final Region region = VirtualMemorySource.region(regionBytes);
        for (final String strategy : strategies) {
            contest.enter(strategy, () -> {
                final StrategyBench bench = opener.open(strategy, trace, MeasurementRun.maxBlocks(trace));
                return new Contest.Entrant(
                        strategy,
                        bench,
                        bench.place(
                                region.address(), regionBytes, false, false, MeasurementRun.NO_DEVICE, null, progress),
                        measurement -> measurement);
            });
        }
        return contest;
    }

    private static List<Advice.Need> needs(final Contest contest) {
        return contest.entrants().stream()
                .filter(entrant -> entrant.placed().failures() == 0)
                .map(AdviceRun::need)
                .toList();
    }

    private static Advice.Need need(final Contest.Entrant entrant) {
        return new Advice.Need(entrant.strategy(), entrant.placed().extentBytes());
    }
}
