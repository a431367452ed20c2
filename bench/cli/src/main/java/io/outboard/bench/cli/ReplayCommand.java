package io.outboard.bench.cli;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.measurement.MeasureOptions;
import io.outboard.bench.cli.measurement.MeasurementRun;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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

/** {@code outboard replay} runs the recorded allocations of a real program on any strategy. */
@Command(name = "replay", mixinStandardHelpOptions = true, description = "Measures strategies on a recorded trace.")
final class ReplayCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            arity = "1..*",
            paramLabel = "FILE",
            description =
                    "What record= of the agent or Pool.record wrote, a log of the RAPIDS Memory Manager (CSV), or HPTRACE1,"
                            + " each plain or gzipped; or a JFR recording with the events of allocations and frees.")
    private List<Path> files = List.of();

    @Option(
            names = "--placements",
            paramLabel = "FILE",
            description = "Write operation,address,bytes for every allocation, so that anyone can check them."
                    + " Takes one strategy.")
    private @Nullable Path placements;

    @Option(
            names = "--pool",
            paramLabel = "NAME",
            description =
                    "Of a JFR recording of several pools, or a PyTorch snapshot of several devices, the one to read.")
    private @Nullable String pool;

    @Mixin
    private MeasureOptions options = new MeasureOptions();

    @Override
    public Integer call() throws Exception {
        checkOneFile();
        options.check();
        if (placements != null && options.strategies().size() != 1) {
            throw new WrongUseException("--placements=" + placements + " must go with one strategy");
        }
        if (placements != null) {
            OptionValue.checkFile("--placements", placements);
        }
        for (final Path file : files) {
            if (Files.notExists(file)) {
                // A missing file is reported before the other files are measured for minutes.
                throw new NoSuchFileException(file.toString());
            }
        }
        int code = 0;
        for (final Path file : files) {
            code = Math.max(code, replay(TraceReader.read(file, null, pool)));
        }
        return code;
    }

    /** Refuses several files if results go to a folder or placements to a file, because each belongs to one trace. */
    private void checkOneFile() {
        if (files.size() > 1 && (placements != null || options.out() != null)) {
            throw new WrongUseException((placements == null ? "--out=" + options.out() : "--placements=" + placements)
                    + " must go with one FILE, not " + files.size());
        }
    }

    private int replay(final Trace trace) throws Exception {
        final MeasurementRun comparison = new MeasurementRun(
                trace, options, spec.commandLine().getOut(), spec.commandLine().getErr());
        if (placements != null) {
            comparison.writePlacementsTo(placements);
        }
        return comparison.run();
    }
}
