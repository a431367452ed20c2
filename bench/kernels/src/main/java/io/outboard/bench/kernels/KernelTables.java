package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.report.PeerComparison;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The class prints tables of {@code outboard kernels} for people, with a row for each case and a column for each
 * allocator.
 */
final class KernelTables {

    private static final String NONE = "-";

    private final List<KernelResult> results;
    private final String gpu;

    KernelTables(final List<KernelResult> results, final String gpu) {
        this.results = results;
        this.gpu = gpu;
    }

    void print(final PrintWriter out) {
        out.println(gpu);
        for (final boolean coalesced : new boolean[] {false, true}) {
            final String how = coalesced ? ", one claim serving a warp" : "";
            print(
                    "Microseconds for allocate/free, or for both in one kernel; ! some requests failed, ? a check failed"
                            + how,
                    result -> result.isCoalesced() == coalesced && result.isTimed(),
                    KernelResult::cell,
                    out);
            print(
                    "Out of memory: fraction of the heap that was served" + how,
                    result -> result.isCoalesced() == coalesced && result.test().equals("OOM"),
                    KernelResult::servedCell,
                    out);
            print(
                    "Aged heaps: microseconds after a thousand launches of mixed sizes, 4 bytes to 64 KiB, with all freed at"
                            + " the end, and how many times those of a fresh heap; (launches, if two seconds were over"
                            + " before)" + how,
                    result -> result.isCoalesced() == coalesced && !Double.isNaN(result.number("agedRatio")),
                    KernelResult::agedCell,
                    out);
            print(
                    "Hopeless requests: until each thread has its first null; then each request of a million" + how,
                    result -> result.isCoalesced() == coalesced && !Double.isNaN(result.number("hopelessNs")),
                    KernelResult::hopelessCell,
                    out);
            print(
                    "A heap that only fills: microseconds of the first and of the last twelfth of the rounds, and their"
                            + " ratio" + how,
                    result -> result.isCoalesced() == coalesced && result.test().equals("FILL"),
                    KernelResult::fillCell,
                    out);
        }
        print(
                "Fragmentation: internal while all is allocated; external, of chunks that are neighbours together and one"
                        + " by one, after all is freed",
                result -> !Double.isNaN(result.number("internalFragmentation")),
                result -> fraction(result, "internalFragmentation") + " "
                        + fraction(result, "externalFragmentation") + " "
                        + fraction(result, "externalFragmentationOfChunks"),
                out);
        PeerComparison.of(results).forEach(comparison -> print(comparison, out));
        printChurn(out);
        printRegisters(out);
        printFailures(out);
    }

    private void print(
            final String title,
            final Predicate<KernelResult> filter,
            final Function<KernelResult, String> cell,
            final PrintWriter out) {
        final List<KernelResult> shown = results.stream().filter(filter).toList();
        if (shown.isEmpty()) {
            return;
        }
        final TextTable<String> table = new TextTable<String>().column("case", name -> name);
        for (final String contender :
                shown.stream().map(KernelResult::contender).distinct().toList()) {
            table.column(
                    contender.replace(" coalesced", ""),
                    name -> find(shown, name, contender).map(cell).orElse(NONE));
        }
        out.println("\n" + title + ":\n");
        table.print(shown.stream().map(KernelResult::name).distinct().toList(), out);
    }

    private static Optional<KernelResult> find(
            final List<KernelResult> shown, final String name, final String contender) {
        return shown.stream()
                .filter(result ->
                        result.name().equals(name) && result.contender().equals(contender))
                .findFirst();
    }

    private static void print(final PeerComparison comparison, final PrintWriter out) {
        out.println("\n" + comparison.contender() + " beside the best published code. " + PeerComparison.ABOUT + "\n");
        final TextTable<List<String>> table = new TextTable<>();
        final List<String> headings =
                List.of("case", "ours", "net", "best published", "measured", "net", "ours/theirs");
        for (int i = 0; i < headings.size(); i++) {
            final int column = i;
            table.column(headings.get(i), row -> row.get(column));
        }
        table.print(comparison.cells(), out);
        out.println("\n" + comparison.contender() + ": " + comparison.summary());
    }

    private void printChurn(final PrintWriter out) {
        final List<KernelResult> churns =
                results.stream().filter(result -> result.test().equals("CHURN")).toList();
        if (churns.isEmpty()) {
            return;
        }
        out.println(
                "\nChurn: all sizes at once, up to 95 % in use; nulls of small requests below that, and others; external"
                        + " fragmentation in use and freed; whether the largest request is served again at the end:\n");
        new TextTable<KernelResult>()
                .column("allocator", KernelResult::contender)
                .column("case", KernelResult::name)
                .names()
                .column("operations/s", result -> Units.count(result.operationsPerSecond()))
                .column("most in use", result -> Units.percent(result.number("peak")))
                .column("false nulls", result -> count(result, "falseNulls"))
                .column("others", result -> count(result, "otherNulls"))
                .column("in use", result -> fraction(result, "fullExternalFragmentation"))
                .column("freed", result -> fraction(result, "externalFragmentation"))
                .column("largest", result -> Units.bytes(result.number("largestBytes")))
                .column("served", result -> result.text("largestServed"))
                .print(churns, out);
    }

    private void printRegisters(final PrintWriter out) {
        final List<KernelResult> registers = results.stream()
                .filter(result -> result.test().equals("REGISTERS"))
                .toList();
        out.println("\nRegisters of a kernel with one allocation and one free, and of ACD's loops:\n");
        new TextTable<KernelResult>()
                .column("allocator", KernelResult::contender)
                .column("one", result -> count(result, "registers"))
                .column("over Empty", result -> overEmpty(registers, result, "registers"))
                .column("loops", result -> count(result, "cycleRegisters"))
                .column("over Empty", result -> overEmpty(registers, result, "cycleRegisters"))
                .print(registers, out);
    }

    private void printFailures(final PrintWriter out) {
        final List<KernelResult> failed = results.stream()
                .filter(result -> !result.isComplete() || !result.failedChecks().isEmpty())
                .toList();
        out.println();
        if (failed.isEmpty()) {
            out.println("Every check passed: alignment, bounds, no overlap, nothing left behind.");
        }
        for (final KernelResult result : failed) {
            final String what =
                    result.isComplete() ? result.failedChecks() : result.text("status") + ": " + result.text("message");
            out.println(result.contender() + ", " + result.name() + ": " + what);
        }
    }

    private static String overEmpty(final List<KernelResult> registers, final KernelResult result, final String key) {
        return registers.stream()
                .filter(other -> other.allocator().equals("Empty"))
                .map(empty -> Units.count(result.number(key) - empty.number(key)))
                .findFirst()
                .orElse(NONE);
    }

    private static String count(final KernelResult result, final String key) {
        return result.isComplete() ? Units.count(result.number(key)) : result.text("status");
    }

    private static String fraction(final KernelResult result, final String key) {
        return String.format(Locale.ROOT, "%.2f", result.number(key));
    }
}
