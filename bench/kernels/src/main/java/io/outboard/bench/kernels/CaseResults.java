package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.catalogue.ProgramWorker;
import io.outboard.bench.kernels.report.KernelsSection;
import io.outboard.bench.kernels.report.programs.ProgramsSection;
import io.outboard.bench.kernels.worker.DeviceCase;
import io.outboard.bench.kernels.worker.Watchdog;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * This class runs cases on a GPU and keeps their results, each as soon as it is known: on standard output if lines for
 * programs are wanted, and in the folder of results if there is one. Confined to one thread.
 */
public final class CaseResults {

    private final OutputOptions output;
    private final CudaDevice gpu;
    private final Duration limit;
    private final PrintWriter out;

    /**
     * Makes results of no cases yet.
     *
     * @param output where to write, and what to print
     * @param gpu where cases run
     * @param limit how long a case may take, see {@link Watchdog}
     * @param out prints lines for programs
     */
    public CaseResults(final OutputOptions output, final CudaDevice gpu, final Duration limit, final PrintWriter out) {
        this.output = output;
        this.gpu = gpu;
        this.limit = limit;
        this.out = out;
    }

    /**
     * Runs tests of in-kernel heaps.
     *
     * @param cases what to run
     * @return a JSON object for each, in the order given
     * @throws WrongUseException if kernels of a case weren't made; nothing ran
     * @throws IOException if a result can't be kept, or no process can be started
     * @throws InterruptedException if the thread is interrupted
     */
    public List<String> ofTests(final List<KernelCase> cases) throws IOException, InterruptedException {
        return run(
                KernelWorker.class,
                KernelsSection.FILE_NAME,
                cases,
                work -> work.contender().label() + ", " + work.name());
    }

    /**
     * Runs programs whose kernels allocate.
     *
     * @param cases what to run
     * @return as {@link #ofTests}
     * @throws WrongUseException as {@link #ofTests}
     * @throws IOException as {@link #ofTests}
     * @throws InterruptedException if the thread is interrupted
     */
    public List<String> ofPrograms(final List<ProgramCase> cases) throws IOException, InterruptedException {
        return run(
                ProgramWorker.class,
                ProgramsSection.FILE_NAME,
                cases,
                work -> work.store().label() + ", " + work.name());
    }

    private <C extends DeviceCase> List<String> run(
            final Class<?> worker, final String fileName, final List<C> cases, final Function<C, String> name)
            throws IOException, InterruptedException {
        final String origin = new JsonLine()
                .put("gpu", gpu.toString())
                .put("jdk", Environment.jdk())
                .put("commit", Environment.commit())
                .toString();
        checkMade(cases);
        final List<String> known = new ArrayList<>();
        final List<String> results;
        try (Progress progress = new Progress(cases.size())) {
            results = new Watchdog<C>(worker, gpu.ordinal(), limit)
                    .run(cases, work -> progress.stage(name.apply(work)), result -> {
                        progress.step(1);
                        final String line = joined(result, origin);
                        printLine(line);
                        known.add(line);
                        keep(fileName, known);
                    });
        }
        final List<String> lines =
                results.stream().map(result -> joined(result, origin)).toList();
        // The file has results in the order that the user asked for, though cases ran in another order.
        keep(fileName, lines);
        return lines;
    }

    /** Throws if the build has no kernels for one of the cases. */
    static void checkMade(final List<? extends DeviceCase> cases) {
        for (final DeviceCase work : cases) {
            if (CaseResults.class.getResource(work.resource()) == null) {
                throw new WrongUseException("kernels=" + work.resource().replaceFirst(".*/", "")
                        + " must be made, with nvcc 13, by cuda-backend/ptx.sh --all; then build or bundle again");
            }
        }
    }

    /** Writes a file in the folder of results, if the user wants one. */
    private void keep(final String fileName, final List<String> lines) throws IOException {
        if (output.out() != null) {
            output.writeLines(fileName, lines);
            output.write("environment.json", Environment.json(gpu, "") + "\n");
        }
    }

    /** Prints a result as soon as it is known, in the order in which cases run. */
    private void printLine(final String line) {
        if (output.json()) {
            Progress.makeRoom();
            out.println(line);
            out.flush();
        }
    }

    /** Joins two objects to one. */
    private static String joined(final String first, final String second) {
        return first.substring(0, first.length() - 1) + "," + second.substring(1);
    }
}
