package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.paper.Paper;
import io.outboard.bench.cli.paper.PaperOutput;
import io.outboard.bench.cli.paper.PaperResults;
import io.outboard.bench.cli.paper.PaperRun;
import io.outboard.bench.cli.paper.PaperTable;
import io.outboard.bench.cli.report.HtmlTable.Cell;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.programs.catalogue.Programs;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import io.outboard.bench.kernels.report.programs.ProgramsSection;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The paper of Springer (2019): DynaSOAR, whose programs run methods on all objects of a type. */
public final class SpringerPaper implements Paper {

    private static final String OBJECT_HEAP = Store.OBJECT_HEAP.label();
    private static final String AOS = Store.AOS.label();
    private static final String SOA = Store.SOA.label();
    /** What CFMMalloc stands for. */
    private static final List<String> FAMILY = List.of("CMalloc-coalesced", "CFMalloc-coalesced", "CMMalloc-coalesced");

    private static final String STEP = "stepUs";
    private static final String WORK = "workUs";
    private static final String TIMES = "Times are of a GTX Titan Xp there; its figure has no numbers in its text.";

    /** {@link java.util.ServiceLoader} calls this constructor. */
    public SpringerPaper() {}

    @Override
    public String name() {
        return "springer";
    }

    @Override
    public String title() {
        return "M. Springer, DynaSOAR: A Lock-free Hierarchical Bitmap-based Object Allocator for GPUs (2019)";
    }

    @Override
    public List<PaperOutput> outputs() {
        return List.of(
                new PaperOutput(
                        "springer/figure-6",
                        "The programs, with the objects of our sizes",
                        true,
                        "The paper's table is a picture. Sizes are ours. ObjectHeap takes free blocks near first; its order paper"
                                + " is algorithm 1's.",
                        null,
                        SpringerPaper::programs),
                new PaperOutput(
                        "springer/figure-7",
                        "Running time of a step, by what objects live in",
                        true,
                        TIMES
                                + " CUDA's malloc has the first 20 steps alone. Allocators stand behind plain structures and an"
                                + " array of pointers to them for each type, which do-all goes through.",
                        null,
                        results -> byProgram(results, STEP, Cells::us)),
                new PaperOutput(
                        "springer/figure-7-work",
                        "The same without parallel enumeration, as the paper wants allocators compared",
                        true,
                        TIMES,
                        null,
                        results -> byProgram(results, WORK, Cells::us)),
                new PaperOutput(
                        "springer/figure-8",
                        "Space efficiency: the largest problem that each can serve in the same heap",
                        true,
                        "In cells, places, nodes or bodies, of which no object is refused at the start and in the steps that follow,"
                                + " to a 128th of a side or of a number of bodies. Heaps are smaller than the paper's card. Arrays lie"
                                + " beside the heap, and may be as large.",
                        null,
                        results -> byProgram(results, "elements", Cells::count)),
                new PaperOutput(
                        "springer/figure-8-least-heap",
                        "The other way round: the least heap with which no object is refused, over the most bytes of fields that"
                                + " are live",
                        true,
                        "The paper has no such measure. Arrays of pointers lie beside the heap.",
                        null,
                        results -> byProgram(results, "leastHeapOverLive", Cells::number)),
                new PaperOutput(
                        "springer/claim-always-better",
                        "\"DynaSOAR always exhibits better performance than the other allocators\": times faster than the best"
                                + " of them",
                        true,
                        "Without parallel enumeration. Where ours is below 1, another allocator of ours is better, and the claim"
                                + " doesn't hold; among them is BitMalloc, which the paper doesn't know.",
                        null,
                        SpringerPaper::alwaysBetter),
                new PaperOutput(
                        "springer/claim-soa",
                        "\"All applications except for sugarscape benefit from SOA\": time of the baseline in AOS over SOA",
                        true,
                        "Arrays have room for as many objects as there can be.",
                        null,
                        SpringerPaper::soa));
    }

    @Override
    public List<String> measure(final PaperRun run) throws IOException, InterruptedException {
        return PaperCases.run(run, List.of(), cases(run.whole()));
    }

    /**
     * Returns the cases of all programs that have objects in steps; long runs aren't the paper's.
     *
     * @param whole whether to have all; else times of the smallest size, and what else is the paper's, with the best
     *     of the CMalloc family alone and an ObjectHeap in its own and the paper's order
     */
    static List<ProgramCase> cases(final boolean whole) {
        return Programs.names().stream()
                .map(name -> Programs.cases(name, false))
                .filter(cases -> cases.stream().anyMatch(work -> work.mode() == ProgramCase.Mode.MEMORY))
                .flatMap(cases -> cases.stream()
                        .filter(work -> whole
                                ? work.mode() != ProgramCase.Mode.LONG
                                : isShort(work, cases.get(0).size())))
                .flatMap(work ->
                        inEachOrder(work, whole ? List.of("near", "active", "paper") : List.of("near", "paper")))
                .toList();
    }

    private static boolean isShort(final ProgramCase work, final String smallest) {
        return !FAMILY.contains(work.store().name())
                && switch (work.mode()) {
                    case TIME -> work.size().equals(smallest);
                    case LARGEST -> true;
                    case MEMORY, LONG -> false;
                };
    }

    /** Returns a case with some orders of a heap of objects, if it has one. */
    private static Stream<ProgramCase> inEachOrder(final ProgramCase work, final List<String> orders) {
        return work.store().equals(Store.OBJECT_HEAP)
                ? orders.stream().map(order -> work.with(Store.ordered(order)))
                : Stream.of(work);
    }

    private static List<ProgramResult> read(final PaperResults results, final Predicate<ProgramResult> which)
            throws IOException {
        return results.read(ProgramsSection.FILE_NAME, ProgramResult::parse).stream()
                .filter(which)
                .toList();
    }

    private static Predicate<ProgramResult> has(final String key) {
        return result -> !Double.isNaN(result.number(key));
    }

    /** Names a program with its size and steps: only the same steps are compared, as the first aren't like the later. */
    private static String name(final ProgramResult result) {
        return result.program() + " " + result.size()
                + (Double.isNaN(result.number(STEP)) ? "" : ", " + Units.count(result.number("steps")) + " steps");
    }

    private static PaperTable programs(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        for (final ProgramResult result :
                read(results, has(STEP).and(each -> each.store().equals(OBJECT_HEAP)))) {
            table.ours(name(result), "objects at the end", Cells.count(result.number("objects")))
                    .ours(name(result), "live", Cells.bytes(result.number("liveBytes")))
                    .ours(name(result), "held", Cells.bytes(result.number("heldBytes")));
        }
        return table;
    }

    private static PaperTable byProgram(final PaperResults results, final String key, final Function<Double, Cell> text)
            throws IOException {
        final PaperTable table = new PaperTable();
        for (final ProgramResult result : read(results, has(key))) {
            table.ours(name(result), result.store(), text.apply(result.number(key)));
        }
        return table;
    }

    private static PaperTable alwaysBetter(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        final List<ProgramResult> all = read(results, has(WORK));
        final List<String> arrays = List.of(AOS, SOA);
        for (final ProgramResult ours : all) {
            final Optional<ProgramResult> best = all.stream()
                    .filter(other -> name(other).equals(name(ours))
                            && !other.store().startsWith(OBJECT_HEAP)
                            && !arrays.contains(other.store()))
                    .min((a, b) -> Double.compare(a.number(WORK), b.number(WORK)));
            if (ours.store().startsWith(OBJECT_HEAP) && best.isPresent()) {
                final String row = name(ours) + (ours.store().equals(OBJECT_HEAP) ? "" : ", " + ours.store());
                table.paper(row, "times faster", Cells.words("> 1"))
                        .ours(row, "times faster", Cells.factor(best.get().number(WORK) / ours.number(WORK)))
                        .ours(row, "than", Cells.words(best.get().store()));
            }
        }
        return table;
    }

    private static PaperTable soa(final PaperResults results) throws IOException {
        final PaperTable table = new PaperTable();
        final List<ProgramResult> all = read(results, has(STEP));
        for (final ProgramResult aos : all) {
            final Stream<ProgramResult> soa = all.stream()
                    .filter(other ->
                            name(other).equals(name(aos)) && other.store().equals(SOA));
            if (aos.store().equals(AOS)) {
                soa.findFirst()
                        .ifPresent(other -> table.paper(
                                        name(aos),
                                        "times faster",
                                        Cells.words(aos.program().equals("sugarscape") ? "1 or less" : "> 1"))
                                .ours(name(aos), "times faster", Cells.factor(aos.number(STEP) / other.number(STEP))));
            }
        }
        return table;
    }
}
