package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.DoubleFunction;

/**
 * The class prints tables of {@code outboard kernels --program} for people: one for each program and size, with a row
 * for each store.
 */
final class ProgramTables {

    private static final int NS_A_MICROSECOND = 1000;
    private static final int NS_A_MILLISECOND = 1_000_000;

    private final List<ProgramResult> results;

    ProgramTables(final List<ProgramResult> results) {
        this.results = results;
    }

    void print(final PrintWriter out) {
        for (final String title :
                results.stream().map(ProgramTables::title).distinct().toList()) {
            final List<ProgramResult> shown = results.stream()
                    .filter(result -> title(result).equals(title))
                    .toList();
            out.println();
            out.println(title);
            final TextTable<ProgramResult> table = new TextTable<ProgramResult>().column("", ProgramResult::store);
            column(table, shown, "step", "stepUs", value -> Units.time(value * NS_A_MICROSECOND));
            column(table, shown, "enumeration", "enumerationUs", value -> Units.time(value * NS_A_MICROSECOND));
            column(table, shown, "work", "workUs", value -> Units.time(value * NS_A_MICROSECOND));
            column(table, shown, "a request", "nsPerRequest", Units::time);
            column(table, shown, "make", "makeUs", value -> Units.time(value * NS_A_MICROSECOND));
            column(table, shown, "destroy", "destroyUs", value -> Units.time(value * NS_A_MICROSECOND));
            column(table, shown, "build", "buildMs", value -> Units.time(value * NS_A_MILLISECOND));
            column(table, shown, "requests", "requests", Units::count);
            column(table, shown, "mean", "meanBytes", Units::bytes);
            column(table, shown, "greatest", "greatestBytes", Units::bytes);
            column(table, shown, "objects", "objects", Units::count);
            column(table, shown, "live", "liveBytes", Units::bytes);
            column(table, shown, "held", "heldBytes", Units::bytes);
            column(table, shown, "peak live", "peakLiveBytes", Units::bytes);
            column(table, shown, "least heap", "leastHeapBytes", Units::bytes);
            column(table, shown, "over live", "leastHeapOverLive", Units::ratio);
            column(table, shown, "largest", "elements", Units::count);
            column(table, shown, "checksum", "checksum", Units::count);
            table.column("checks", result -> result.failure().isEmpty() ? "passed" : result.failure())
                    .print(shown, out);
        }
    }

    private static String title(final ProgramResult result) {
        return result.program() + " " + result.size() + ", "
                + switch (result.mode()) {
                    case "MEMORY" -> "the least heap";
                    case "LARGEST" -> "the largest problem in " + Units.bytes(result.number("heapBytes"));
                    case "LONG" -> Units.count(result.number("steps")) + " steps in a row";
                    default -> "time" + steps(result);
                };
    }

    /** Returns the steps in the row's name where steps are timed, since only results of the same steps are compared. */
    private static String steps(final ProgramResult result) {
        return Double.isNaN(result.number("stepUs")) ? "" : " of " + Units.count(result.number("steps")) + " steps";
    }

    /** Adds a column, if any result has the number. */
    private static void column(
            final TextTable<ProgramResult> table,
            final List<ProgramResult> shown,
            final String title,
            final String key,
            final DoubleFunction<String> text) {
        if (shown.stream().anyMatch(result -> !Double.isNaN(result.number(key)))) {
            table.column(title, result -> text.apply(result.number(key)));
        }
    }
}
