package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.ByteSize;
import io.outboard.core.Strategies;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * This class advises which strategy to take for a program. Each strategy was measured on the program's trace, in the
 * smallest region in which the strategy serves the trace. Of the strategies that fit into the given memory, the fastest
 * is advised; the default strategy is advised instead if it is at most a tenth slower. Where no amount of memory is
 * given, a strategy fits if it needs at most a fiftieth more than the strategy that needs least.
 *
 * <p>Thread-safety: confined to one thread.
 */
public final class Advice {

    private static final String DEFAULT = "tlsf";
    private static final double GOOD_ENOUGH = 1.1;
    private static final double LITTLE_MORE = 1.02;

    /**
     * The median of {@code cudaMalloc} on an H100, as in bench/results/h100-arenas, shown when there is no GPU to
     * measure.
     */
    public static final double CUDA_MALLOC_MICROS = 42.0;

    private final Trace trace;
    private final @Nullable Long memoryBytes;

    /** The strategies that serve the trace, the least memory first. */
    private final List<Measurement> serving;

    private final List<Measurement> drivers;

    public Advice(final Trace trace, final List<Measurement> measurements, final @Nullable Long memoryBytes) {
        this.trace = trace;
        this.memoryBytes = memoryBytes;
        serving = measurements.stream()
                .filter(measurement -> measurement.smallestRegionBytes() != null)
                .sorted(Comparator.comparingLong(Advice::bytes).thenComparingDouble(Measurement::nsPerOp))
                .toList();
        drivers = measurements.stream()
                .filter(measurement -> !isStrategy(measurement) && measurement.servedAll())
                .toList();
    }

    private static boolean isStrategy(final Measurement measurement) {
        return Strategies.all().stream().anyMatch(provider -> provider.name().equals(measurement.strategy()));
    }

    private static long bytes(final Measurement measurement) {
        final Long bytes = measurement.smallestRegionBytes();
        return bytes == null ? Long.MAX_VALUE : bytes;
    }

    private List<Measurement> fitting() {
        final double most =
                memoryBytes != null ? memoryBytes : serving.isEmpty() ? 0 : LITTLE_MORE * bytes(serving.get(0));
        return serving.stream()
                .filter(measurement -> bytes(measurement) <= most)
                .toList();
    }

    /** Returns the strategy to take, if any fits. */
    public Optional<Measurement> taken() {
        final Optional<Measurement> fastest = fitting().stream().min(Comparator.comparingDouble(Measurement::nsPerOp));
        return fastest.map(best -> fitting().stream()
                .filter(measurement -> measurement.strategy().equals(DEFAULT))
                .filter(measurement -> measurement.nsPerOp() <= GOOD_ENOUGH * best.nsPerOp())
                .findFirst()
                .orElse(best));
    }

    /**
     * Says whether the program fits, which strategy to take and why, how long the driver takes, and what else to try.
     */
    public List<String> lines() {
        final List<String> lines = new ArrayList<>();
        lines.add(fit());
        final Optional<Measurement> taken = taken();
        lines.add(taken.map(this::why).orElse("take none: with less live at a time, or more memory, it would fit"));
        lines.add(driver(taken.orElse(null)));
        lines.add("if the program repeats a step: ./outboard plan finds a region between "
                + ByteSize.text(trace.peakLiveBytes()) + ", what is live at most, and what is above");
        taken.ifPresent(best ->
                lines.add("to take it: Pool.over(source).strategy(\"" + best.strategy() + "\"), -Doutboard.strategy="
                        + best.strategy() + ", or strategy=" + best.strategy() + " of the agent"));
        return lines;
    }

    private String fit() {
        final String all = fitting().stream()
                .map(measurement -> measurement.strategy() + " (" + ByteSize.text(bytes(measurement)) + ")")
                .collect(Collectors.joining(", "));
        if (memoryBytes == null) {
            return "needs least, or at most a fiftieth more: " + (all.isEmpty() ? "none serves it" : all);
        }
        if (!all.isEmpty()) {
            return "fits in " + ByteSize.text(memoryBytes) + " with: " + all;
        }
        return "doesn't fit in " + ByteSize.text(memoryBytes) + " with any"
                + (serving.isEmpty()
                        ? ""
                        : "; least is needed by " + serving.get(0).strategy() + ", "
                                + ByteSize.text(bytes(serving.get(0))));
    }

    private String why(final Measurement taken) {
        final Measurement fastest = fitting().stream()
                .min(Comparator.comparingDouble(Measurement::nsPerOp))
                .orElse(taken);
        final String speed = taken.strategy().equals(fastest.strategy())
                ? "the fastest of these"
                : "the default, and within a tenth of the fastest, " + fastest.strategy();
        final double over = 100.0 * (bytes(taken) - trace.peakLiveBytes()) / trace.peakLiveBytes();
        return String.format(
                Locale.ROOT,
                "take %s: %s, %.1f ns per operation, and %.1f %% more memory than is live at most",
                taken.strategy(),
                speed,
                taken.nsPerOp(),
                over);
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

    public JsonLine json() {
        final Optional<Measurement> taken = taken();
        return new JsonLine()
                .put("trace", trace.name())
                .put("memoryBytes", memoryBytes)
                .put("advice", taken.map(Measurement::strategy).orElse(null))
                .put("regionBytes", taken.map(Measurement::smallestRegionBytes).orElse(null))
                .put("failedRequests", trace.failedRequests().count())
                .put("largestFailedBytes", trace.failedRequests().largestBytes());
    }
}
