package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The class makes the tables of in-kernel allocators: ours beside published ones in the same cases, and registers.
 */
public final class KernelComparison {

    private static final String OURS = "ours";
    private static final String PUBLISHED = "published";

    private final List<KernelResult> results;
    private final PublishedTable published = PublishedTable.load("published-times.csv");

    KernelComparison(final List<KernelResult> results) {
        this.results = results;
    }

    String html() {
        final List<KernelResult> times = select(KernelResult::isTimed);
        final List<KernelResult> oom = select(result -> result.test().equals("OOM"));
        return part(
                        "Microseconds for allocate/free",
                        "Or for both in one kernel. ! marks requests that failed, ? a failed check. Published: the authors'"
                                + " code and others', measured on an H200 with a heap of 2 GiB, before this project; its"
                                + " absolute times are of another run.",
                        table(
                                "Microseconds for allocate and free",
                                times,
                                KernelResult::microseconds,
                                KernelResult::cell))
                + speedUps(times)
                + part(
                        "Out of memory",
                        "The fraction of the heap that was requested and served before the first failure of each thread.",
                        table("Fraction of the heap served", oom, r -> r.number("served"), KernelResult::servedCell))
                + registers();
    }

    private List<KernelResult> select(final Predicate<KernelResult> filter) {
        return results.stream().filter(filter).toList();
    }

    public static String part(final String title, final String note, final String table) {
        return table.isEmpty()
                ? ""
                : "<h3>" + Html.escape(title) + "</h3>\n<p class=\"note\">" + Html.escape(note) + "</p>\n" + table
                        + "\n";
    }

    /**
     * Makes a table with a row for each case, with what we measured of each allocator and, where there is one, the
     * published figure.
     */
    private String table(
            final String label,
            final List<KernelResult> shown,
            final Function<KernelResult, Double> exact,
            final Function<KernelResult, String> text) {
        if (shown.isEmpty()) {
            return "";
        }
        final List<String> names = names(shown);
        final List<String> contenders = contenders(shown);
        final List<String> others = published.columns().stream()
                .filter(column -> !contenders.contains(column)
                        && names.stream()
                                .anyMatch(name -> !published.text(name, column).isEmpty()))
                .toList();
        final HtmlTable table = new HtmlTable(label, "Case");
        for (final String contender : contenders) {
            table.column(contender, OURS);
            if (hasPublished(names, contender)) {
                table.column(contender, PUBLISHED);
            }
        }
        others.forEach(other -> table.column("Published", other));
        for (final String name : names) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final String contender : contenders) {
                cells.add(find(shown, name, contender)
                        .map(result -> new HtmlTable.Cell(exact.apply(result), text.apply(result), isBad(result)))
                        .findFirst()
                        .orElse(none()));
                if (hasPublished(names, contender)) {
                    cells.add(publishedCell(name, contender));
                }
            }
            others.forEach(other -> cells.add(publishedCell(name, other)));
            table.row(Html.escape(name), cells);
        }
        return table.html();
    }

    /**
     * Makes the table of speedups over CUDA's own allocator in the same run; a published figure is over CUDA's of its
     * own run.
     */
    private String speedUps(final List<KernelResult> times) {
        final List<String> names = names(times).stream()
                .filter(name -> find(times, name, KernelResult.CUDA_MALLOC)
                        .anyMatch(result -> !Double.isNaN(result.microseconds())))
                .toList();
        final List<String> contenders = contenders(times).stream()
                .filter(contender ->
                        !contender.startsWith(KernelResult.CUDA_MALLOC) && !contender.equals(KernelResult.EMPTY))
                .toList();
        if (names.isEmpty() || contenders.isEmpty()) {
            return "";
        }
        final HtmlTable table = new HtmlTable("Times faster than CUDA malloc", "Case");
        for (final String contender : contenders) {
            table.column(contender, OURS);
            if (hasPublished(names, contender)) {
                table.column(contender, PUBLISHED);
            }
        }
        for (final String name : names) {
            final double cuda = microseconds(times, name, KernelResult.CUDA_MALLOC);
            final double publishedCuda = published.number(name, KernelResult.CUDA_MALLOC);
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final String contender : contenders) {
                cells.add(factor(cuda / microseconds(times, name, contender)));
                if (hasPublished(names, contender)) {
                    cells.add(factor(publishedCuda / published.number(name, contender)));
                }
            }
            table.row(Html.escape(name), cells);
        }
        return part(
                "Times faster than CUDA malloc",
                "Allocate and free together, over CUDA's own malloc and free in the same run; published figures over CUDA's"
                        + " of their run.",
                table.html());
    }

    private String registers() {
        final List<KernelResult> ours = select(result -> result.test().equals("REGISTERS"));
        if (ours.isEmpty()) {
            return "";
        }
        final HtmlTable table = new HtmlTable("Registers", "Allocator");
        table.column("One malloc, one free", OURS);
        table.column("One malloc, one free", "over Empty");
        table.column("Loops of ACD", OURS);
        table.column("Loops of ACD", "over Empty");
        for (final KernelResult result : ours) {
            table.row(
                    Html.escape(result.contender()),
                    List.of(
                            count(result.number("registers")),
                            overEmpty(ours, result, "registers"),
                            count(result.number("cycleRegisters")),
                            overEmpty(ours, result, "cycleRegisters")));
        }
        return part(
                "Registers",
                "Of a kernel with one allocation and one free, as this GPU's driver compiles it; Empty is the same kernel"
                        + " without an allocator; FDGMalloc is our WarpArena over CUDA's malloc, WarpArena the same over BitMalloc,"
                        + " each with what opens and ends it. Registers depend on compiler and chip: compare differences."
                        + " Published code on an H200, nvcc 13, in a kernel that takes 20 without:"
                        + " bump pointer 23, CUDA 24, CMalloc family 22 to 26 (coalesced 20 to 24), Ouroboros-P 32, Halloc"
                        + " 40, ScatterAlloc 44, XMalloc 56, Gallatin 68.",
                table.html());
    }

    private boolean hasPublished(final List<String> names, final String contender) {
        return names.stream().anyMatch(name -> !published.text(name, contender).isEmpty());
    }

    private HtmlTable.Cell publishedCell(final String name, final String column) {
        final String text = published.text(name, column);
        return text.isEmpty() ? none() : new HtmlTable.Cell(published.number(name, column), text);
    }

    static boolean isBad(final KernelResult result) {
        return !result.isComplete()
                || result.number("nulls") > 0
                || !result.failedChecks().isEmpty();
    }

    private static List<String> names(final List<KernelResult> shown) {
        return shown.stream().map(KernelResult::name).distinct().toList();
    }

    private static List<String> contenders(final List<KernelResult> shown) {
        return shown.stream().map(KernelResult::contender).distinct().toList();
    }

    private static Stream<KernelResult> find(
            final List<KernelResult> shown, final String name, final String contender) {
        return shown.stream()
                .filter(result ->
                        result.name().equals(name) && result.contender().equals(contender));
    }

    private static double microseconds(final List<KernelResult> shown, final String name, final String contender) {
        return find(shown, name, contender)
                .mapToDouble(KernelResult::comparableMicroseconds)
                .findFirst()
                .orElse(Double.NaN);
    }

    private static HtmlTable.Cell overEmpty(
            final List<KernelResult> ours, final KernelResult result, final String key) {
        return count(result.number(key)
                - find(ours, result.name(), KernelResult.EMPTY)
                        .mapToDouble(empty -> empty.number(key))
                        .findFirst()
                        .orElse(Double.NaN));
    }

    private static HtmlTable.Cell factor(final double value) {
        return new HtmlTable.Cell(value, Units.factor(value));
    }

    private static HtmlTable.Cell count(final double value) {
        return new HtmlTable.Cell(value, Units.count(value));
    }

    private static HtmlTable.Cell words(final String text) {
        return new HtmlTable.Cell(Double.NaN, text);
    }

    private static HtmlTable.Cell none() {
        return words(Html.NONE);
    }
}
