package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.Units;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A result is one line of {@code kernels.jsonl}: what one in-kernel allocator did in one case of the test bench.
 * Immutable, so safe for any number of threads.
 */
public final class KernelResult {

    /** The name of CUDA's own allocator, to which speedups refer. */
    public static final String CUDA_MALLOC = "CudaMalloc";

    /** The name of kernels without an allocator. */
    static final String EMPTY = "Empty";

    private static final String COALESCED = " coalesced";
    private static final String LINKED = " linked";
    private static final double NS_A_MILLISECOND = 1e6;
    private static final double AGEING_LAUNCHES = 1000;

    /** The tests whose times stand in tables of their own. */
    private static final List<String> APART = List.of("OOM", "FILL", "CHURN", "REGISTERS");

    /** The counts that must all be 0. */
    private static final List<String> CHECKS = List.of(
            "misaligned",
            "outside",
            "mismatches",
            "leakedChunks",
            "misuses",
            "agedMisaligned",
            "agedOutside",
            "agedMismatches",
            "agedLeakedChunks",
            "agedMisuses");

    private final JsonObject values;

    private KernelResult(final JsonObject values) {
        this.values = values;
    }

    /**
     * Reads a line.
     *
     * @param file name of the file, for error messages
     * @param line number of the line, from 1
     * @param text the line
     * @return the result
     * @throws IllegalArgumentException if it isn't one; names file, line and rule
     */
    public static KernelResult parse(final String file, final int line, final String text) {
        final JsonObject values = JsonReader.read(file, line, text);
        for (final String key : List.of("name", "allocator", "case", "status")) {
            values.requiredText(key);
        }
        return new KernelResult(values);
    }

    /**
     * Returns the name of the case in rows of tables.
     *
     * @return for example {@code AD T10k 16 B}
     */
    public String name() {
        return values.text("name");
    }

    /**
     * Returns what allocated.
     *
     * @return the paper's name of the allocator
     */
    public String allocator() {
        return values.text("allocator");
    }

    /**
     * Returns whether one claim served a warp.
     *
     * @return false if each thread made a claim of its own
     */
    public boolean isCoalesced() {
        return values.text("coalesced").equals("yes");
    }

    /**
     * Returns whether the kernels called functions that they were linked with.
     *
     * @return false for those into which the allocator was compiled
     */
    public boolean isLinked() {
        return values.text("linked").equals("yes");
    }

    /**
     * Returns allocator, coalescing and linking in one name.
     *
     * @return for example {@code CFMMalloc coalesced}
     */
    public String contender() {
        return allocator() + (isCoalesced() ? COALESCED : "") + (isLinked() ? LINKED : "");
    }

    /**
     * Returns the test.
     *
     * @return its abbreviation, such as {@code ADF}
     */
    public String test() {
        return values.text("case");
    }

    /**
     * Returns whether the result belongs among the times for allocate and free, and not into a table of its own.
     *
     * @return false for a heap that is exhausted, filled or churned, and for registers
     */
    public boolean isTimed() {
        return !APART.contains(test());
    }

    /**
     * Returns whether the case ran to its end.
     *
     * @return false if it hung or crashed
     */
    public boolean isComplete() {
        return values.text("status").equals("ok");
    }

    /**
     * Returns a text of the line.
     *
     * @param key its name
     * @return the text, empty if there is none
     */
    public String text(final String key) {
        return values.text(key);
    }

    /**
     * Returns a number of the line.
     *
     * @param key its name
     * @return the number, NaN if it wasn't measured
     */
    public double number(final String key) {
        return values.number(key);
    }

    /**
     * Returns the time of allocate and free together.
     *
     * @return microseconds; NaN if the case wasn't measured to its end
     */
    public double microseconds() {
        final double free = number("freeUs");
        return number("allocateUs") + (Double.isNaN(free) ? 0 : free);
    }

    /**
     * Returns {@link #microseconds}, but NaN if requests failed: a point in a figure would then compare different work.
     *
     * @return microseconds, or NaN
     */
    public double comparableMicroseconds() {
        return number("nulls") > 0 ? Double.NaN : microseconds();
    }

    /** Returns the times of allocate and of free; that of free is NaN where one kernel does both. */
    KernelTimes times() {
        return new KernelTimes(number("allocateUs"), number("freeUs"));
    }

    /**
     * Returns the result as tables show it: microseconds for {@code allocate/free}, or for both in one kernel, with
     * {@code !} if requests failed and {@code ?} if a check did; or {@code hang} or {@code crash}.
     *
     * @return a few characters
     */
    public String cell() {
        if (!isComplete()) {
            return values.text("status");
        }
        return times("allocateUs", "freeUs")
                + (number("nulls") > 0 ? "!" : "")
                + (failedChecks().isEmpty() ? "" : "?");
    }

    /**
     * Returns the fraction of the heap that was served before the first failure.
     *
     * @return as {@link #cell}, but with the fraction in place of times
     */
    public String servedCell() {
        return isComplete()
                ? String.format(
                        Locale.ROOT, "%.2f%s", number("served"), failedChecks().isEmpty() ? "" : "?")
                : values.text("status");
    }

    /**
     * Returns what requests cost that can't be served: milliseconds until each thread has its first null, and
     * nanoseconds of a request, over all threads, when each goes on asking.
     *
     * @return for example {@code 5.7 ms, 12 ns}
     */
    public String hopelessCell() {
        return isComplete()
                ? Units.time(number("allNullMs") * NS_A_MILLISECOND) + ", " + Units.time(number("hopelessNs"))
                : values.text("status");
    }

    /**
     * Returns the microseconds of the first and of the last rounds in a heap that only fills, and the ratio of the last
     * to the first.
     *
     * @return for example {@code 812/830, 1.02}
     */
    public String fillCell() {
        return isComplete()
                ? digits(number("firstRoundsUs")) + "/" + digits(number("lastRoundsUs"))
                        + String.format(Locale.ROOT, ", %.2f", number("lastOverFirst"))
                        + (number("nulls") > 0 ? "!" : "")
                : values.text("status");
    }

    /**
     * Returns the microseconds on an aged heap, and their ratio to those on a fresh one; also the number of launches in
     * between, where there were fewer than usual because they took too long.
     *
     * @return for example {@code 9.1/8.0, 1.05}
     */
    public String agedCell() {
        final double launches = number("ageingLaunches");
        return times("agedAllocateUs", "agedFreeUs")
                + String.format(Locale.ROOT, ", %.2f", number("agedRatio"))
                + (launches < AGEING_LAUNCHES ? " (" + Units.count(launches) + ")" : "")
                + (number("agedNulls") > 0 ? "!" : "");
    }

    /**
     * Returns the mallocs and frees of a churn for each second.
     *
     * @return a number, NaN if it wasn't measured
     */
    public double operationsPerSecond() {
        return number("operations") / number("seconds");
    }

    /**
     * Returns which checks found something.
     *
     * @return for example {@code mismatches 12}; empty if none did
     */
    public String failedChecks() {
        return CHECKS.stream()
                .filter(key -> number(key) > 0)
                .map(key -> key + " " + Units.count(number(key)))
                .collect(Collectors.joining(", "));
    }

    private String times(final String allocateKey, final String freeKey) {
        final double free = number(freeKey);
        return digits(number(allocateKey)) + (Double.isNaN(free) ? "" : "/" + digits(free));
    }

    private static String digits(final double microseconds) {
        return String.format(Locale.ROOT, microseconds < 9.95 ? "%.1f" : "%.0f", microseconds);
    }
}
