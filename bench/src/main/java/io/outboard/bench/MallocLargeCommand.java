package io.outboard.bench;

import io.outboard.bench.trace.Profiles;
import io.outboard.bench.trace.Trace;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code outboard malloc-large}: mimalloc-bench's malloc-large, as Bell et al. (2024, section VI) adapted it. */
@Command(
        name = "malloc-large",
        mixinStandardHelpOptions = true,
        description =
                "Measures strategies on random allocations of large blocks: mimalloc-bench's malloc-large, with the"
                        + " sizes of Bell et al. 2024 and others. Where there is a GPU, cudaMalloc and cuMemAllocAsync as well.")
final class MallocLargeCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            defaultValue = "paper",
            description = "mimalloc, paper, large, mid, small or pingpong. Default: ${DEFAULT-VALUE}.")
    private String profile = "paper";

    @Option(
            names = "--ops",
            paramLabel = "N",
            defaultValue = "" + Profiles.DEFAULT_OPERATIONS,
            description = "Allocations and frees, together. Default: ${DEFAULT-VALUE}.")
    private int operations;

    @Mixin
    private MeasureOptions options = new MeasureOptions();

    @Override
    public Integer call() throws Exception {
        options.check();
        final Trace trace = profile(profile, operations);
        new Comparison(trace, options, spec.commandLine().getOut()).run();
        return 0;
    }

    /** The profile that options name. */
    static Trace profile(final String name, final int operations) {
        try {
            return Profiles.named(name, operations);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(("--" + e.getMessage()).replace("--operations=", "--ops="));
        }
    }
}
