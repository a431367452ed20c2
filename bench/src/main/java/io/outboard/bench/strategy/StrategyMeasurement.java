package io.outboard.bench.strategy;

import com.sun.management.ThreadMXBean;
import io.outboard.bench.Latencies;
import io.outboard.bench.Measurement;
import io.outboard.bench.MemorySample;
import io.outboard.bench.trace.Trace;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Measures one strategy on one trace, in several passes over the same instance. */
final class StrategyMeasurement {

    /** Passes without clocks; nsPerOp is their median. */
    private static final int SPEED_PASSES = 5;

    /** So that reading the clock doesn't count, however short the trace. */
    private static final int LEAST_OPERATIONS_A_PASS = 200_000;

    /** The compiler is done well before so many operations. */
    private static final long WARM_OPERATIONS = 2_000_000;

    private final Strategy strategy;
    private final String name;
    private final Trace trace;
    private final long[] addresses;
    private final int[] slotsLeft;
    private final Runnable step;

    StrategyMeasurement(final Strategy strategy, final String name, final Trace trace, final Runnable step) {
        this.strategy = strategy;
        this.name = name;
        this.trace = trace;
        this.addresses = new long[trace.slots()];
        this.slotsLeft = Replay.slotsLeft(trace);
        this.step = step;
    }

    /**
     * Runs all passes.
     *
     * @param device number of the GPU, or {@code none}
     * @param deviceUsedBytes asks the device how much is in use; null without one
     */
    Measurement run(final String device, final @Nullable LongSupplier deviceUsedBytes) {
        // First, while the strategy is as new: some remember where they were, and place blocks otherwise the next time.
        final MemoryPass memory = new MemoryPass(deviceUsedBytes);
        step.run();
        for (long done = 0; done < WARM_OPERATIONS; done += trace.operationCount()) {
            Replay.all(strategy, trace.operations(), addresses);
            Replay.drain(strategy, slotsLeft, addresses);
        }
        step.run();
        final Speed speed = measureSpeed();
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

        return new Measurement(
                trace,
                name,
                device,
                "IMMEDIATE",
                speed.nsPerOp,
                allocate,
                free,
                speed.gcBytesPerOp,
                memory.peakExtentBytes,
                null,
                memory.externalFragmentation,
                memory.internalFragmentation,
                strategy.hostBytes(),
                Double.NaN,
                memory.failures,
                strategy.region().sizeBytes(),
                memory.samples);
    }

    private Speed measureSpeed() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final long allocatedBefore = threads.getCurrentThreadAllocatedBytes();
        final long allocatedByAsking = threads.getCurrentThreadAllocatedBytes() - allocatedBefore;
        final double[] nsPerOp = new double[SPEED_PASSES];
        final int replays = Math.max(1, LEAST_OPERATIONS_A_PASS / trace.operationCount());
        long garbage = 0;
        for (int pass = 0; pass < SPEED_PASSES; pass++) {
            long ns = 0;
            for (int replay = 0; replay < replays; replay++) {
                final long allocated = threads.getCurrentThreadAllocatedBytes();
                final long before = System.nanoTime();
                Replay.all(strategy, trace.operations(), addresses);
                ns += System.nanoTime() - before;
                garbage += threads.getCurrentThreadAllocatedBytes() - allocated - allocatedByAsking;
                Replay.drain(strategy, slotsLeft, addresses);
            }
            nsPerOp[pass] = (double) ns / replays / trace.operationCount();
        }
        Arrays.sort(nsPerOp);
        return new Speed(nsPerOp[SPEED_PASSES / 2], (double) garbage / SPEED_PASSES / replays / trace.operationCount());
    }

    private void replayTimed(final Latencies allocate, final Latencies free) {
        Replay.timed(strategy, trace.operations(), addresses, allocate, free);
        Replay.drain(strategy, slotsLeft, addresses);
    }

    private record Speed(double nsPerOp, double gcBytesPerOp) {}

    /** One pass that looks at memory, and not at time. */
    private final class MemoryPass {

        private final List<MemorySample> samples = new ArrayList<>();
        private long failures;
        private long peakExtentBytes;
        private double externalFragmentation = Double.NaN;
        private double internalFragmentation = Double.NaN;

        MemoryPass(final @Nullable LongSupplier deviceUsedBytes) {
            final long[] operations = trace.operations();
            final long[] requested = new long[trace.slots()];
            final int step = Math.max(1, operations.length / MemorySample.SAMPLES);
            long liveBytes = 0;
            long peakBytes = 0;
            for (int i = 0; i < operations.length; i++) {
                final long operation = operations[i];
                final int slot = Trace.slot(operation);
                if (Trace.isFree(operation)) {
                    if (addresses[slot] != Strategy.NO_SPACE) {
                        strategy.free(addresses[slot]);
                        liveBytes -= Trace.bytes(operation);
                    }
                    requested[slot] = 0;
                } else {
                    addresses[slot] = strategy.allocate(Trace.bytes(operation));
                    if (addresses[slot] == Strategy.NO_SPACE) {
                        failures++;
                    } else {
                        liveBytes += Trace.bytes(operation);
                        requested[slot] = Trace.bytes(operation);
                        peakExtentBytes = Math.max(
                                peakExtentBytes,
                                addresses[slot]
                                        + strategy.sizeOf(addresses[slot])
                                        - strategy.region().address());
                    }
                }
                final boolean sample = i % step == step - 1 || i == operations.length - 1;
                if (sample || (liveBytes == trace.peakLiveBytes() && peakBytes < liveBytes)) {
                    final Statistics statistics = strategy.statistics();
                    if (liveBytes > peakBytes) {
                        peakBytes = liveBytes;
                        externalFragmentation = statistics.externalFragmentation();
                        internalFragmentation = internalFragmentation(requested);
                    }
                    if (sample) {
                        samples.add(new MemorySample(
                                i + 1L,
                                liveBytes,
                                statistics.extentBytes(),
                                strategy.region().sizeBytes(),
                                deviceUsedBytes == null ? null : deviceUsedBytes.getAsLong()));
                    }
                }
            }
            Replay.drain(strategy, slotsLeft, addresses);
        }

        private double internalFragmentation(final long[] requested) {
            double sum = 0;
            long blocks = 0;
            for (int slot = 0; slot < requested.length; slot++) {
                if (requested[slot] != 0) {
                    final long size = strategy.sizeOf(addresses[slot]);
                    sum += (double) (size - requested[slot]) / size;
                    blocks++;
                }
            }
            return blocks == 0 ? 0 : sum / blocks;
        }
    }
}
