package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.ChartGroup;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** The class draws figures 3, 4 and 5 of Vinkler and Havran (2014) with our results. */
final class KernelFigures {

    /** The threads of a block, in every test. */
    static final int BLOCK = 256;

    private static final double PAPER_THREADS = 120.0 * BLOCK;
    private static final double PAPER_HEAP = 2.0 * (1L << 30);
    private static final double PAPER_ITERATIONS = 10;
    private static final double PAPER_BYTES = 4;

    /**
     * The paper's internal fragmentation at 4 bytes, for which chunks have 16; and the least external fragmentation
     * that its text says of figure 5(b).
     */
    private static final double PAPER_INTERNAL = 0.75;

    private static final double PAPER_EXTERNAL = 0.3;
    private static final String TIME = "time of the test, logarithmic";
    private static final String PUBLISHED = ", published code";
    private static final int NS_A_MICROSECOND = 1000;

    /** A figure says which results are its points, what is on its axes, and what its lines are. */
    private record Figure(
            String number,
            String title,
            String kind,
            String axis,
            String unit,
            ToDoubleFunction<KernelResult> x,
            DoubleFunction<String> xText,
            ToDoubleFunction<KernelResult> y,
            DoubleFunction<String> yText,
            Function<KernelResult, String> line) {}

    private final List<KernelResult> results;
    private final PublishedTable published = PublishedTable.load("published-times.csv");

    KernelFigures(final List<KernelResult> results) {
        this.results = results;
    }

    /** Returns which results are points of a figure of the paper, by its number. */
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
                        "bytes of a request",
                        "leastBytes",
                        Units::bytes)
                + time(
                        "3(b)",
                        "ACD over the size of the heap",
                        "kernelBytes",
                        "bytes of the heap",
                        "heapBytes",
                        Units::bytes)
                + time(
                        "3(c)",
                        "ACD over the number of iterations",
                        "kernelCount",
                        "allocations of a thread",
                        "iterations",
                        count)
                + html(new Figure(
                        "3(d)",
                        "P over the number of blocks of threads",
                        "kernelCount",
                        "blocks of 256 threads",
                        TIME,
                        result -> result.number("threads") / BLOCK,
                        count,
                        KernelFigures::nanoseconds,
                        Units::time,
                        KernelResult::contender));
        final String figure4 = html(new Figure(
                "4",
                "ACD over the size of requests, by pre-splitting",
                "kernelBytes",
                "bytes of a request",
                TIME,
                result -> result.number("leastBytes"),
                Units::bytes,
                KernelFigures::nanoseconds,
                Units::time,
                KernelFigures::splitName));
        return titled(
                        "Figure 3",
                        "One thread of each warp allocates. Points where requests failed are left out. Dots, published code: the authors'"
                                + " own, measured on an H200 with a heap of 2 GiB in another run; the paper's figures of a GTX TITAN"
                                + " Black have no numbers in its text.",
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
                TIME,
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
                "bytes of a request",
                "share of the memory",
                result -> result.number("leastBytes"),
                Units::bytes,
                result -> result.number(key),
                Units::percent,
                KernelResult::contender));
    }

    /** Returns a chart with its own legend and its numbers; empty if no allocator has two points on a line. */
    private String html(final Figure figure) {
        final List<KernelResult> points =
                results.stream().filter(points(figure.number())).toList();
        final TreeSet<Double> values = new TreeSet<>();
        points.forEach(point -> values.add(figure.x().applyAsDouble(point)));
        if (values.size() < 2
                || points.stream().allMatch(point -> point.allocator().equals(KernelResult.EMPTY))) {
            return "";
        }
        final double[] x = values.stream().mapToDouble(value -> value).toArray();
        final HtmlTable table = new HtmlTable(figure.title(), "Allocator");
        values.forEach(value -> table.column(figure.axis(), figure.xText().apply(value)));
        final ChartGroup group = new ChartGroup(figure.kind(), figure.axis(), figure.unit());
        final List<String> names = points.stream().map(figure.line()).distinct().toList();
        for (final Series look : Series.ofStrategies(names)) {
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
        addPublished(figure, points, x, names, group, table);
        addPaper(figure, x, group);
        final String title = figure.number().startsWith("3") ? figure.number() + " " + figure.title() : figure.title();
        group.figure(
                title,
                "Line chart: " + figure.title() + ". The table below it holds the numbers.",
                "In numbers",
                table,
                false);
        return group.html();
    }

    /** Adds what the authors' code took in the same cases, below ours, as far as points are known. */
    private void addPublished(
            final Figure figure,
            final List<KernelResult> points,
            final double[] x,
            final List<String> names,
            final ChartGroup group,
            final HtmlTable table) {
        final List<String> theirs = new ArrayList<>();
        final List<double[]> values = new ArrayList<>();
        for (final String column : figure.unit().equals(TIME) ? published.columns() : List.<String>of()) {
            final double[] y = new double[x.length];
            for (int i = 0; i < x.length; i++) {
                final double at = x[i];
                y[i] = points.stream()
                                .filter(point -> figure.x().applyAsDouble(point) == at
                                        && usualSplit().test(point))
                                .mapToDouble(point -> published.number(point.name(), column))
                                .filter(value -> !Double.isNaN(value))
                                .findFirst()
                                .orElse(Double.NaN)
                        * NS_A_MICROSECOND;
            }
            if (names.contains(column)
                    && !List.of(KernelResult.EMPTY, "AtomicMalloc").contains(column)
                    && Arrays.stream(y).anyMatch(value -> !Double.isNaN(value))) {
                theirs.add(column + PUBLISHED);
                values.add(y);
            }
        }
        for (int i = 0; i < theirs.size(); i++) {
            final Series own = Series.of(theirs.get(i).replace(PUBLISHED, ""));
            final Series look = new Series(theirs.get(i), own.colour(), "--dash-2");
            group.points(look, x, values.get(i));
            table.row(
                    look.html(),
                    Arrays.stream(values.get(i))
                            .mapToObj(value -> new HtmlTable.Cell(value, Units.time(value)))
                            .toList());
        }
    }

    /** Adds what the paper's text says of its figure 5. */
    private static void addPaper(final Figure figure, final double[] x, final ChartGroup group) {
        if (figure.title().startsWith("Internal") && x[0] == PAPER_BYTES) {
            group.points(paper("paper, at 4 bytes"), new double[] {PAPER_BYTES}, new double[] {PAPER_INTERNAL});
        } else if (figure.title().startsWith("External")) {
            final double[] ends = {x[0], x[x.length - 1]};
            group.line(paper("paper, least"), ends, new double[] {PAPER_EXTERNAL, PAPER_EXTERNAL});
        }
    }

    private static Series paper(final String name) {
        return new Series(name, "--baseline-1", "--dash-2");
    }

    /** Selects a test with the paper's threads. */
    private static Predicate<KernelResult> is(final String test) {
        return result -> result.test().equals(test)
                && isPerWarp(result)
                && result.number("threads") == PAPER_THREADS
                && isPlain(result);
    }

    /**
     * Returns whether a result is as in the paper: each thread by itself, and the allocator compiled into the kernel.
     */
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

    /** Returns whether an allocator's heaps are pre-split at all. */
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
