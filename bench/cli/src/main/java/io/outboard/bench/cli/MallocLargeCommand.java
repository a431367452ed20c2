package io.outboard.bench.cli;

import io.outboard.bench.cli.common.DidYouMean;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.measurement.MeasureOptions;
import io.outboard.bench.cli.measurement.MeasurementRun;
import io.outboard.bench.cli.measurement.ProfileOptions;
import io.outboard.bench.cli.tail.TailComparison;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code outboard malloc-large} runs mimalloc-bench's malloc-large as Bell et al. (2024, section VI) adapted it. */
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

    @Option(
            names = "--tail",
            description =
                    "Only the tail of latencies: over --ops operations, such as 1e8, up to the 99.999th percentile, and"
                            + " beside them those of the same loop doing nothing. The trace has a million operations at most and is"
                            + " repeated; no GPU is used.")
    private boolean tail;

    @Option(
            names = "--by",
            paramLabel = "address|handle",
            defaultValue = "address",
            completionCandidates = Names.class,
            description =
                    "What names a strategy's blocks. tlsf, both segregated-fits and the buddies have handles, which"
                            + " needn't be looked up; the others go by address. Default: ${DEFAULT-VALUE}.")
    private String by = "address";

    @Override
    public Integer call() throws Exception {
        final boolean byHandle = byHandle();
        options.check();
        if (tail) {
            return measureTail();
        }
        if (profile.seeds(options.smallestRegion()) > 1) {
            new SmallestBySeed(profile, options, spec.commandLine().getOut()).run();
            return 0;
        }
        final MeasurementRun comparison = new MeasurementRun(
                profile.trace(),
                options,
                spec.commandLine().getOut(),
                spec.commandLine().getErr());
        if (byHandle) {
            comparison.nameBlocksByHandle();
        }
        return comparison.run();
    }

    private boolean byHandle() {
        if (!Names.ALL.contains(by)) {
            throw new WrongUseException("--by=" + by + " must be address or handle" + DidYouMean.of(by, Names.ALL));
        }
        final boolean byHandle = by.equals("handle");
        if (byHandle && (tail || profile.seeds(options.smallestRegion()) > 1)) {
            throw new WrongUseException("--by=handle must not be given with --tail or --seeds, which go by address");
        }
        return byHandle;
    }

    private int measureTail() throws IOException {
        profile.seeds(options.smallestRegion());
        if (options.smallestRegion()) {
            throw new WrongUseException("--region=smallest must not be given with --tail, which looks for no region");
        }
        if (!options.mayGoWithoutDevice()) {
            throw new WrongUseException("--device must be none or auto with --tail, which measures addresses only");
        }
        if (profile.operations() < TailComparison.LEAST_OPERATIONS) {
            throw new WrongUseException("--ops=" + profile.operations() + " must be >= "
                    + TailComparison.LEAST_OPERATIONS + " with --tail: fewer have no 99.999th percentile");
        }
        final Trace trace = profile.traceOfAtMost(Profiles.DEFAULT_OPERATIONS);
        new TailComparison(trace, profile.operations())
                .run(
                        options.strategies(),
                        MeasurementRun.maxBlocks(trace),
                        options.regionBytes().orElse(trace.regionBytes()),
                        options.output(),
                        spec.commandLine().getOut(),
                        options.outOfMemory());
        return options.outOfMemory()
                .report(
                        options.output(),
                        spec.commandLine().getOut(),
                        spec.commandLine().getErr());
    }

    /** This list has the values that a shell offers as completions. */
    static final class Names implements Iterable<String> {

        private static final List<String> ALL = List.of("address", "handle");

        @Override
        public Iterator<String> iterator() {
            return ALL.iterator();
        }
    }
}
