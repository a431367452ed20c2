package io.outboard.bench.report.kernels;

import io.outboard.bench.report.ChartGroup;
import io.outboard.bench.report.Html;
import io.outboard.bench.report.HtmlTable;
import io.outboard.bench.report.Series;
import io.outboard.bench.report.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Figures 3, 4 and 5 of Vinkler and Havran (2014), as ours. */
final class KernelFigures {

    /** Threads of a block, in every test. */
    static final int BLOCK = 256;

    private static final double PAPER_THREADS = 120.0 * BLOCK;
    private static final double PAPER_HEAP = 2.0 * (1L << 30);
    private static final double PAPER_ITERATIONS = 10;
    private static final double PAPER_BYTES = 4;
    private static final int NS_A_MICROSECOND = 1000;

    /** A figure: which results are its points, what is on its axes, and what its lines are. */
    private record Figure(
            String number,
            String title,
            String kind,
            String axis,
            ToDoubleFunction<KernelResult> x,
            DoubleFunction<String> xText,
            ToDoubleFunction<KernelResult> y,
            DoubleFunction<String> yText,
            Function<KernelResult, String> line) {}

    private final List<KernelResult> results;

    KernelFigures(final List<KernelResult> results) {
        this.results = results;
    }

    /** Which results are points of a figure of the paper, by its number. */
    static Predicate<KernelResult> points(final String figure) {
        return switch (figure) {
            case "3(a)" -> is("ADF").and(usualHeap());
            case "3(b)" ->
                is("ACD")
                        .and(usualSplit())
                        .and(has("leastBytes", PAPER_BYTES))
                        .and(has("iterations", PAPER_ITERATIONS));
            case "3(c)" -> is("ACD").and(usualHeap()).and(has("leastBytes", PAPER_BYTES));
            case "3(d)" ->
                usualHeap()
                        .and(has("leastBytes", PAPER_BYTES))
                        .and(result -> result.test().equals("P") && isPerWarp(result) && isPlain(result));
            case "4" ->
                is("ACD")
                        .and(has("heapBytes", PAPER_HEAP))
                        .and(has("iterations", PAPER_ITERATIONS))
                        .and(KernelFigures::isOfFamily);
            case "5" -> is("AD").and(usualHeap()).and(result -> !Double.isNaN(result.number("internalFragmentation")));
            default -> throw new IllegalArgumentException("figure=" + figure + " must be one of the paper's");
        };
    }

    String html() {
        final DoubleFunction<String> count = Units::count;
        final String figure3 = time(
                        "3(a)",
                        "AD fused over the size of requests",
                        "kernelBytes",
                        "Bytes",
                        "leastBytes",
                        Units::bytes)
                + time("3(b)", "ACD over the size of the heap", "kernelBytes", "Heap", "heapBytes", Units::bytes)
                + time("3(c)", "ACD over the number of iterations", "kernelCount", "Iterations", "iterations", count)
                + html(new Figure(
                        "3(d)",
                        "P over the number of blocks of threads",
                        "kernelCount",
                        "Blocks",
                        result -> result.number("threads") / BLOCK,
                        count,
                        KernelFigures::nanoseconds,
                        Units::time,
                        KernelResult::contender));
        final String figure4 = html(new Figure(
                "4",
                "ACD over the size of requests, by pre-splitting",
                "kernelBytes",
                "Bytes",
                result -> result.number("leastBytes"),
                Units::bytes,
                KernelFigures::nanoseconds,
                Units::time,
                KernelFigures::splitName));
        return titled(
                        "Figure 3",
                        "One thread of each warp allocates. Points where requests failed are left out.",
                        figure3)
                + titled(
                        "Figure 4",
                        "The paper shows ScatterAlloc by its page size here; ours are the family as it is, and CFMMalloc in"
                                + " heaps that are pre-split otherwise.",
                        figure4)
                + titled(
                        "Figure 5",
                        "Of AD. Internal: equation 2, while all is allocated; in the paper 0.75 at 4 bytes, falling to 0."
                                + " External: equation 3, after all is freed; in the paper from 0.3 to almost 1. Free chunks"
                                + " that are neighbours serve a request together, so they count as one; the third figure"
                                + " counts chunks one by one, as the paper does.",
                        fragmentation("Internal fragmentation", "internalFragmentation")
                                + fragmentation("External fragmentation", "externalFragmentation")
                                + fragmentation(
                                        "External fragmentation, chunk by chunk", "externalFragmentationOfChunks"));
    }

    private static String titled(final String title, final String note, final String charts) {
        return charts.isEmpty()
                ? ""
                : "<h3>" + title + "</h3>\n<p class=\"note\">" + Html.escape(note) + "</p>\n" + charts;
    }

    private String time(
            final String number,
            final String title,
            final String kind,
            final String axis,
            final String key,
            final DoubleFunction<String> text) {
        return html(new Figure(
                number,
                title,
                kind,
                axis,
                result -> result.number(key),
                text,
                KernelFigures::nanoseconds,
                Units::time,
                KernelResult::contender));
    }

    private String fragmentation(final String title, final String key) {
        return html(new Figure(
                "5",
                title,
                "fragmentation",
                "Bytes",
                result -> result.number("leastBytes"),
                Units::bytes,
                result -> result.number(key),
                Units::percent,
                KernelResult::contender));
    }

    /** A chart with its own legend and its numbers; nothing if there aren't two points on a line. */
    private String html(final Figure figure) {
        final List<KernelResult> points =
                results.stream().filter(points(figure.number())).toList();
        final TreeSet<Double> values = new TreeSet<>();
        points.forEach(point -> values.add(figure.x().applyAsDouble(point)));
        if (values.size() < 2) {
            return "";
        }
        final double[] x = values.stream().mapToDouble(value -> value).toArray();
        final HtmlTable table = new HtmlTable(figure.title(), "Allocator");
        values.forEach(value -> table.column(figure.axis(), figure.xText().apply(value)));
        final ChartGroup group = new ChartGroup(figure.kind());
        final List<String> names = points.stream().map(figure.line()).distinct().toList();
        for (final Series look : looks(names)) {
            final double[] y = new double[x.length];
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (int i = 0; i < x.length; i++) {
                final double at = x[i];
                y[i] = points.stream()
                        .filter(point -> figure.line().apply(point).equals(look.name())
                                && figure.x().applyAsDouble(point) == at)
                        .mapToDouble(figure.y())
                        .findFirst()
                        .orElse(Double.NaN);
                cells.add(new HtmlTable.Cell(y[i], figure.yText().apply(y[i])));
            }
            table.row(look.html(), cells);
            group.line(look, x, y);
        }
        final String title = figure.number().startsWith("3") ? figure.number() + " " + figure.title() : figure.title();
        group.figure(
                title,
                "Line chart: " + figure.title() + ". The table below it holds the numbers.",
                "In numbers",
                table,
                false);
        return group.html();
    }

    /** Those that our allocators are compared with in grey. */
    private static List<Series> looks(final List<String> names) {
        final List<Series> looks = new ArrayList<>();
        final List<String> ours = new ArrayList<>();
        for (final String name : names) {
            if (name.equals(KernelResult.CUDA_MALLOC)) {
                looks.add(new Series(name, "--baseline-0", "--dash-0"));
            } else if (name.equals(KernelResult.EMPTY)) {
                looks.add(new Series(name, "--baseline-1", "--dash-1"));
            } else {
                ours.add(name);
            }
        }
        looks.addAll(Series.ofStrategies(ours));
        return looks;
    }

    /** A test with the paper's threads. */
    private static Predicate<KernelResult> is(final String test) {
        return result -> result.test().equals(test)
                && isPerWarp(result)
                && result.number("threads") == PAPER_THREADS
                && isPlain(result);
    }

    /** As in the paper: each thread by itself, and the allocator compiled into the kernel. */
    private static boolean isPlain(final KernelResult result) {
        return !result.isCoalesced() && !result.isLinked();
    }

    private static boolean isPerWarp(final KernelResult result) {
        return result.number("allocatingThreads") < result.number("threads");
    }

    private static Predicate<KernelResult> usualHeap() {
        return usualSplit().and(has("heapBytes", PAPER_HEAP));
    }

    private static Predicate<KernelResult> usualSplit() {
        return result -> result.text("preSplit").equals("default");
    }

    private static Predicate<KernelResult> has(final String key, final double value) {
        return result -> result.number(key) == value;
    }

    /** Allocators whose heaps are pre-split at all. */
    private static boolean isOfFamily(final KernelResult result) {
        return List.of("CMalloc", "CFMalloc", "CMMalloc", "CFMMalloc").contains(result.allocator());
    }

    private static double nanoseconds(final KernelResult result) {
        return result.comparableMicroseconds() * NS_A_MICROSECOND;
    }

    private static String splitName(final KernelResult result) {
        return usualSplit().test(result) ? result.contender() : result.contender() + ", " + result.text("preSplit");
    }
}
