package io.outboard.bench.measure.soak;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultOutput;
import io.outboard.bench.cli.common.StrategyNames;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.device.DeviceProbe;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.bench.cli.report.Units;
import io.outboard.cuda.CudaDevice;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.pool.ReusePolicy;
import java.io.PrintWriter;
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

/**
 * The command {@code outboard soak} runs threads that use one pool for minutes, with a record that finds what a pool
 * must never do.
 */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        description =
                "Lets threads use one pool for minutes while a device works on their blocks, checks every block that is"
                        + " handed out, and fails if one is in use, or if work that was submitted before its free hasn't ended.",
        footer = "Exit code 1 if anything was wrong. --reuse immediate has to fail: nobody promises any order here.")
public final class SoakCommand implements Callable<Integer> {

    /** The part of result pages that shows the command's results. */
    public static final ResultsSection.Kind RESULTS = new ResultsSection.Kind(
            "soak.jsonl",
            "Soak",
            List.of("reusePolicy", "threads", "device"),
            List.of(
                    "seconds",
                    "operations",
                    "violations",
                    "peakLiveBytes",
                    "peakHeldBytes",
                    "heldBytes",
                    "peakLimboBytes",
                    "heldOverLive",
                    "synchronizations"),
            List.of());

    private static final int MOST_THREADS = 1_000;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "8",
            description = "Threads that share the pool. Default: ${DEFAULT-VALUE}.")
    private int threads = 8;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "1",
            description = "How long each policy is soaked; fractions are allowed. Default: ${DEFAULT-VALUE}.")
    private double minutes = 1;

    @Option(
            names = "--reuse",
            paramLabel = "POLICY,...",
            split = ",",
            defaultValue = "strict",
            description =
                    "strict, tracked, stream-ordered or immediate, one after the other. Default: ${DEFAULT-VALUE}.")
    private List<String> policies = List.of("strict");

    @Option(
            names = "--strategy",
            paramLabel = "NAME",
            defaultValue = "tlsf",
            completionCandidates = StrategyNames.class,
            description = "Strategy in the pool. Default: ${DEFAULT-VALUE}.")
    private String strategy = "tlsf";

    @Option(
            names = "--limit",
            paramLabel = "SIZE",
            description =
                    "Most that the pool may hold. Default: 32MiB a thread, four times what a thread has at most; on a"
                            + " GPU, what the facades take.")
    private @Nullable String limit;

    @Option(
            names = "--device",
            paramLabel = "none|N",
            defaultValue = "none",
            description =
                    "none: a simulated device, whose kernels only take time. N: a GPU, through the facades, with real"
                            + " kernels and blocks whose content is read back. Default: ${DEFAULT-VALUE}.")
    private String device = "none";

    @Mixin
    private OutputOptions output = new OutputOptions();

    /** Picocli calls this constructor. */
    public SoakCommand() {}

    @Override
    public Integer call() throws Exception {
        final List<SoakSettings> plan = plan();
        output.check();
        final List<Soak.Result> results = new ArrayList<>();
        final ResultOutput written;
        try (DeviceProbe probe = openDevice()) {
            final @Nullable CudaDevice gpu =
                    probe.source().map(CudaMemorySource::device).orElse(null);
            written = new ResultOutput(output, RESULTS, spec.commandLine().getOut(), gpu);
            final long seconds = (long) Math.ceil(minutes * 60);
            try (Progress progress = new Progress(seconds * plan.size())) {
                for (final SoakSettings settings : plan) {
                    progress.stage(strategy + ", " + settings.policy());
                    final Soak.Result result = run(settings, progress);
                    results.add(result);
                    written.add(result.json());
                }
            }
        }
        written.print(out -> print(results, out));
        final Optional<String> first = results.stream()
                .flatMap(result -> result.violations().stream()
                        .map(violation -> result.settings().policy() + ": " + violation))
                .findFirst();
        if (first.isPresent()) {
            throw new IllegalStateException(first.get());
        }
        return 0;
    }

    private static Soak.Result run(final SoakSettings settings, final Progress progress) throws InterruptedException {
        final long[] seen = new long[1];
        final SoakClock clock = SoakClock.SYSTEM;
        if (settings.device() >= 0) {
            try (GpuSoak shared = new GpuSoak(settings)) {
                return new Soak<>(settings, shared, clock).run(seconds -> step(progress, seen, seconds));
            }
        }
        try (SimulatedSoak shared = new SimulatedSoak(settings, clock)) {
            return new Soak<>(settings, shared, clock).run(seconds -> step(progress, seen, seconds));
        }
    }

    private static void step(final Progress progress, final long[] seen, final long seconds) {
        if (seconds > seen[0]) {
            progress.step(seconds - seen[0]);
            seen[0] = seconds;
        }
    }

    /** Returns the soaks to run, after a check of all options, so that nothing has run when one is wrong. */
    private List<SoakSettings> plan() {
        if (threads < 1 || threads > MOST_THREADS) {
            throw new WrongUseException("--threads=" + threads + " must be >= 1 and <= " + MOST_THREADS);
        }
        if (!(minutes > 0 && minutes <= 100_000)) {
            throw new WrongUseException("--minutes=" + minutes + " must be > 0 and <= 100000");
        }
        strategy = StrategyNames.of(strategy);
        if (!device.matches("none|[0-9]{1,9}")) {
            throw new WrongUseException("--device=" + device + " must be none or a number >= 0");
        }
        if (!device.equals("none") && policies.size() > 1) {
            throw new WrongUseException("--reuse=" + String.join(",", policies)
                    + " must be one policy on a GPU, since facades have one in a process");
        }
        final int ordinal = device.equals("none") ? -1 : Integer.parseInt(device);
        final long limitBytes =
                limit == null ? SoakSettings.defaultLimitBytes(threads) : OptionValue.bytes("--limit", limit);
        final List<SoakSettings> plan = new ArrayList<>();
        for (final String policy : new LinkedHashSet<>(policies)) {
            plan.add(new SoakSettings(threads, minutes * 60, policyOf(policy), strategy, limitBytes, ordinal));
        }
        return plan;
    }

    private static ReusePolicy policyOf(final String name) {
        try {
            return ReusePolicy.valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(
                    "--reuse=" + name + " must be one of: immediate, strict, tracked, stream-ordered");
        }
    }

    private DeviceProbe openDevice() {
        try {
            return DeviceProbe.open(device);
        } catch (final CudaUnavailableException e) {
            throw new WrongUseException("--device=" + device + " must be a GPU that works: " + e.getMessage());
        }
    }

    private static void print(final List<Soak.Result> results, final PrintWriter out) {
        new TextTable<Soak.Result>()
                .column("policy", result -> result.settings().policy().name())
                .column("threads", result -> String.valueOf(result.settings().threads()))
                .column("time", result -> Units.time(result.seconds() * 1e9))
                .column("operations", result -> Units.count((double) result.operations()))
                .column("peak live", result -> Units.bytes((double) result.peakLiveBytes()))
                .column("peak held", result -> Units.bytes((double) result.peakHeldBytes()))
                .column("held/live", result -> Units.ratio(result.heldOverLive()))
                .column("held at end", result -> Units.bytes((double) result.heldBytes()))
                .column("peak limbo", result -> Units.bytes((double) result.peakLimboBytes()))
                .column("waits", result -> Units.count((double) result.synchronizations()))
                .column(
                        "wrong",
                        result -> Units.count((double) result.violations().size()))
                .print(results, out);
    }
}
