package io.outboard.bench.measure.check;

import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.RunFiles;
import io.outboard.bench.cli.common.StrategyNames;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.report.AtomicFile;
import io.outboard.bench.cli.report.LineFile;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.Units;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code outboard check} does random operations on strategies, and compares each with a model of what is in
 * use.
 */
@Command(
        name = "check",
        mixinStandardHelpOptions = true,
        description =
                "Does random operations on strategies, over regions of 2 to 2^32 - 1 granules of 1 byte to 1 GiB, and compares every"
                        + " answer with a model of its own. Blocks are named by address and by handle, and wrong names must be refused."
                        + " Needs no GPU.",
        footer = {
            "--out writes check.jsonl, environment.json, and each shard as it is finished to check-shards.jsonl; shards that are there"
                    + " already, of the same seed, aren't done again.",
            "Exit code 1 if anything was wrong; then it says how to repeat the shard that showed it."
        })
public final class CheckCommand implements Callable<Integer> {

    /** The name of the file that {@code --out} writes last. */
    static final String FILE_NAME = "check.jsonl";

    /** The section of result pages that shows the command's results. */
    public static final PagePart PART = PagePart.of(FILE_NAME, CheckSection::new);

    /** The name of another file that {@code --out} writes: a line for each shard as soon as it is finished. */
    public static final String STATE_FILE_NAME = StateFile.NAME;

    private static final int MOST_THREADS = 1_000;

    private final Function<String, StrategyProvider> providers;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--ops",
            paramLabel = "N",
            defaultValue = "1e8",
            converter = OptionValue.WholeLong.class,
            description = "Operations, such as 1e9, split evenly over the strategies. Default: ${DEFAULT-VALUE}.")
    private long operations;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "The same seed gives the same operations, in one version of this command. Default: ${DEFAULT-VALUE}.")
    private long seed = 1;

    @Option(
            names = "--strategy",
            paramLabel = "NAME,...|all",
            split = ",",
            defaultValue = "all",
            completionCandidates = StrategyNames.class,
            description = "Strategies to check. Default: ${DEFAULT-VALUE}.")
    private List<String> strategies = List.of("all");

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Shards that run at a time. Default: as many as there are processors.")
    private @Nullable Integer threads;

    @Option(
            names = "--shard",
            paramLabel = "N",
            description =
                    "Only this shard of one strategy, to repeat it: from 0; it has 4e6 operations, or --ops if that is less.")
    private @Nullable Long shard;

    @Mixin
    private OutputOptions output = new OutputOptions();

    /** Picocli calls this constructor. */
    public CheckCommand() {
        this(Strategies::named);
    }

    /** {@code providers} finds what makes a strategy by the strategy's name. */
    CheckCommand(final Function<String, StrategyProvider> providers) {
        this.providers = providers;
    }

    @Override
    public Integer call() throws Exception {
        final List<String> names = StrategyNames.of(strategies);
        final List<Shard> shards = plan(names);
        final int threadCount = threadCount();
        output.check(name ->
                RunFiles.isOfRun(name) && !List.of(FILE_NAME, STATE_FILE_NAME).contains(LineFile.nameOf(name)));
        final Path out = output.out();
        final List<ShardResult> results;
        try (Progress progress =
                new Progress(shards.stream().mapToLong(Shard::operations).sum())) {
            progress.stage(threadCount == 1 ? "1 thread" : threadCount + " threads");
            final ShardPool pool = new ShardPool(providers, threadCount, progress);
            if (out == null) {
                results = pool.run(shards, null);
            } else {
                output.deleteOld();
                try (StateFile state = new StateFile(out, seed, Environment.commit())) {
                    results = pool.run(shards, state);
                }
            }
        }
        final List<CheckSummary> summaries = names.stream()
                .map(name -> new CheckSummary(
                        name,
                        results.stream()
                                .filter(result -> result.shard().strategy().equals(name))
                                .toList()))
                .toList();
        print(summaries, spec.commandLine().getOut());
        final List<ShardResult> violations =
                results.stream().filter(result -> result.violation() != null).toList();
        if (!violations.isEmpty()) {
            violations.forEach(violation -> spec.commandLine().getErr().println(describe(violation)));
            spec.commandLine().getErr().flush();
            throw new IllegalStateException("violations=" + violations.size() + " must be 0: the first is of "
                    + violations.get(0).shard().strategy());
        }
        return 0;
    }

    /** Returns the shards to run, after a check of all options, so that nothing has run when one is wrong. */
    private List<Shard> plan(final List<String> names) {
        final long count = operations;
        if (shard == null) {
            return CheckPlan.shards(names, seed, count);
        }
        if (shard < 0) {
            throw new WrongUseException("--shard=" + shard + " must be >= 0");
        }
        if (names.size() != 1 || output.out() != null) {
            throw new WrongUseException("--shard=" + shard + " must be of one strategy, and without --out");
        }
        return List.of(new Shard(names.get(0), seed, shard, Math.min(count, Shard.MOST_OPERATIONS)));
    }

    private int threadCount() {
        final int count = threads == null ? Runtime.getRuntime().availableProcessors() : threads;
        if (count < 1 || count > MOST_THREADS) {
            throw new WrongUseException("--threads=" + count + " must be >= 1 and <= " + MOST_THREADS);
        }
        return count;
    }

    private void print(final List<CheckSummary> summaries, final PrintWriter printer) throws IOException {
        final List<String> lines =
                summaries.stream().map(summary -> summary.json(seed).toString()).toList();
        if (output.json()) {
            lines.forEach(printer::println);
        } else {
            new TextTable<CheckSummary>()
                    .column("strategy", CheckSummary::strategy)
                    .column(
                            "shards",
                            summary -> Units.count((double) summary.results().size()))
                    .column("operations", summary -> Units.count((double) summary.operations()))
                    .column("violations", summary -> Units.count((double) summary.violations()))
                    .column("time", summary -> Units.time(summary.seconds() * 1e9))
                    .column("an operation", summary -> Units.time(summary.nsPerOperation()))
                    .column("by handle", summary -> Units.count((double) summary.byHandle()))
                    .column("wrong handles", summary -> Units.count((double) summary.wrongHandles()))
                    .print(summaries, printer);
        }
        final Path out = output.out();
        if (out != null) {
            AtomicFile.write(out.resolve(FILE_NAME), String.join("\n", lines) + "\n");
            AtomicFile.write(out.resolve("environment.json"), Environment.json(null, "") + "\n");
        }
        printer.flush();
    }

    private static String describe(final ShardResult result) {
        final Shard shard = result.shard();
        return String.format(
                Locale.ROOT,
                "%s, seed %d, shard %d, operation %d: %s%n  to repeat it: ./outboard check --strategy %s --seed %d --shard %d --ops %d",
                shard.strategy(),
                shard.seed(),
                shard.number(),
                result.operations(),
                Optional.ofNullable(result.violation()).orElse(""),
                shard.strategy(),
                shard.seed(),
                shard.number(),
                shard.operations());
    }
}
