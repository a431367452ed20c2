package io.outboard.bench.kernels.report.programs;

import io.outboard.bench.cli.report.ChartGroup;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.KernelComparison;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.Predicate;

/**
 * The class makes the tables of requests alone: figures 2, 5 and 6 of Huang et al. (2013) with our results, arenas of
 * warps, objects made and destroyed.
 */
final class RequestTables {

    private static final String WORKERS = "-workers";
    private static final int NS_A_MICROSECOND = 1000;

    private final List<ProgramResult> results;

    RequestTables(final List<ProgramResult> results) {
        this.results = results;
    }

    String html() {
        return workers(
                        "XMalloc, figures 2 and 5",
                        "102,400 workers, where the paper has a million, that each allocate an int, write it and free it,"
                                + " in warps with so many of them: time over"
                                + " workers. The paper, on a GTX 480: CUDA's malloc 900 ns at best, XMalloc 24 ns with 32 workers a"
                                + " warp, 48 times faster; coalescing alone 50 times faster with 32, slower with one.",
                        store -> !store.contains("buffered") || store.equals("CudaMalloc buffered"),
                        "nsPerRequest")
                + workers(
                        "XMalloc, figure 6",
                        "The same by requests that reach the buffers, one a warp, with 256 blocks of a size kept in so many"
                                + " queues. The paper: one queue slows it down, 16 are about five times as fast as none with one"
                                + " worker a warp, a little slower with 32.",
                        store -> store.startsWith("CudaMalloc"),
                        "nsPerWarp")
                + part(
                        "Blocks of 256 bytes",
                        "10,240 threads allocate in one kernel and free in the next.",
                        result -> result.program().equals("xmalloc")
                                && !result.size().contains(WORKERS),
                        List.of("allocateUs", "freeUs"))
                + part(
                        "Scratch memory of warps",
                        "Each thread asks 32 times for 16 to 128 bytes, and all is freed at the end. Bump: a counter that only"
                                + " advances, in memory set aside before. arena: WarpArena over the allocator; else the allocator"
                                + " alone.",
                        result -> result.program().equals("arena"),
                        List.of("nsPerRequest"))
                + part(
                        "Objects of 64 bytes",
                        "Each thread makes one in a kernel, and destroys it in the next; or allocates and frees 64 bytes.",
                        result -> result.program().equals("objects"),
                        List.of("makeUs", "destroyUs"));
    }

    /** Draws a line for each store over the number of workers in a warp. */
    private String workers(final String title, final String note, final Predicate<String> stores, final String key) {
        final List<ProgramResult> shown = results.stream()
                .filter(result -> result.program().equals("xmalloc")
                        && result.size().endsWith(WORKERS)
                        && stores.test(result.store()))
                .toList();
        final double[] x = shown.stream()
                .mapToDouble(RequestTables::lanes)
                .distinct()
                .sorted()
                .toArray();
        if (x.length < 2) {
            return "";
        }
        final HtmlTable table = new HtmlTable(title, "Allocator");
        for (final double lanes : x) {
            table.column("Workers a warp", Units.count(lanes));
        }
        final ChartGroup group = new ChartGroup("kernelCount", "workers in a warp", "time of a request");
        for (final Series look : Series.ofStrategies(
                shown.stream().map(ProgramResult::store).distinct().toList())) {
            final double[] y = new double[x.length];
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (int i = 0; i < x.length; i++) {
                final double lanes = x[i];
                y[i] = shown.stream()
                        .filter(result -> result.store().equals(look.name()) && lanes(result) == lanes)
                        .mapToDouble(result -> result.number(key))
                        .findFirst()
                        .orElse(Double.NaN);
                cells.add(new HtmlTable.Cell(y[i], Units.time(y[i])));
            }
            table.row(look.html(), cells);
            group.line(look, x, y);
        }
        group.figure(
                title, "Line chart: " + title + ". The table below it holds the numbers.", "In numbers", table, true);
        return "<h3>" + Html.escape(title) + "</h3>\n<p class=\"note\">" + Html.escape(note) + "</p>\n" + group.html();
    }

    private static double lanes(final ProgramResult result) {
        return Double.parseDouble(result.size().substring(0, result.size().indexOf(WORKERS)));
    }

    /** Makes a table with a row for each store, and a column for each size and number. */
    private String part(
            final String title, final String note, final Predicate<ProgramResult> filter, final List<String> keys) {
        final List<ProgramResult> shown = results.stream().filter(filter).toList();
        final List<String> sizes =
                shown.stream().map(ProgramResult::size).distinct().toList();
        final HtmlTable table = new HtmlTable(title, "Store");
        sizes.forEach(size -> keys.forEach(key -> table.column(size, heading(key))));
        for (final String store :
                shown.stream().map(ProgramResult::store).distinct().toList()) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final String size : sizes) {
                for (final String key : keys) {
                    final double value = shown.stream()
                            .filter(result -> result.store().equals(store)
                                    && result.size().equals(size))
                            .mapToDouble(result -> result.number(key))
                            .findFirst()
                            .orElse(Double.NaN);
                    cells.add(new HtmlTable.Cell(value, format(key).apply(value)));
                }
            }
            table.row(Html.escape(store), cells);
        }
        return shown.isEmpty() ? "" : KernelComparison.part(title, note, table.html());
    }

    private static String heading(final String key) {
        return key.equals("nsPerRequest") ? "a request" : key.replace("Us", "");
    }

    private static DoubleFunction<String> format(final String key) {
        return key.endsWith("Us") ? value -> Units.time(value * NS_A_MICROSECOND) : Units::time;
    }
}
