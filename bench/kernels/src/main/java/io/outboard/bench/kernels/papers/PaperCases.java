package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.paper.PaperRun;
import io.outboard.bench.kernels.CaseResults;
import io.outboard.bench.kernels.KernelCase;
import io.outboard.bench.kernels.programs.ProgramCase;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.List;

/** This class runs the cases of a paper, if there is a GPU. */
final class PaperCases {

    /** How long a case may take before it is ended, as a hang. */
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private PaperCases() {}

    static void run(final PaperRun run, final List<KernelCase> tests, final List<ProgramCase> programs)
            throws IOException, InterruptedException {
        if (run.gpu() == null) {
            return;
        }
        final CaseResults results =
                new CaseResults(run.output(), run.gpu(), LIMIT, new PrintWriter(Writer.nullWriter()));
        if (!tests.isEmpty()) {
            results.ofTests(tests);
        }
        if (!programs.isEmpty()) {
            results.ofPrograms(programs);
        }
    }
}
