package io.outboard.bench.kernels.report.programs;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.KernelComparison;
import io.outboard.bench.kernels.report.KernelResult;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/**
 * The class makes the tables of programs in steps: running times in detail, and runs of many steps.
 */
final class SimulationTables {

    private static final String OBJECT_HEAP = "ObjectHeap";
    private static final int NS_A_MICROSECOND = 1000;
    private static final double WHOLE = 100;

    private final List<ProgramResult> results;

    SimulationTables(final List<ProgramResult> results) {
        this.results = results;
    }

    String html() {
        return KernelComparison.part(
                        "Running time",
                        "What a step takes, the lists of objects before each do-all apart (dark), by"
                                + " what objects live in. Allocators stand behind plain structures and an array of pointers to"
                                + " them for each type. BitmapAlloc: the paper's baseline, one array for all types and a bitmap of"
                                + " its free places. Aos, Soa: arrays without an allocator, with a place for each object that there"
                                + " can be. Live: bytes of all fields; held: of the heap's blocks or chunks that are in use. CUDA's"
                                + " malloc has the first 20 steps alone, and stands beside others that have no more. The paper's"
                                + " figure has no numbers in its text: there ObjectHeap's model is ahead of every"
                                + " allocator in every program.",
                        times())
                + KernelComparison.part(
                        "In the long run",
                        "Runs of many steps; all of a program must come to one checksum.",
                        endurance());
    }

    private List<ProgramResult> select(final Predicate<ProgramResult> filter) {
        return results.stream().filter(filter).toList();
    }

    private String times() {
        final List<ProgramResult> shown = select(result -> !Double.isNaN(result.number("stepUs")));
        final StringBuilder html = new StringBuilder();
        for (final String name :
                shown.stream().map(SimulationTables::nameAndSteps).distinct().toList()) {
            html.append(times(
                    name,
                    shown.stream()
                            .filter(result -> nameAndSteps(result).equals(name))
                            .toList()));
        }
        return html.toString();
    }

    private static String times(final String name, final List<ProgramResult> shown) {
        final double ours = shown.stream()
                .filter(result -> result.store().equals(OBJECT_HEAP))
                .mapToDouble(result -> result.number("stepUs"))
                .findFirst()
                .orElse(Double.NaN);
        final OptionalDouble slowest = shown.stream()
                .filter(result -> !result.store().startsWith(KernelResult.CUDA_MALLOC))
                .mapToDouble(result -> result.number("enumerationUs") + result.number("workUs"))
                .max();
        final HtmlTable table = new HtmlTable("Running time of " + name, name);
        for (final String heading : List.of("step", "lists", "work")) {
            table.column("Time", heading);
        }
        table.column("Time", "of ObjectHeap's");
        for (final String heading : List.of("objects", "live", "held", "held over live")) {
            table.column("Memory", heading);
        }
        final StringBuilder bars = new StringBuilder();
        for (final ProgramResult result : shown) {
            final double step = result.number("stepUs");
            table.row(
                    Html.escape(result.store()),
                    List.of(
                            time(step),
                            time(result.number("enumerationUs")),
                            time(result.number("workUs")),
                            new HtmlTable.Cell(step / ours, Units.factor(step / ours)),
                            new HtmlTable.Cell(result.number("objects"), Units.count(result.number("objects"))),
                            bytes(result.number("liveBytes")),
                            bytes(result.number("heldBytes")),
                            ratio(result.number("heldBytes") / result.number("liveBytes"))));
            bars.append(bar(result, slowest.orElse(step)));
        }
        return "<div class=\"bars\" aria-hidden=\"true\">\n" + bars + "</div>\n" + table.html();
    }

    /**
     * Returns a bar with its number. The bar of CUDA's malloc ends in an arrow, since in full length it would leave no
     * room for the others.
     */
    private static String bar(final ProgramResult result, final double slowest) {
        final double lists = WHOLE * result.number("enumerationUs") / slowest;
        final double work = WHOLE * result.number("workUs") / slowest;
        final boolean isCut = lists + work > WHOLE * (1 + 1e-9);
        return "<div><span>" + Html.escape(result.store()) + "</span><i style=\"--lists:"
                + Html.number(Math.min(lists, WHOLE)) + "%;--work:"
                + Html.number(Math.min(work, WHOLE - Math.min(lists, WHOLE)))
                + "%\"></i>" + "<b>" + (isCut ? "\u2192 " : "")
                + Html.escape(Units.time(result.number("stepUs") * NS_A_MICROSECOND)) + "</b></div>\n";
    }

    private String endurance() {
        final List<ProgramResult> shown = select(result -> result.mode().equals("LONG"));
        final HtmlTable table = new HtmlTable("Long runs", "Program");
        List.of("steps", "objects", "held", "checksum").forEach(heading -> table.column("", heading));
        for (final ProgramResult result : shown) {
            final boolean differs = shown.stream().anyMatch(result::contradicts);
            final String order = result.store().replace(OBJECT_HEAP, "");
            table.row(
                    Html.escape(name(result) + order),
                    List.of(
                            new HtmlTable.Cell(result.number("steps"), Units.count(result.number("steps"))),
                            new HtmlTable.Cell(result.number("objects"), Units.count(result.number("objects"))),
                            bytes(result.number("heldBytes")),
                            new HtmlTable.Cell(
                                    Double.NaN, result.text("checksum") + (differs ? ": differs" : ""), differs)));
        }
        return shown.isEmpty() ? "" : table.html();
    }

    private static String name(final ProgramResult result) {
        return result.mode().equals("LARGEST")
                ? result.program() + " in " + Units.bytes(result.number("heapBytes"))
                : result.program() + " " + result.size();
    }

    /**
     * Returns a name with the steps, since only the same steps are compared: the first ones aren't like the later ones.
     */
    private static String nameAndSteps(final ProgramResult result) {
        return name(result) + ", " + Units.count(result.number("steps")) + " steps";
    }

    private static HtmlTable.Cell time(final double microseconds) {
        return new HtmlTable.Cell(microseconds, Units.time(microseconds * NS_A_MICROSECOND));
    }

    private static HtmlTable.Cell bytes(final double bytes) {
        return new HtmlTable.Cell(bytes, Units.bytes(bytes));
    }

    private static HtmlTable.Cell ratio(final double ratio) {
        return new HtmlTable.Cell(ratio, Units.ratio(ratio));
    }
}
