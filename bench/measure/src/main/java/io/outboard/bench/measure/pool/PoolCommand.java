package io.outboard.bench.measure.pool;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.device.DeviceProbe;
import io.outboard.bench.cli.measurement.DriverBaselines;
import io.outboard.bench.cli.measurement.MeasureOptions;
import io.outboard.bench.cli.measurement.MeasurementRun;
import io.outboard.bench.cli.measurement.Passes;
import io.outboard.bench.cli.measurement.ProfileOptions;
import io.outboard.bench.cli.measurement.Results;
import io.outboard.bench.cli.measurement.StrategyBench;
import io.outboard.bench.cli.measurement.ThreadProfile;
import io.outboard.bench.cli.measurement.ThreadRate;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.measure.threads.MemoryByThreads;
import io.outboard.bench.measure.threads.SizeSweep;
import io.outboard.bench.measure.threads.ThreadOptions;
import io.outboard.bench.measure.threads.ThreadProfileRun;
import io.outboard.bench.measure.threads.ThreadRequest;
import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.CudaDevice;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code outboard pool} measures what safety and threads cost over a bare strategy. */
@Command(
        name = "pool",
        mixinStandardHelpOptions = true,
        description =
                "Measures pools over strategies with each reuse policy, by one thread and by several. Where there is"
                        + " a GPU, the facades of cudaMalloc and cuMemAllocAsync, and the driver's own functions, as well.")
public final class PoolCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private ProfileOptions profile = new ProfileOptions();

    @Option(
            names = "--reuse",
            paramLabel = "POLICY,...",
            split = ",",
            description =
                    "When a freed block may be handed out again. Default: immediate,strict,tracked,stream-ordered;"
                            + " strict for profiles of several threads, --memory and --sweep.")
    private @Nullable List<String> policies;

    @Option(
            names = "--threads",
            paramLabel = "N,...",
            split = ",",
            description = "Numbers of threads that share a pool with the first of the policies; powers of two up to the"
                    + " number of cores by default. For a profile of several threads each of these numbers is measured with"
                    + " every policy, 1,2,4,8,16 by default; pairs and xmalloc have so many pairs of threads.")
    private @Nullable List<Integer> threads;

    @Mixin
    private ThreadOptions threadOptions = new ThreadOptions();

    @Mixin
    private MeasureOptions options = new MeasureOptions();

    private int maxBlocks;

    /** Picocli calls this constructor. */
    public PoolCommand() {}

    @Override
    public Integer call() throws Exception {
        options.check();
        if (options.smallestRegion()) {
            throw new WrongUseException("--region=smallest must be a size, since a pool grows");
        }
        profile.seeds(false);
        threadOptions.check();
        if (threadOptions.sweep()) {
            measureThreads(List.of(1, 16), request -> new SizeSweep(request).run());
            return 0;
        }
        if (threadOptions.memory()) {
            // Without this check, a thread profile or a wrong name would be an error only after the first trace was
            // measured.
            profile.checkTraceName();
            measureThreads(
                    List.of(1, 16),
                    request ->
                            new MemoryByThreads(request, profile.name(), profile.operations(), profile.scale()).run());
            return 0;
        }
        final Optional<ThreadProfile> threadProfile = ThreadProfile.named(profile.name());
        if (threadProfile.isPresent()) {
            measureThreads(
                    List.of(1, 2, 4, 8, 16), request -> new ThreadProfileRun(threadProfile.get(), request).run());
            return 0;
        }
        final List<String> reuse = reusePolicies("immediate", "strict", "tracked", "stream-ordered");
        final List<Integer> threadCounts = threadCounts(powersOfTwo());
        final List<String> strategies = options.strategies();
        final Trace trace = profile.trace();
        maxBlocks = MeasurementRun.maxBlocks(trace);
        final Results results;
        try (DeviceProbe probe = options.openDevice()) {
            final @Nullable CudaDevice gpu =
                    probe.source().map(CudaMemorySource::device).orElse(null);
            final DriverBaselines baselines = new DriverBaselines(trace, gpu);
            results = new Results(
                    trace,
                    gpu,
                    options,
                    spec.commandLine().getOut(),
                    spec.commandLine().getErr(),
                    baselines::settings);
            final long roundWork = (long) (PoolBench.RATE_SECONDS * Progress.SECOND);
            final long runs = (long) strategies.size() * (1 + reuse.size() * (gpu == null ? 1 : 2));
            final long rounds = (long) strategies.size() * threadCounts.size();
            try (Progress progress =
                    new Progress(runs * Passes.operations(trace) + rounds * roundWork + baselines.steps())) {
                for (final String strategy : strategies) {
                    measure(strategy, trace, reuse, gpu, progress, results);
                    for (final int count : threadCounts) {
                        progress.stage(strategy + " pool, " + count + " threads");
                        final double rate =
                                PoolBench.open(strategy, trace, maxBlocks).operationsASecond(reuse.get(0), count);
                        results.add(new ThreadRate(strategy, reuse.get(0), count, rate));
                        progress.step(roundWork);
                    }
                }
                baselines.measure(progress, results::add);
            }
        }
        return results.finish();
    }

    /** Runs what the user asked for of several threads. */
    private void measureThreads(final List<Integer> defaultThreads, final ThreadWork work) throws Exception {
        final List<String> reuse = reusePolicies("strict");
        final List<Integer> threadCounts = threadCounts(defaultThreads);
        try (DeviceProbe probe = options.openDevice()) {
            threadOptions.check(probe.source().isPresent());
            work.run(new ThreadRequest(
                    threadOptions,
                    options.strategies(),
                    reuse,
                    threadCounts,
                    probe.source().map(CudaMemorySource::device).orElse(null),
                    options.regionBytes().orElse(0),
                    options.output(),
                    spec.commandLine().getOut()));
        }
    }

    /** The work is what is done for a request. */
    @FunctionalInterface
    private interface ThreadWork {

        void run(ThreadRequest request) throws Exception;
    }

    private void measure(
            final String strategy,
            final Trace trace,
            final List<String> reuse,
            final @Nullable CudaDevice gpu,
            final Progress progress,
            final Results results)
            throws IOException {
        final long strategyBytes = options.regionBytes().orElse(trace.regionBytes());
        // Without a size the pool grows, as users' pools do.
        final long poolBytes = options.regionBytes().orElse(0);
        progress.stage(strategy);
        // The bare strategy works on addresses only, also where there is a device, since it doesn't touch the memory.
        results.add(StrategyBench.open(strategy, trace, maxBlocks)
                .measure(VirtualMemorySource.region(1).address(), strategyBytes, false, "none", null, progress));
        for (final String policy : reuse) {
            progress.stage(strategy + " pool, " + policy);
            results.add(PoolBench.open(strategy, trace, maxBlocks)
                    .measurePool(policy, poolBytes, gpu == null ? "none" : String.valueOf(gpu.ordinal()), progress));
        }
        if (gpu != null) {
            for (final String policy : reuse) {
                progress.stage(strategy + " facade, " + policy);
                results.add(PoolBench.open(strategy, trace, maxBlocks).measureFacade(policy, gpu.ordinal(), progress));
            }
        }
    }

    /** Returns the names of the constants, each once. */
    private List<String> reusePolicies(final String... defaults) {
        final LinkedHashSet<String> names = new LinkedHashSet<>();
        for (final String policy : policies == null ? List.of(defaults) : policies) {
            try {
                names.add(ReusePolicy.valueOf(policy.toUpperCase(Locale.ROOT).replace('-', '_'))
                        .name());
            } catch (final IllegalArgumentException e) {
                throw new WrongUseException(
                        "--reuse=" + policy + " must be one of: immediate, strict, tracked, stream-ordered");
            }
        }
        return List.copyOf(names);
    }

    private List<Integer> threadCounts(final List<Integer> defaults) {
        if (threads == null) {
            return defaults;
        }
        for (final int count : threads) {
            if (count < 1 || count > 1_000) {
                throw new WrongUseException("--threads=" + count + " must be >= 1 and <= 1000");
            }
        }
        return List.copyOf(threads);
    }

    private static List<Integer> powersOfTwo() {
        final List<Integer> counts = new ArrayList<>();
        for (int count = 1; count <= Runtime.getRuntime().availableProcessors(); count *= 2) {
            counts.add(count);
        }
        return counts;
    }
}
