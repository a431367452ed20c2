package io.outboard.bench.cli.isolated;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.measurement.Passes;
import io.outboard.bench.cli.trace.Trace;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The measurement measures how long a trace's operations take on a target, in several passes over the same instance:
 * after a warm-up some turns, and at last a pass with clocks. A turn is some passes in a row, of which the fastest
 * counts, since whatever else a machine does can only make a pass slower. Between turns other targets may have theirs.
 */
public final class TargetMeasurement {

    private final Target target;
    private final Trace trace;
    private final int[] slotsLeft;
    private final Progress progress;
    private final ThreadClock clock;
    private final List<Double> turnsNs = new ArrayList<>();
    private final List<Double> cpuTurnsNs = new ArrayList<>();
    private long wallNs;
    private long cpuNs;
    private long garbage;
    private long operations;

    public TargetMeasurement(final Target target, final Trace trace, final Progress progress) {
        this(target, trace, progress, ThreadClock.OF_JVM);
    }

    TargetMeasurement(final Target target, final Trace trace, final Progress progress, final ThreadClock clock) {
        this.target = target;
        this.trace = trace;
        this.slotsLeft = Replay.slotsLeft(trace);
        this.progress = progress;
        this.clock = clock;
    }

    /**
     * The results of all passes.
     *
     * @param turnsNs nanoseconds an operation, of each turn
     * @param cpuTurnsNs nanoseconds of CPU time an operation, of each turn
     * @param waited the share of the time in which the thread wasn't on a processor
     * @param gcBytesPerOp garbage an operation, in bytes
     * @param allocate latencies of allocations
     * @param free latencies of frees
     */
    public record Times(
            List<Double> turnsNs,
            List<Double> cpuTurnsNs,
            double waited,
            double gcBytesPerOp,
            Latencies allocate,
            Latencies free) {

        /** Returns nanoseconds an operation, of the fastest pass. */
        public double nsPerOp() {
            return Collections.min(turnsNs);
        }

        /** Returns nanoseconds of CPU time an operation, of the fastest pass. */
        public double cpuNsPerOp() {
            return Collections.min(cpuTurnsNs);
        }
    }

    /** Runs all passes except the first, the memory pass. */
    public Times run() {
        warmUp();
        for (int turn = 0; turn < Passes.TURNS; turn++) {
            turn();
        }
        return finish(true);
    }

    /** Replays the trace until the JIT compiler is done. */
    public void warmUp() {
        progress.pass("pass 2 of 5: warm-up");
        for (long replay = Passes.warmReplays(trace); replay > 0; replay--) {
            Replay.all(target, trace.operations());
            Replay.drain(target, slotsLeft);
            progress.step(trace.operationCount());
        }
    }

    /** Runs one turn; returns its nanoseconds of CPU time an operation. */
    public double turn() {
        progress.pass("pass 3 of 5: speed, turn " + (turnsNs.size() + 1) + " of " + Passes.TURNS);
        final int replays = Passes.speedReplays(trace);
        double least = Double.POSITIVE_INFINITY;
        double leastCpu = Double.POSITIVE_INFINITY;
        for (int pass = Passes.passesATurn(trace); pass > 0; pass--) {
            final long wallBefore = wallNs;
            final long cpuBefore = cpuNs;
            for (int replay = 0; replay < replays; replay++) {
                replay();
            }
            least = Math.min(least, (double) (wallNs - wallBefore) / replays / trace.operationCount());
            leastCpu = Math.min(leastCpu, (double) (cpuNs - cpuBefore) / replays / trace.operationCount());
        }
        turnsNs.add(least);
        cpuTurnsNs.add(leastCpu);
        return leastCpu;
    }

    private void replay() {
        // The first query may make garbage itself, so it stands outside of the second.
        final long allocatedBefore = clock.allocatedBytes();
        final long allocatedByAsking = clock.allocatedBytes() - allocatedBefore;
        final long cpu = clock.cpuNs();
        final long allocated = clock.allocatedBytes();
        final long before = clock.wallNs();
        Replay.all(target, trace.operations());
        wallNs += clock.wallNs() - before;
        garbage += clock.allocatedBytes() - allocated - allocatedByAsking;
        cpuNs += clock.cpuNs() - cpu;
        operations += trace.operationCount();
        Replay.drain(target, slotsLeft);
        progress.step(trace.operationCount());
    }

    /** Measures latencies, if they are wanted, and returns the results of all passes; there must have been a turn. */
    public Times finish(final boolean latencies) {
        final long clockNs = latencies ? Latencies.measureClock() : 0;
        final Latencies allocate = new Latencies(clockNs);
        final Latencies free = new Latencies(clockNs);
        if (latencies) {
            final Latencies thrownAway = new Latencies(clockNs);
            progress.pass("pass 4 of 5: warm-up with clocks");
            for (long replay = Passes.warmReplays(trace); replay > 0; replay--) {
                replayTimed(thrownAway, thrownAway);
            }
            progress.pass("pass 5 of 5: latencies");
            replayTimed(allocate, free);
        }
        return new Times(
                List.copyOf(turnsNs),
                List.copyOf(cpuTurnsNs),
                Math.max(0, 1 - (double) cpuNs / wallNs),
                (double) garbage / operations,
                allocate,
                free);
    }

    private void replayTimed(final Latencies allocate, final Latencies free) {
        Replay.timed(target, trace.operations(), 0, trace.operationCount(), allocate, free);
        Replay.drain(target, slotsLeft);
        progress.step(trace.operationCount());
    }
}
