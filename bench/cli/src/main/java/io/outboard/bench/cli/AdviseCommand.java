package io.outboard.bench.cli;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.StrategyNames;
import io.outboard.bench.cli.measurement.Advice;
import io.outboard.bench.cli.measurement.AdviceRun;
import io.outboard.bench.cli.measurement.MeasureOptions;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code outboard advise} measures every strategy on a recording of the user's program and recommends one.
 */
@Command(
        name = "advise",
        mixinStandardHelpOptions = true,
        description =
                "Replays a recording of your program on every strategy, measures those in whose memory it fits, with the"
                        + " driver's allocators where there is a GPU, and says whether it fits, which strategy to take, and why.",
        footer = "Exit code 1 if it fits with none.")
final class AdviseCommand implements Callable<Integer> {

    private static final int DOES_NOT_FIT = 1;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "FILE", description = "A file as replay takes it.")
    private Path file = Path.of("");

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            description = "How much memory there is for it, such as 24GiB. Default: as little as can be.")
    private @Nullable String memory;

    @Option(
            names = "--strategy",
            paramLabel = "NAME[,NAME]",
            defaultValue = "all",
            completionCandidates = StrategyNames.class,
            description = "Strategies to choose from. Default: ${DEFAULT-VALUE}.")
    private String strategies = "all";

    @Option(
            names = "--device",
            paramLabel = "auto|none|N",
            defaultValue = "auto",
            description = "The GPU whose driver is measured as well. Default: ${DEFAULT-VALUE}.")
    private String device = "auto";

    @Option(
            names = "--pool",
            paramLabel = "NAME",
            description =
                    "Of a JFR recording of several pools, or a PyTorch snapshot of several devices, the one to read.")
    private @Nullable String pool;

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Override
    public Integer call() throws Exception {
        final Long memoryBytes = memory == null ? null : (Long) OptionValue.bytes("--memory", memory);
        final MeasureOptions options = new MeasureOptions(List.of(strategies.split(",")), device, null, output);
        options.check();
        final Trace trace = TraceReader.read(file, null, pool);
        final PrintWriter out = spec.commandLine().getOut();
        final Advice advice = new AdviceRun(
                        trace, options, memoryBytes, out, spec.commandLine().getErr())
                .run();
        if (output.json()) {
            out.println(advice.json());
        } else {
            out.println();
            advice.lines().forEach(out::println);
        }
        out.flush();
        return advice.taken().isPresent() ? 0 : DOES_NOT_FIT;
    }
}
