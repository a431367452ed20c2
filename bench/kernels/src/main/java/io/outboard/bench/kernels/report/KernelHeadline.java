package io.outboard.bench.kernels.report;

import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.LogBars;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * The headline sums up a run of in-kernel allocators: compared with CUDA's own malloc, otherwise with the best
 * published one, otherwise in times.
 */
final class KernelHeadline {

    private static final int MOST_ROWS = 6;
    private static final double LEAST_FACTOR = 0.001;
    private static final int NS_A_MICROSECOND = 1000;

    private final List<KernelResult> results;
    private final List<KernelResult> timed;

    KernelHeadline(final List<KernelResult> results) {
        this.results = results;
        this.timed = results.stream().filter(KernelResult::isTimed).toList();
    }

    Headline headline() {
        final long failed = results.stream()
                .filter(result -> !result.isComplete() || !result.failedChecks().isEmpty())
                .count();
        final String checks = Units.count(results.size()) + " cases, "
                + (failed == 0 ? "every check passed." : Units.count((double) failed) + " of them failed.");
        final Map<String, Spread> factors = factors();
        if (!factors.isEmpty()) {
            final String best = best(factors);
            final Spread spread = factors.getOrDefault(best, Spread.of(DoubleStream.empty()));
            return new Headline(
                    best + " allocates and frees " + Units.plainFactor(spread.median())
                            + " times as fast as CUDA's own malloc"
                            + (spread.count() > 1
                                    ? " in the median of " + spread.count() + " cases ("
                                            + Units.plainFactor(spread.least()) + " to "
                                            + Units.plainFactor(spread.most()) + ")"
                                    : "")
                            + "; " + checks,
                    List.of(bars(
                            "Times as fast as CUDA's malloc and free, over all cases that both served",
                            "times as fast, logarithmic",
                            LEAST_FACTOR,
                            factors)));
        }
        final List<PeerComparison> peers = PeerComparison.of(results);
        if (!peers.isEmpty()) {
            final Map<String, Spread> ratios = new TreeMap<>();
            peers.forEach(peer -> ratios.put(peer.contender(), Spread.of(peer.factors())));
            final String best = best(ratios);
            return new Headline(
                    best + " beside the best published allocator of each case: "
                            + peers.stream()
                                    .filter(peer -> peer.contender().equals(best))
                                    .map(PeerComparison::summary)
                                    .findFirst()
                                    .orElse("")
                            + "; " + checks,
                    List.of(bars(
                            "Times as fast as the best published of each case, net of an empty kernel",
                            "times as fast, logarithmic",
                            LEAST_FACTOR,
                            ratios)));
        }
        final Map<String, Spread> times = times();
        if (times.isEmpty()) {
            return new Headline(checks, List.of());
        }
        return new Headline(
                times.entrySet().stream()
                                .min(Comparator.comparingDouble(
                                        entry -> entry.getValue().median()))
                                .map(entry -> entry.getKey() + " is the fastest of " + times.size()
                                        + " allocators, by the median of "
                                        + entry.getValue().count() + " cases: "
                                        + Units.time(entry.getValue().median() * NS_A_MICROSECOND)
                                        + " for all allocations and frees of a kernel; ")
                                .orElse("")
                        + checks,
                List.of(timeBars(times)));
    }

    private static LogBars timeBars(final Map<String, Spread> times) {
        final LogBars bars =
                new LogBars("Allocate and free together, over all cases", "time, logarithmic", 1, Units::tick);
        times.forEach((name, spread) -> bars.row(
                Series.of(name),
                name,
                new Spread(
                                spread.count(),
                                spread.least() * NS_A_MICROSECOND,
                                spread.median() * NS_A_MICROSECOND,
                                spread.most() * NS_A_MICROSECOND)
                        .bars(Units::time)));
        return bars;
    }

    private static LogBars bars(
            final String title, final String axis, final double shortest, final Map<String, Spread> spreads) {
        final LogBars bars = new LogBars(title, axis, shortest, Units::plainFactor);
        spreads.entrySet().stream()
                .sorted(Comparator.comparingDouble(entry -> -entry.getValue().median()))
                .limit(MOST_ROWS)
                .forEach(entry -> bars.row(
                        Series.of(entry.getKey()),
                        entry.getKey(),
                        entry.getValue().bars(Units::factor)));
        return bars;
    }

    private static String best(final Map<String, Spread> spreads) {
        return spreads.entrySet().stream()
                .max(Comparator.comparingDouble(entry -> entry.getValue().median()))
                .map(Map.Entry::getKey)
                .orElse("");
    }

    /** Returns the speedups of each allocator that can free over CUDA's, in the cases of both. */
    private Map<String, Spread> factors() {
        final Map<String, Spread> factors = new TreeMap<>();
        for (final String contender : contenders()) {
            final Spread spread = Spread.of(of(contender)
                    .mapToDouble(result -> of(KernelResult.CUDA_MALLOC)
                                    .filter(cuda -> cuda.name().equals(result.name()))
                                    .mapToDouble(KernelResult::comparableMicroseconds)
                                    .findFirst()
                                    .orElse(Double.NaN)
                            / result.comparableMicroseconds()));
            if (spread.count() > 0) {
                factors.put(contender, spread);
            }
        }
        return factors;
    }

    private Map<String, Spread> times() {
        final Map<String, Spread> times = new TreeMap<>();
        for (final String contender : contenders()) {
            final Spread spread = Spread.of(of(contender).mapToDouble(KernelResult::comparableMicroseconds));
            if (spread.count() > 0) {
                times.put(contender, spread);
            }
        }
        return times;
    }

    private Stream<KernelResult> of(final String contender) {
        return timed.stream().filter(result -> result.contender().equals(contender));
    }

    /** Returns the allocators to compare, without bump pointers, which don't free and so would win unfairly. */
    private List<String> contenders() {
        final Predicate<KernelResult> real = result -> !result.allocator().equals(KernelResult.EMPTY)
                && !result.allocator().equals(KernelResult.CUDA_MALLOC)
                && !List.of("AtomicMalloc", "AWMalloc").contains(result.allocator());
        return new ArrayList<>(timed.stream()
                .filter(real)
                .map(KernelResult::contender)
                .distinct()
                .toList());
    }
}
