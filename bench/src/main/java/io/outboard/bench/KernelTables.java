package io.outboard.bench;

import io.outboard.bench.common.TextTable;
import io.outboard.bench.report.KernelResult;
import io.outboard.bench.report.Units;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/** What {@code outboard kernels} prints for people: a row a case, a column an allocator. */
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
                    result -> result.isCoalesced() == coalesced && !isOther(result),
                    KernelResult::cell,
                    out);
            print(
                    "Out of memory: fraction of the heap that was served" + how,
                    result -> result.isCoalesced() == coalesced && result.test().equals("OOM"),
                    KernelResult::servedCell,
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
        printRegisters(out);
        printFailures(out);
    }

    private static boolean isOther(final KernelResult result) {
        return result.test().equals("OOM") || result.test().equals("REGISTERS");
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
