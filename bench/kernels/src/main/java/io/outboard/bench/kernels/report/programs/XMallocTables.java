package io.outboard.bench.kernels.report.programs;

import io.outboard.bench.cli.report.ChartGroup;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.KernelComparison;
import io.outboard.bench.kernels.report.KernelResult;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.Predicate;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * The class makes the figures of Huang et al. (2013) from our results, and puts the paper's claims beside ours. Each
 * result of the program {@code xmalloc} names the figures that it belongs to.
 */
final class XMallocTables {

    private static final String XMALLOC = "XMalloc";
    private static final String COALESCED = "CudaMalloc coalesced";
    private static final String LANES = "lanes";
    private static final String FILLED = "filled";
    private static final String A_REQUEST = "nsPerRequest";
    private static final String A_WARP = "nsPerWarp";
    private static final int WARP_THREADS = 32;

    private final List<ProgramResult> results;

    XMallocTables(final List<ProgramResult> all) {
        results = all.stream()
                .filter(result -> result.program().equals("xmalloc"))
                .toList();
    }

    /** Returns whether a result belongs to a figure. */
    static boolean isOf(final ProgramResult result, final String figure) {
        return result.program().equals("xmalloc")
                && Arrays.asList(result.text("figures").split(" ", -1)).contains(figure);
    }

    String html() {
        return claims()
                + lines(
                        "XMalloc, figure 2",
                        "A million workers, in warps with so many of them: each allocates an int, writes it and frees it."
                                + " BitMalloc is not in the paper.",
                        "2",
                        LANES,
                        A_REQUEST)
                + lines(
                        "XMalloc, figure 5",
                        "The same with CUDA's malloc as it is, and behind coalescing alone.",
                        "5",
                        LANES,
                        A_REQUEST)
                + lines(
                        "XMalloc, figure 6",
                        "Time of a request that reaches the queues, one a warp, without queues and with 256 blocks of a size in 1"
                                + " to 64 of them; XMalloc has 16, buffered4 is XMalloc with 4. 102,400 workers, where the paper has a million.",
                        "6",
                        LANES,
                        A_WARP)
                + lines(
                        "XMalloc, numbers of workers",
                        "Workers fill their warps. The paper has a million alone.",
                        "workers",
                        "workers",
                        A_REQUEST)
                + filled();
    }

    private String claims() {
        final HtmlTable table = new HtmlTable("XMalloc, the paper's claims", "Claim");
        table.column("", "paper");
        table.column("", "here");
        final double[] here = {
            best(KernelResult.CUDA_MALLOC),
            best(XMALLOC),
            time("2", KernelResult.CUDA_MALLOC, WARP_THREADS) / time("2", XMALLOC, WARP_THREADS),
            time("5", KernelResult.CUDA_MALLOC, WARP_THREADS) / time("5", COALESCED, WARP_THREADS),
            time("6", COALESCED, 1) / time("6", XMALLOC, 1),
            filled(KernelResult.CUDA_MALLOC, WARP_THREADS, true) / filled(XMALLOC, WARP_THREADS, true)
        };
        row(table, "CUDA's malloc, the best of figure 2", 900, here[0], Units::time);
        row(table, "XMalloc, the best of figure 2", 24, here[1], Units::time);
        row(table, "XMalloc over CUDA's malloc, 32 workers a warp (figure 2)", 48, here[2], Units::factor);
        row(table, "coalescing alone over CUDA's malloc, 32 workers a warp (figure 5)", 50, here[3], Units::factor);
        row(table, "16 queues over none, 1 worker a warp (figure 6)", 5, here[4], Units::factor);
        row(table, "XMalloc over CUDA's malloc on a filled heap, 32 workers a warp", 6, here[5], Units::factor);
        return Arrays.stream(here).allMatch(Double::isNaN)
                ? ""
                : KernelComparison.part(
                        "XMalloc beside its paper",
                        "Huang et al. (2013) had a GTX 480 and CUDA 4.0. Its two times are 37.5 apart, not 48. It says just under 6"
                                + " for the filled heap.",
                        table.html());
    }

    private static void row(
            final HtmlTable table,
            final String claim,
            final double paper,
            final double here,
            final DoubleFunction<String> format) {
        table.row(Html.escape(claim), List.of(cell(paper, format), cell(here, format)));
    }

    private static HtmlTable.Cell cell(final double value, final DoubleFunction<String> format) {
        return new HtmlTable.Cell(value, format.apply(value));
    }

    private DoubleStream times(final String figure, final String store, final Predicate<ProgramResult> condition) {
        return results.stream()
                .filter(result -> isOf(result, figure) && result.store().equals(store) && condition.test(result))
                .mapToDouble(result -> result.number(A_REQUEST));
    }

    private double best(final String store) {
        return times("2", store, result -> true).min().orElse(Double.NaN);
    }

    private double time(final String figure, final String store, final int lanes) {
        return times(figure, store, result -> result.number(LANES) == lanes)
                .findFirst()
                .orElse(Double.NaN);
    }

    private double filled(final String store, final int lanes, final boolean isFilled) {
        return times(
                        FILLED,
                        store,
                        result -> result.number(LANES) == lanes && result.number("blocksBefore") > 0 == isFilled)
                .findFirst()
                .orElse(Double.NaN);
    }

    /** Makes a table of times on an empty heap and on one that was filled before. */
    private String filled() {
        final HtmlTable table = new HtmlTable("XMalloc, filled heap", "Allocator");
        final int[] lanes = {1, WARP_THREADS};
        for (final int each : lanes) {
            final String group = each == 1 ? "1 worker a warp" : each + " workers a warp";
            table.column(group, "empty");
            table.column(group, FILLED);
        }
        final List<String> stores = storesOf(FILLED);
        for (final String store : stores) {
            table.row(
                    Html.escape(store),
                    Arrays.stream(lanes)
                            .boxed()
                            .flatMap(each -> Stream.of(filled(store, each, false), filled(store, each, true)))
                            .map(value -> cell(value, Units::time))
                            .toList());
        }
        return stores.isEmpty()
                ? ""
                : KernelComparison.part(
                        "XMalloc, filled heap",
                        "102,400 workers, on an empty heap of 500 MiB, and on one with 131,072 blocks of 1 KiB.",
                        table.html());
    }

    private List<String> storesOf(final String figure) {
        return results.stream()
                .filter(result -> isOf(result, figure))
                .map(ProgramResult::store)
                .distinct()
                .toList();
    }

    /** Draws a line for each store of a figure over one of the results' numbers. */
    private String lines(
            final String title, final String note, final String figure, final String xKey, final String yKey) {
        final List<ProgramResult> shown =
                results.stream().filter(result -> isOf(result, figure)).toList();
        final double[] x = shown.stream()
                .mapToDouble(result -> result.number(xKey))
                .distinct()
                .sorted()
                .toArray();
        if (x.length < 2) {
            return "";
        }
        final boolean isOverLanes = xKey.equals(LANES);
        final HtmlTable table = new HtmlTable(title, "Allocator");
        for (final double each : x) {
            table.column(isOverLanes ? "Workers a warp" : "Workers", Units.count(each));
        }
        final ChartGroup group = new ChartGroup(
                isOverLanes ? "kernelCount" : "kernelWorkers",
                isOverLanes ? "workers in a warp" : "workers",
                "time of a request");
        for (final Series look : Series.ofStrategies(storesOf(figure))) {
            final double[] y = Arrays.stream(x)
                    .map(each -> shown.stream()
                            .filter(result -> result.store().equals(look.name()) && result.number(xKey) == each)
                            .mapToDouble(result -> result.number(yKey))
                            .findFirst()
                            .orElse(Double.NaN))
                    .toArray();
            table.row(
                    look.html(),
                    Arrays.stream(y).mapToObj(value -> cell(value, Units::time)).toList());
            group.line(look, x, y);
        }
        group.figure(
                title, "Line chart: " + title + ". The table below it holds the numbers.", "In numbers", table, true);
        return "<h3>" + Html.escape(title) + "</h3>\n<p class=\"note\">" + Html.escape(note) + "</p>\n" + group.html();
    }
}
