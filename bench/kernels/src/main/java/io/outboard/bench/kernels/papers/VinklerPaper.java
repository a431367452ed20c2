package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.paper.Paper;
import io.outboard.bench.cli.paper.PaperOutput;
import io.outboard.bench.cli.paper.PaperRun;
import io.outboard.bench.kernels.CasePlan;
import io.outboard.bench.kernels.Contender;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.catalogue.Programs;
import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The paper of Vinkler and Havran (2014), whose tests and k-d trees compare ten allocators. */
public final class VinklerPaper implements Paper {

    /** The paper's, too: the median of five runs. */
    private static final int RUNS = 5;

    private static final Pattern MILLIONS = Pattern.compile("([0-9.]+)M-.*");
    private static final double MOST_MILLIONS = 4;

    /** The paper leaves XMalloc out, which had been shown to be slower than ScatterAlloc. */
    private static final List<String> OTHERS = List.of("XMalloc");

    /** {@link java.util.ServiceLoader} calls this constructor. */
    public VinklerPaper() {}

    @Override
    public String name() {
        return "vinkler";
    }

    @Override
    public String title() {
        return "M. Vinkler and V. Havran, Register Efficient Dynamic Memory Allocator for GPUs (2014)";
    }

    @Override
    public List<PaperOutput> outputs() {
        return Stream.of(VinklerTables.outputs(), VinklerFigures.outputs(), VinklerTrees.outputs())
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public List<String> measure(final PaperRun run) throws IOException, InterruptedException {
        final Stream<Contender> ours = Contender.names().stream()
                .filter(name -> !OTHERS.contains(name))
                .flatMap(name -> name.equals(Contender.EMPTY)
                        ? Stream.of(new Contender(name, false))
                        : Stream.of(new Contender(name, false), new Contender(name, true)));
        final List<Contender> contenders =
                Stream.concat(ours, Contender.peers().stream()).toList();
        return PaperCases.run(run, CasePlan.figures(contenders, RUNS), cases(run.whole()));
    }

    /** Returns the builds of k-d trees; scenes of many million triangles take long, mostly to be made and checked. */
    static List<ProgramCase> cases(final boolean whole) {
        return Programs.cases("kdtree", false).stream()
                .filter(work -> whole || !isLarge(work.size()))
                .toList();
    }

    private static boolean isLarge(final String size) {
        final Matcher millions = MILLIONS.matcher(size);
        return millions.matches() && Double.parseDouble(millions.group(1)) > MOST_MILLIONS;
    }
}
