package io.outboard.bench;

import io.outboard.bench.common.WrongUseException;
import io.outboard.bench.trace.Trace;
import io.outboard.bench.trace.TraceReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code outboard replay}: the allocations of a real program, recorded, on any strategy. */
@Command(name = "replay", mixinStandardHelpOptions = true, description = "Measures strategies on a recorded trace.")
final class ReplayCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            paramLabel = "FILE",
            description = "A log of the RAPIDS Memory Manager (CSV), or HPTRACE1; plain or gzipped.")
    private Path file = Path.of("");

    @Option(
            names = "--placements",
            paramLabel = "FILE",
            description = "Write operation,address,bytes for every allocation, so that anyone can check them."
                    + " Takes one strategy.")
    private @Nullable Path placements;

    @Mixin
    private MeasureOptions options = new MeasureOptions();

    @Override
    public Integer call() throws Exception {
        options.check();
        if (placements != null && options.strategies().size() != 1) {
            throw new WrongUseException("--placements=" + placements + " must go with one strategy");
        }
        if (placements != null && Files.isDirectory(placements)) {
            throw new WrongUseException("--placements=" + placements + " must be a file, not a folder");
        }
        final Trace trace = TraceReader.read(file);
        final Comparison comparison = new Comparison(
                trace, options, spec.commandLine().getOut(), spec.commandLine().getErr());
        if (placements != null) {
            comparison.writePlacementsTo(placements);
        }
        return comparison.run();
    }
}
