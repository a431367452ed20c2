package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Fastest;
import io.outboard.bench.cli.device.DriverAllocators;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.ByteSize;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * This class advises which strategy to take for a program, whose trace was replayed on each. Of the strategies that fit
 * into the given memory, the fastest is advised; of several that are equally fast, the default strategy or, if that
 * isn't among them, the one that needs least memory. Where no amount of memory is given, a strategy fits if it needs at
 * most a fiftieth more than the strategy that needs least.
 *
 * <p>Thread-safety: confined to one thread.
 */
public final class Advice {

    private static final String DEFAULT = "tlsf";
    private static final double LITTLE_MORE = 1.02;

    /**
     * The median of {@code cudaMalloc} on an H100, as in bench/results/h100-arenas, shown when there is no GPU to
     * measure.
     */
    public static final double CUDA_MALLOC_MICROS = 42.0;

    private final Trace trace;
    private final @Nullable Long memoryBytes;
    private final List<Need> fitting;
    private final Optional<Need> least;
    private final List<Measurement> strategies;
    private final List<Measurement> drivers;

    /**
     * A need tells how much memory a strategy needs for the trace.
     *
     * @param strategy its name
     * @param bytes how far its blocks reached in a region that served the whole trace
     */
    record Need(String strategy, long bytes) {

        private static final Comparator<Need> LEAST_FIRST =
                Comparator.comparingLong(Need::bytes).thenComparing(Need::strategy);

        @Override
        public String toString() {
            return strategy + " (" + ByteSize.text(bytes) + ")";
        }
    }

    /**
     * Makes the advice.
     *
     * @param trace the program's trace
     * @param memoryBytes how much memory there is, if that is known
     * @param fitting what {@link #fitting} found
     * @param least of all strategies, with any amount of memory, the one that needs least; none if none serves the
     *     trace
     * @param measurements of those that fit, and of the driver's allocators
     */
    Advice(
            final Trace trace,
            final @Nullable Long memoryBytes,
            final List<Need> fitting,
            final Optional<Need> least,
            final List<Measurement> measurements) {
        this.trace = trace;
        this.memoryBytes = memoryBytes;
        this.fitting = fitting;
        this.least = least;
        strategies = measurements.stream()
                .filter(measurement -> need(measurement).isPresent())
                .toList();
        drivers = measurements.stream()
                .filter(measurement ->
                        DriverAllocators.names().contains(measurement.strategy()) && measurement.servedAll())
                .toList();
    }

    /** Returns those of the strategies that serve the trace in the given memory that are worth measuring, in order. */
    static List<Need> fitting(final List<Need> serving, final @Nullable Long memoryBytes) {
        final List<Need> ordered = serving.stream().sorted(Need.LEAST_FIRST).toList();
        return memoryBytes != null
                ? ordered
                : ordered.stream()
                        .filter(need ->
                                need.bytes() <= LITTLE_MORE * ordered.get(0).bytes())
                        .toList();
    }

    private Optional<Need> need(final Measurement measurement) {
        return fitting.stream()
                .filter(need -> need.strategy().equals(measurement.strategy()))
                .findFirst();
    }

    private long bytes(final Measurement measurement) {
        return need(measurement).map(Need::bytes).orElse(Long.MAX_VALUE);
    }

    /** Returns the strategy to take, if any fits. */
    public Optional<Measurement> taken() {
        return best(strategies);
    }

    /** Returns the strategy to take if there weren't {@link #taken}. */
    private Optional<Measurement> runnerUp() {
        final Optional<Measurement> taken = taken();
        return best(strategies.stream()
                .filter(measurement -> !taken.equals(Optional.of(measurement)))
                .toList());
    }

    private Optional<Measurement> best(final List<Measurement> among) {
        return fastest(among).stream()
                .min(Comparator.comparing((Measurement measurement) ->
                                !measurement.strategy().equals(DEFAULT))
                        .thenComparing(measurement -> need(measurement).orElseThrow(), Need.LEAST_FIRST));
    }

    private static List<Measurement> fastest(final List<Measurement> among) {
        return Fastest.of(among, Measurement::nsPerOp, Measurement::turnsNs);
    }

    /** Says, in this order, whether the program fits, which strategy to take and why, and what else to know. */
    public List<String> lines() {
        return List.copyOf(says().values());
    }

    private Map<String, String> says() {
        final Optional<Measurement> taken = taken();
        final Map<String, String> says = new LinkedHashMap<>();
        says.put("fits", fit());
        says.put(
                "take",
                taken.map(this::why).orElse("take none: with less live at a time, or more memory, it would fit"));
        taken.ifPresent(best -> says.put(
                "runnerUp",
                "runner-up: " + runnerUp().map(next -> beside(next, best)).orElse("none, since no other fits")));
        says.put("driver", driver(taken.orElse(null)));
        says.put(
                "plan",
                "if the program repeats a step: ./outboard plan finds a region between "
                        + ByteSize.text(trace.peakLiveBytes()) + ", what is live at most, and what is above");
        taken.ifPresent(best -> says.put(
                "how",
                "to take it: Pool.over(source).strategy(\"" + best.strategy() + "\"), -Doutboard.strategy="
                        + best.strategy() + ", or strategy=" + best.strategy() + " of the agent"));
        return says;
    }

    /** Says in a few words whether the program fits. */
    private String verdict() {
        if (memoryBytes != null) {
            return fitting.isEmpty()
                    ? "doesn't fit in " + ByteSize.text(memoryBytes) + " with any"
                            + least.map(need -> "; least is needed by " + need.strategy() + ", "
                                            + ByteSize.text(need.bytes()))
                                    .orElse("")
                    : "fits in " + ByteSize.text(memoryBytes);
        }
        return fitting.isEmpty()
                ? "no strategy serves it"
                : "needs " + ByteSize.text(fitting.get(0).bytes()) + ", or up to a fiftieth more";
    }

    private String fit() {
        return verdict()
                + (fitting.isEmpty()
                        ? ""
                        : " with: " + fitting.stream().map(Need::toString).collect(Collectors.joining(", ")));
    }

    private String why(final Measurement taken) {
        final List<String> fastest =
                fastest(strategies).stream().map(Measurement::strategy).sorted().toList();
        final String speed;
        if (fastest.size() == 1) {
            speed = strategies.size() == 1 ? "the only one that fits" : "the fastest of those that fit";
        } else {
            speed = Fastest.join(fastest) + " are equally fast here, and "
                    + (taken.strategy().equals(DEFAULT) ? "it is the default" : "it needs least memory of them");
        }
        return String.format(
                Locale.ROOT,
                "take %s: %s; %.1f ns per operation, and %.1f %% more memory than is live at most",
                taken.strategy(),
                speed,
                taken.nsPerOp(),
                100.0 * (bytes(taken) - trace.peakLiveBytes()) / trace.peakLiveBytes());
    }

    private String beside(final Measurement next, final Measurement taken) {
        final double slower = next.nsPerOp() / taken.nsPerOp() - 1;
        final double more = (double) bytes(next) / bytes(taken) - 1;
        return String.format(
                Locale.ROOT,
                "%s, %s, with %.1f %% %s memory",
                next.strategy(),
                fastest(strategies).contains(next)
                        ? "equally fast here"
                        : String.format(Locale.ROOT, "%.0f %% slower", 100 * slower),
                100 * Math.abs(more),
                more < 0 ? "less" : "more");
    }

    private String driver(final @Nullable Measurement taken) {
        if (drivers.isEmpty()) {
            return String.format(
                    Locale.ROOT,
                    "the driver wasn't asked, without a GPU; on an H100 cudaMalloc takes %.1f us at the median, and a free waits for the device",
                    CUDA_MALLOC_MICROS);
        }
        return "the driver: "
                + drivers.stream()
                        .map(measurement -> String.format(
                                Locale.ROOT,
                                "%s %,.0f ns per operation%s",
                                measurement.strategy(),
                                measurement.nsPerOp(),
                                taken == null
                                        ? ""
                                        : String.format(
                                                Locale.ROOT,
                                                ", %,.0f times as much",
                                                measurement.nsPerOp() / taken.nsPerOp())))
                        .collect(Collectors.joining("; "));
    }

    /** Formats the line of {@code advice.jsonl}. */
    public JsonLine json() {
        final Optional<Measurement> taken = taken();
        final JsonLine says = new JsonLine();
        says().forEach(says::put);
        return new JsonLine()
                .put("trace", trace.name())
                .put("memoryBytes", memoryBytes)
                .put("verdict", verdict())
                .put("advice", taken.map(Measurement::strategy).orElse(null))
                .put("regionBytes", taken.map(this::bytes).orElse(null))
                .put("runnerUp", runnerUp().map(Measurement::strategy).orElse(null))
                .put("failedRequests", trace.failedRequests().count())
                .put("largestFailedBytes", trace.failedRequests().largestBytes())
                .put("says", says);
    }
}
