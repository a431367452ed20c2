package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.device.DeviceProbe;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.catalogue.ProgramWorker;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.report.KernelsSection;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import io.outboard.bench.kernels.report.programs.ProgramsSection;
import io.outboard.bench.kernels.worker.DeviceCase;
import io.outboard.bench.kernels.worker.Watchdog;
import io.outboard.cuda.CudaDevice;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
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
                    + " GPU. Without options, tables and the points of the paper's figures, in some minutes: see --part.",
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
            final List<String> lines =
                    run(ProgramWorker.class, gpu, runs, work -> work.store().label() + ", " + work.name());
            print(lines, gpu, true);
            return exitCode(programResults(lines));
        }
        final List<KernelCase> cases = cases();
        output.check();
        final CudaDevice gpu = gpu();
        print(run(KernelWorker.class, gpu, cases, work -> work.contender().label() + ", " + work.name()), gpu, false);
        return 0;
    }

    private <C extends DeviceCase> List<String> run(
            final Class<?> worker, final CudaDevice gpu, final List<C> cases, final Function<C, String> name)
            throws Exception {
        final String origin = new JsonLine()
                .put("gpu", gpu.toString())
                .put("jdk", Environment.jdk())
                .put("commit", Environment.commit())
                .toString();
        final String fileName = worker == ProgramWorker.class ? ProgramsSection.FILE_NAME : KernelsSection.FILE_NAME;
        checkMade(cases);
        final List<String> known = new ArrayList<>();
        final List<String> results;
        try (Progress progress = new Progress(cases.size())) {
            results = new Watchdog<C>(worker, gpu.ordinal(), Duration.ofSeconds(limitSeconds))
                    .run(cases, work -> progress.stage(name.apply(work)), result -> {
                        progress.step(1);
                        final String line = joined(result, origin);
                        printLine(line);
                        known.add(line);
                        keep(fileName, known, gpu);
                    });
        }
        final List<String> lines =
                results.stream().map(result -> joined(result, origin)).toList();
        // The file has results in the order that the user asked for, though cases ran in another order.
        keep(fileName, lines, gpu);
        return lines;
    }

    /** Throws if the build has no kernels for one of the cases. */
    static void checkMade(final List<? extends DeviceCase> cases) {
        for (final DeviceCase work : cases) {
            if (KernelsCommand.class.getResource(work.resource()) == null) {
                throw new WrongUseException("kernels=" + work.resource().replaceFirst(".*/", "")
                        + " must be made, with nvcc 13, by cuda-backend/ptx.sh --all; then build or bundle again");
            }
        }
    }

    /** Returns the cases that the options ask for, if they ask for programs. */
    List<ProgramCase> programCases() {
        KernelCaseOptions.checkRange("--limit", limitSeconds, MOST_SECONDS);
        programs.checkAlone(spec.commandLine().getParseResult());
        return programs.cases(tests.areQuick());
    }

    /**
     * Returns 1 if a check failed, a process died or two runs differ. A heap that was too small is a result, not a
     * failure.
     */
    static int exitCode(final List<ProgramResult> results) {
        return results.stream()
                        .anyMatch(
                                result -> result.hasFailed() || results.stream().anyMatch(result::contradicts))
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
        output.writePage(List.of(KernelsSection.PART, ProgramsSection.PART), out);
    }

    /** Writes a file in the folder of results, if the user wants one. */
    private void keep(final String fileName, final List<String> lines, final CudaDevice gpu) throws IOException {
        if (output.out() != null) {
            output.writeLines(fileName, lines);
            output.write("environment.json", Environment.json(gpu, "") + "\n");
        }
    }

    /** Prints a result as soon as it is known, in the order in which cases run. */
    private void printLine(final String line) {
        if (output.json()) {
            Progress.makeRoom();
            spec.commandLine().getOut().println(line);
            spec.commandLine().getOut().flush();
        }
    }

    /** Joins two objects to one. */
    private static String joined(final String first, final String second) {
        return first.substring(0, first.length() - 1) + "," + second.substring(1);
    }
}
