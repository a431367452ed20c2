package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.paper.PaperRun;
import io.outboard.bench.kernels.CaseResults;
import io.outboard.bench.kernels.Contender;
import io.outboard.bench.kernels.KernelCase;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.report.KernelsSection;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import io.outboard.bench.kernels.report.programs.ProgramsSection;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** This class runs the cases of a paper, if there is a GPU. */
final class PaperCases {

    /** How long a case may take before it is ended, as a hang. */
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private PaperCases() {}

    /**
     * Returns which cases came to a wrong result; a heap that was too small isn't wrong. What becomes of a published
     * allocator is a result, too.
     */
    static List<String> run(final PaperRun run, final List<KernelCase> tests, final List<ProgramCase> programs)
            throws IOException, InterruptedException {
        if (run.gpu() == null) {
            return List.of();
        }
        final CaseResults results =
                new CaseResults(run.output(), run.gpu(), LIMIT, new PrintWriter(Writer.nullWriter()));
        final List<String> lines = tests.isEmpty() ? List.of() : results.ofTests(tests);
        return faults(lines, programs.isEmpty() ? List.of() : results.ofPrograms(programs));
    }

    static List<String> faults(final List<String> tests, final List<String> programs) {
        final List<String> faults = new ArrayList<>();
        for (int i = 0; i < tests.size(); i++) {
            final KernelResult result = KernelResult.parse(KernelsSection.FILE_NAME, i + 1, tests.get(i));
            final String what = result.contender() + ", " + result.name() + ": ";
            if (new Contender(result.allocator(), false).isPeer()) {
                continue;
            }
            if (!result.isComplete()) {
                faults.add(what + result.text("status") + ": " + result.text("message"));
            } else if (!result.failedChecks().isEmpty()) {
                faults.add(what + result.failedChecks());
            }
        }
        final List<ProgramResult> results = IntStream.range(0, programs.size())
                .mapToObj(i -> ProgramResult.parse(ProgramsSection.FILE_NAME, i + 1, programs.get(i)))
                .filter(result -> !new Store(result.store()).isPeer())
                .toList();
        for (final ProgramResult result : results) {
            final String what = result.store() + ", " + result.program() + " " + result.size() + ": ";
            if (result.hasFailed()) {
                faults.add(what + result.failure());
            } else if (results.stream().anyMatch(result::contradicts)) {
                faults.add(what + "another run came to another result");
            }
        }
        return faults;
    }
}
