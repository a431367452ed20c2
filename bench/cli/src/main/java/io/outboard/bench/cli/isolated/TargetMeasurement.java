package io.outboard.bench.cli.isolated;

import com.sun.management.ThreadMXBean;
import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.measurement.Passes;
import io.outboard.bench.cli.trace.Trace;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * The measurement measures how long a trace's operations take on a target, in several passes over the same instance.
 * Times are the results of the passes.
 */
public final class TargetMeasurement {

    private final Target target;
    private final Trace trace;
    private final int[] slotsLeft;
    private final Progress progress;

    public TargetMeasurement(final Target target, final Trace trace, final Progress progress) {
        this.target = target;
        this.trace = trace;
        this.slotsLeft = Replay.slotsLeft(trace);
        this.progress = progress;
    }

    /**
     * The results of the passes.
     *
     * @param nsPerOp nanoseconds an operation, without clocks in between
     * @param cpuNsPerOp nanoseconds of CPU time an operation
     * @param gcBytesPerOp garbage an operation, in bytes
     * @param allocate latencies of allocations
     * @param free latencies of frees
     */
    public record Times(double nsPerOp, double cpuNsPerOp, double gcBytesPerOp, Latencies allocate, Latencies free) {}

    /** Runs all passes except the first, the memory pass. */
    public Times run() {
        progress.pass("pass 2 of 5: warm-up");
        final long warmReplays = Passes.warmReplays(trace);
        for (long replay = 0; replay < warmReplays; replay++) {
            Replay.all(target, trace.operations());
            Replay.drain(target, slotsLeft);
            progress.step(trace.operationCount());
        }
        final double[] nsPerOp = new double[Passes.SPEED];
        final double[] cpuNsPerOp = new double[Passes.SPEED];
        final double gcBytesPerOp = measureSpeed(nsPerOp, cpuNsPerOp);

        final long clockNs = Latencies.measureClock();
        final Latencies allocate = new Latencies(clockNs);
        final Latencies free = new Latencies(clockNs);
        final Latencies thrownAway = new Latencies(clockNs);
        progress.pass("pass 4 of 5: warm-up with clocks");
        for (long replay = 0; replay < warmReplays; replay++) {
            replayTimed(thrownAway, thrownAway);
        }
        progress.pass("pass 5 of 5: latencies");
        replayTimed(allocate, free);
        return new Times(nsPerOp[Passes.SPEED / 2], cpuNsPerOp[Passes.SPEED / 2], gcBytesPerOp, allocate, free);
    }

    /** Fills the arrays with the sorted times of the passes, and returns the garbage an operation. */
    private double measureSpeed(final double[] nsPerOp, final double[] cpuNsPerOp) {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final long allocatedBefore = threads.getCurrentThreadAllocatedBytes();
        final long allocatedByAsking = threads.getCurrentThreadAllocatedBytes() - allocatedBefore;
        final int replays = Passes.speedReplays(trace);
        long garbage = 0;
        for (int pass = 0; pass < Passes.SPEED; pass++) {
            progress.pass("pass 3 of 5: speed, " + (pass + 1) + " of " + Passes.SPEED);
            long ns = 0;
            long cpuNs = 0;
            for (int replay = 0; replay < replays; replay++) {
                final long cpu = threads.getCurrentThreadCpuTime();
                final long allocated = threads.getCurrentThreadAllocatedBytes();
                final long before = System.nanoTime();
                Replay.all(target, trace.operations());
                ns += System.nanoTime() - before;
                garbage += threads.getCurrentThreadAllocatedBytes() - allocated - allocatedByAsking;
                cpuNs += threads.getCurrentThreadCpuTime() - cpu;
                Replay.drain(target, slotsLeft);
                progress.step(trace.operationCount());
            }
            nsPerOp[pass] = (double) ns / replays / trace.operationCount();
            cpuNsPerOp[pass] = (double) cpuNs / replays / trace.operationCount();
        }
        Arrays.sort(nsPerOp);
        Arrays.sort(cpuNsPerOp);
        return (double) garbage / Passes.SPEED / replays / trace.operationCount();
    }

    private void replayTimed(final Latencies allocate, final Latencies free) {
        Replay.timed(target, trace.operations(), 0, trace.operationCount(), allocate, free);
        Replay.drain(target, slotsLeft);
        progress.step(trace.operationCount());
    }
}
