package io.outboard.bench.isolated;

import com.sun.management.ThreadMXBean;
import io.outboard.bench.common.Latencies;
import io.outboard.bench.trace.Trace;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/** Measures what a trace's operations take on a target, in several passes over the same instance. */
final class TargetMeasurement {

    /** Passes without clocks; nsPerOp is their median. */
    private static final int SPEED_PASSES = 5;

    /** So that reading the clock doesn't count, however short the trace. */
    private static final int LEAST_OPERATIONS_A_PASS = 200_000;

    /** The compiler is done well before so many operations. */
    private static final long WARM_OPERATIONS = 2_000_000;

    private final Target target;
    private final Trace trace;
    private final int[] slotsLeft;
    private final Runnable step;

    TargetMeasurement(final Target target, final Trace trace, final Runnable step) {
        this.target = target;
        this.trace = trace;
        this.slotsLeft = Replay.slotsLeft(trace);
        this.step = step;
    }

    /**
     * What was measured.
     *
     * @param nsPerOp nanoseconds an operation, without clocks in between
     * @param gcBytesPerOp garbage an operation, in bytes
     * @param allocate each allocation
     * @param free each free
     */
    record Times(double nsPerOp, double gcBytesPerOp, Latencies allocate, Latencies free) {}

    /** Runs all passes, three steps. */
    Times run() {
        for (long done = 0; done < WARM_OPERATIONS; done += trace.operationCount()) {
            Replay.all(target, trace.operations());
            Replay.drain(target, slotsLeft);
        }
        step.run();
        final double[] nsPerOp = new double[SPEED_PASSES];
        final double gcBytesPerOp = measureSpeed(nsPerOp);
        step.run();

        final long clockNs = Latencies.measureClock();
        final Latencies allocate = new Latencies(clockNs);
        final Latencies free = new Latencies(clockNs);
        final Latencies thrownAway = new Latencies(clockNs);
        for (long done = 0; done < WARM_OPERATIONS; done += trace.operationCount()) {
            replayTimed(thrownAway, thrownAway);
        }
        replayTimed(allocate, free);
        step.run();
        return new Times(nsPerOp[SPEED_PASSES / 2], gcBytesPerOp, allocate, free);
    }

    /** Sorts what the passes took into {@code nsPerOp} and returns the garbage. */
    private double measureSpeed(final double[] nsPerOp) {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final long allocatedBefore = threads.getCurrentThreadAllocatedBytes();
        final long allocatedByAsking = threads.getCurrentThreadAllocatedBytes() - allocatedBefore;
        final int replays = Math.max(1, LEAST_OPERATIONS_A_PASS / trace.operationCount());
        long garbage = 0;
        for (int pass = 0; pass < SPEED_PASSES; pass++) {
            long ns = 0;
            for (int replay = 0; replay < replays; replay++) {
                final long allocated = threads.getCurrentThreadAllocatedBytes();
                final long before = System.nanoTime();
                Replay.all(target, trace.operations());
                ns += System.nanoTime() - before;
                garbage += threads.getCurrentThreadAllocatedBytes() - allocated - allocatedByAsking;
                Replay.drain(target, slotsLeft);
            }
            nsPerOp[pass] = (double) ns / replays / trace.operationCount();
        }
        Arrays.sort(nsPerOp);
        return (double) garbage / SPEED_PASSES / replays / trace.operationCount();
    }

    private void replayTimed(final Latencies allocate, final Latencies free) {
        Replay.timed(target, trace.operations(), allocate, free);
        Replay.drain(target, slotsLeft);
    }
}
