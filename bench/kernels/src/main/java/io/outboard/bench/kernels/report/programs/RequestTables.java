package io.outboard.bench.kernels.report.programs;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.KernelComparison;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.Predicate;

/**
 * The class makes the tables of requests alone: blocks of XMalloc's kinds, arenas of warps, objects made and
 * destroyed.
 */
final class RequestTables {

    private static final int NS_A_MICROSECOND = 1000;

    private final List<ProgramResult> results;

    RequestTables(final List<ProgramResult> results) {
        this.results = results;
    }

    String html() {
        return part(
                        "Blocks of 256 bytes",
                        "10,240 threads allocate in one kernel and free in the next.",
                        result -> result.program().equals("xmalloc")
                                && result.size().contains("x"),
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
