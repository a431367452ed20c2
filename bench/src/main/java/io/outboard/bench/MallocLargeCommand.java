package io.outboard.bench;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
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

    @Mixin
    private ProfileOptions profile = new ProfileOptions();

    @Mixin
    private MeasureOptions options = new MeasureOptions();

    @Override
    public Integer call() throws Exception {
        options.check();
        if (profile.seeds(options.smallestRegion()) > 1) {
            new SmallestBySeed(profile, options, spec.commandLine().getOut()).run();
            return 0;
        }
        new Comparison(profile.trace(), options, spec.commandLine().getOut()).run();
        return 0;
    }
}
