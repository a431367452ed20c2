package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.device.DeviceProbe;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import io.outboard.cuda.CudaDevice;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code outboard kernels} is the test bench of in-kernel heaps. */
@Command(
        name = "kernels",
        mixinStandardHelpOptions = true,
        description = {
            "Measures and checks the allocators that kernels can call, by the tests of Vinkler and Havran (2014). Needs a"
                    + " GPU. Without options, all tables, in some minutes: see --part; for the paper's figures see paper vinkler.",
            "Cases run in a process of their own; one that hangs is ended, and the next goes on."
        })
final class KernelsCommand implements Callable<Integer> {

    private static final int MOST_SECONDS = 3600;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--limit",
            paramLabel = "SECONDS",
            defaultValue = "20",
            description = "A case that takes longer is ended. Default: ${DEFAULT-VALUE}.")
    private int limitSeconds;

    @Option(
            names = "--device",
            paramLabel = "auto|N",
            defaultValue = "auto",
            description = "The GPU. Default: ${DEFAULT-VALUE}.")
    private String device = "auto";

    @Mixin
    private KernelCaseOptions tests = new KernelCaseOptions();

    @Mixin
    private ProgramOptions programs = new ProgramOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Override
    public Integer call() throws Exception {
        if (programs.areChosen()) {
            final List<ProgramCase> runs = programCases();
            output.check();
            final CudaDevice gpu = gpu();
            final List<String> lines = results(gpu).ofPrograms(runs);
            print(lines, gpu, true);
            return exitCode(programResults(lines));
        }
        final List<KernelCase> cases = cases();
        output.check();
        final CudaDevice gpu = gpu();
        print(results(gpu).ofTests(cases), gpu, false);
        return 0;
    }

    private CaseResults results(final CudaDevice gpu) {
        return new CaseResults(
                output,
                gpu,
                Duration.ofSeconds(limitSeconds),
                spec.commandLine().getOut());
    }

    /** Returns the cases that the options ask for, if they ask for programs. */
    List<ProgramCase> programCases() {
        KernelCaseOptions.checkRange("--limit", limitSeconds, MOST_SECONDS);
        programs.checkAlone(spec.commandLine().getParseResult());
        return programs.cases(tests.areQuick());
    }

    /**
     * Returns 1 if a check failed, a process died or two runs differ. A heap that was too small is a result, not a
     * failure; so is what becomes of a published allocator.
     */
    static int exitCode(final List<ProgramResult> results) {
        final List<ProgramResult> ours = results.stream()
                .filter(result -> !new Store(result.store()).isPeer())
                .toList();
        return ours.stream()
                        .anyMatch(result -> result.hasFailed() || ours.stream().anyMatch(result::contradicts))
                ? 1
                : 0;
    }

    private static List<ProgramResult> programResults(final List<String> lines) {
        return IntStream.range(0, lines.size())
                .mapToObj(i -> ProgramResult.parse("results", i + 1, lines.get(i)))
                .toList();
    }

    /** Returns the cases that the options ask for, if they ask for no programs. */
    List<KernelCase> cases() {
        KernelCaseOptions.checkRange("--limit", limitSeconds, MOST_SECONDS);
        return tests.cases();
    }

    private CudaDevice gpu() {
        try (DeviceProbe probe = DeviceProbe.open(device)) {
            return probe.source()
                    .map(CudaMemorySource::device)
                    .orElseThrow(
                            () -> new WrongUseException("--device=" + device + " must be a GPU: " + probe.reason()));
        } catch (final CudaUnavailableException e) {
            throw new WrongUseException("--device=" + device + " must be a GPU that works: " + e.getMessage());
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(e);
        }
    }

    private void print(final List<String> lines, final CudaDevice gpu, final boolean ofPrograms) throws Exception {
        final PrintWriter out = spec.commandLine().getOut();
        if (ofPrograms && !output.json()) {
            out.println(gpu);
            new ProgramTables(programResults(lines)).print(out);
        } else if (!output.json()) {
            final List<KernelResult> results = IntStream.range(0, lines.size())
                    .mapToObj(i -> KernelResult.parse("results", i + 1, lines.get(i)))
                    .toList();
            new KernelTables(results, gpu.toString()).print(out);
        }
        output.writePage(new KernelsModule().pageParts(), out);
    }
}
