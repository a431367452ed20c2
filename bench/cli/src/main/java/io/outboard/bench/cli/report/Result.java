package io.outboard.bench.cli.report;

import io.outboard.bench.cli.device.DriverAllocators;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A result is one line of {@code results.jsonl}: what one strategy, or one of the driver's own allocators, did on one
 * trace.
 *
 * @param trace name of the trace
 * @param strategy name of the strategy or baseline
 * @param name the strategy, and what distinguishes the result from others of this strategy and trace
 * @param files the first part of the names of its files; empty if it has no files of its own
 * @param values the whole line
 */
public record Result(String trace, String strategy, String name, String files, JsonObject values) {

    /** The baseline that speed-ups refer to. */
    public static final String CUDA_MALLOC = DriverAllocators.CUDA_MALLOC;

    private static final List<String> DISTINCTIONS = List.of("reusePolicy", "device");

    /**
     * Makes the results of a folder. Results of one trace and strategy are distinguished by reuse policy and device, if
     * they differ in these, else by number.
     */
    static List<Result> ofLines(final List<JsonObject> lines) {
        final List<Result> results = new ArrayList<>();
        final Set<String> files = new HashSet<>();
        final Set<List<String>> names = new HashSet<>();
        for (final JsonObject line : lines) {
            final String trace = line.requiredText("trace");
            final String strategy = line.requiredText("strategy");
            final List<JsonObject> alike = lines.stream()
                    .filter(other -> other.text("trace").equals(trace)
                            && other.text("strategy").equals(strategy))
                    .toList();
            final String base = DISTINCTIONS.stream()
                    .filter(key -> alike.stream()
                                    .map(other -> other.text(key))
                                    .distinct()
                                    .count()
                            > 1)
                    .map(line::text)
                    .filter(text -> !text.isEmpty())
                    .reduce(strategy, (name, text) -> name + ", " + text);
            String name = base;
            for (int number = 2; !names.add(List.of(trace, name)); number++) {
                name = base + ", " + number;
            }
            final String own = line.text("files").isEmpty() ? trace + "-" + strategy : line.text("files");
            results.add(new Result(trace, strategy, name, files.add(own) ? own : "", line));
        }
        return results;
    }

    public static boolean isBaseline(final String name) {
        return DriverAllocators.names().stream()
                .anyMatch(driver -> name.equals(driver) || name.startsWith(driver + ", "));
    }

    public boolean isBaseline() {
        return isBaseline(strategy);
    }

    /** Returns a number of the line, or NaN if it was not measured. */
    public double number(final String key) {
        return values.number(key);
    }

    /** Returns a number one level down, or NaN if it was not measured. */
    public double number(final String object, final String key) {
        return values.object(object).number(key);
    }

    /** Returns a percentile of the allocations' or frees' latencies, in nanoseconds; NaN if it was not measured. */
    public double latencyNs(final String operation, final Percentile percentile) {
        return number(operation, percentile.key());
    }

    /** Returns the time of an operation in each turn; where these weren't kept, the one time; nothing without a time. */
    public List<Double> turnsNs() {
        final JsonObject turns = values.object("turnsNs");
        final List<Double> times = turns.keys().stream().map(turns::number).toList();
        final double time = number("nsPerOp");
        return Double.isNaN(time) ? List.of() : times.isEmpty() ? List.of(time) : times;
    }

    /** Tells whether allocations found no memory; the speed of such a result is no merit. */
    public boolean hasFailures() {
        return number("failures") > 0;
    }

    /**
     * Returns the smallest region that serves the trace, as a multiple of peak live bytes; NaN if it was not measured.
     */
    public double regionOverLive() {
        return number("smallestRegionBytes") / number("peakLiveBytes");
    }
}
