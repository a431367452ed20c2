package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultSink;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Trace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * In a contest, strategies take turns, so that whatever else the machine does disturbs all of them alike. A strategy
 * that fails leaves the contest, and the others go on. Confined to one thread.
 */
final class Contest {

    /** From so many turns on, a strategy that is far behind needs no more. */
    private static final int TURNS_TO_JUDGE = 2;

    private static final double FAR_BEHIND = 2;

    private final Trace trace;
    private final Progress progress;
    private final List<Entrant> entrants = new ArrayList<>();
    private final List<RuntimeException> problems = new ArrayList<>();

    /**
     * An entrant is a strategy whose memory pass is done.
     *
     * @param strategy its name
     * @param bench where it is measured
     * @param placed what the memory pass showed
     * @param completion adds to its results what other runs found
     */
    record Entrant(
            String strategy, StrategyBench bench, StrategyBench.Placed placed, UnaryOperator<Measurement> completion) {}

    Contest(final Trace trace, final Progress progress) {
        this.trace = trace;
        this.progress = progress;
    }

    /** This is a step of one strategy's measurement, which may fail. */
    @FunctionalInterface
    interface Step {

        void run() throws IOException;
    }

    /** Makes an entrant, whatever that takes. */
    @FunctionalInterface
    interface Entry {

        Entrant enter() throws IOException;
    }

    /** Lets a strategy enter, if making its entrant doesn't fail. */
    void enter(final String strategy, final Entry entry) throws IOException {
        progress.stage(strategy);
        attempt(strategy, () -> entrants.add(entry.enter()));
    }

    List<Entrant> entrants() {
        return List.copyOf(entrants);
    }

    /** Lets only some of the entrants stay. */
    void keep(final List<Entrant> some) {
        entrants.retainAll(some);
    }

    /**
     * Runs all turns.
     *
     * @param dropsSlow whether a strategy leaves out turns once it is far behind the fastest
     */
    void takeTurns(final boolean dropsSlow) throws IOException {
        for (final Entrant entrant : entrants()) {
            progress.stage(entrant.strategy());
            attempt(entrant, () -> entrant.bench().warmUp());
        }
        final Map<Entrant, Double> least = new HashMap<>();
        for (int turn = 0; turn < Passes.TURNS; turn++) {
            least.keySet().retainAll(entrants());
            final double best =
                    least.values().stream().mapToDouble(ns -> ns).min().orElse(Double.POSITIVE_INFINITY);
            for (final Entrant entrant : entrants()) {
                if (dropsSlow && turn >= TURNS_TO_JUDGE && least.getOrDefault(entrant, 0.0) > FAR_BEHIND * best) {
                    continue;
                }
                progress.stage(entrant.strategy());
                attempt(entrant, () -> least.merge(entrant, entrant.bench().turn(), Math::min));
            }
        }
    }

    /** Measures the rest of each strategy, and reports its results at once. */
    void finish(final ResultSink<Measurement> results) throws IOException {
        for (final Entrant entrant : entrants()) {
            progress.stage(entrant.strategy());
            final List<Measurement> finished = new ArrayList<>();
            attempt(
                    entrant,
                    () -> finished.add(
                            entrant.completion().apply(entrant.bench().finish())));
            for (final Measurement measurement : finished) {
                results.accept(measurement);
            }
        }
    }

    /** Returns why strategies left. */
    List<RuntimeException> problems() {
        return List.copyOf(problems);
    }

    /**
     * Makes the exception that ends a run some of whose strategies left, with one line of all failures.
     */
    RuntimeException failure() {
        final RuntimeException first = problems.get(0);
        final String all =
                "not measured: " + problems.stream().map(Throwable::getMessage).collect(Collectors.joining("; "));
        final RuntimeException failure = problems.stream().allMatch(WrongUseException.class::isInstance)
                ? new WrongUseException(all)
                : new IllegalStateException(all, first);
        problems.stream().skip(1).forEach(failure::addSuppressed);
        return failure;
    }

    private void attempt(final Entrant entrant, final Step step) throws IOException {
        if (!attempt(entrant.strategy(), step)) {
            entrants.remove(entrant);
        }
    }

    private boolean attempt(final String strategy, final Step step) throws IOException {
        try {
            step.run();
            return true;
        } catch (final WrongUseException e) {
            problems.add(e);
        } catch (final RuntimeException | OutOfMemoryError e) {
            // The exception's class may be known only to the strategy's own class loader, so only its message is passed
            // on.
            final String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            problems.add(new IllegalStateException(strategy + " on " + trace.name() + ": " + message, e));
        }
        return false;
    }
}
