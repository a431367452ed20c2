package io.outboard.bench;

import com.sun.management.ThreadMXBean;
import io.outboard.bench.trace.Trace;
import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
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

    private final StrategyProvider provider;
    private final StrategyOptions options;
    private final Trace trace;
    private final Region region;
    private final long[] addresses;
    private final int[] slotsLeft;
    private final Progress progress;

    StrategyMeasurement(
            final StrategyProvider provider,
            final StrategyOptions options,
            final Trace trace,
            final Region region,
            final Progress progress) {
        this.provider = provider;
        this.options = options;
        this.trace = trace;
        this.region = region;
        this.addresses = new long[trace.slots()];
        this.slotsLeft = Replay.slotsLeft(trace);
        this.progress = progress;
    }

    /**
     * Runs all passes.
     *
     * @param device number of the GPU, or {@code none}
     * @param deviceUsedBytes asks the device how much is in use; null without one
     * @param smallestRegionBytes passed through to the result
     */
    Measurement run(
            final String device,
            final @Nullable LongSupplier deviceUsedBytes,
            final @Nullable Long smallestRegionBytes) {
        final Strategy strategy = create(provider, region, options);
        long failures = 0;
        for (long done = 0; done < WARM_OPERATIONS; done += trace.operationCount()) {
            failures = replay(strategy);
        }
        progress.step(1);
        final Speed speed = measureSpeed(strategy);
        progress.step(1);

        final long clockNs = Latencies.measureClock();
        final Latencies allocate = new Latencies(clockNs);
        final Latencies free = new Latencies(clockNs);
        final Latencies thrownAway = new Latencies(clockNs);
        for (long done = 0; done < WARM_OPERATIONS; done += trace.operationCount()) {
            replayTimed(strategy, thrownAway, thrownAway);
        }
        replayTimed(strategy, allocate, free);
        progress.step(1);

        final MemoryPass memory = new MemoryPass(strategy, deviceUsedBytes);
        progress.step(1);
        return new Measurement(
                trace,
                provider.name(),
                device,
                "IMMEDIATE",
                speed.nsPerOp,
                allocate,
                free,
                speed.gcBytesPerOp,
                memory.peakExtentBytes,
                smallestRegionBytes,
                memory.externalFragmentation,
                memory.internalFragmentation,
                strategy.hostBytes(),
                failures,
                region.sizeBytes(),
                memory.samples);
    }

    private Speed measureSpeed(final Strategy strategy) {
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

    private void replayTimed(final Strategy strategy, final Latencies allocate, final Latencies free) {
        Replay.timed(strategy, trace.operations(), addresses, allocate, free);
        Replay.drain(strategy, slotsLeft, addresses);
    }

    /** A strategy over a region; one that can't divide it was asked for wrongly. */
    static Strategy create(final StrategyProvider provider, final Region region, final StrategyOptions options) {
        try {
            return provider.create(region, options);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(
                    "--region=" + region.sizeBytes() + " must suit " + provider.name() + ": " + e.getMessage());
        }
    }

    private long replay(final Strategy strategy) {
        final long failures = Replay.all(strategy, trace.operations(), addresses);
        Replay.drain(strategy, slotsLeft, addresses);
        return failures;
    }

    private record Speed(double nsPerOp, double gcBytesPerOp) {}

    /** One pass that looks at memory, and not at time. */
    private final class MemoryPass {

        private final List<MemorySample> samples = new ArrayList<>();
        private long peakExtentBytes;
        private double externalFragmentation = Double.NaN;
        private double internalFragmentation = Double.NaN;

        MemoryPass(final Strategy strategy, final @Nullable LongSupplier deviceUsedBytes) {
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
                    if (addresses[slot] != Strategy.NO_SPACE) {
                        liveBytes += Trace.bytes(operation);
                        requested[slot] = Trace.bytes(operation);
                        peakExtentBytes = Math.max(
                                peakExtentBytes, addresses[slot] + strategy.sizeOf(addresses[slot]) - region.address());
                    }
                }
                final boolean sample = i % step == step - 1 || i == operations.length - 1;
                if (sample || (liveBytes == trace.peakLiveBytes() && peakBytes < liveBytes)) {
                    final Statistics statistics = strategy.statistics();
                    if (liveBytes > peakBytes) {
                        peakBytes = liveBytes;
                        externalFragmentation = statistics.externalFragmentation();
                        internalFragmentation = internalFragmentation(strategy, requested);
                    }
                    if (sample) {
                        samples.add(new MemorySample(
                                i + 1L,
                                liveBytes,
                                statistics.extentBytes(),
                                region.sizeBytes(),
                                deviceUsedBytes == null ? null : deviceUsedBytes.getAsLong()));
                    }
                }
            }
            Replay.drain(strategy, slotsLeft, addresses);
        }

        private double internalFragmentation(final Strategy strategy, final long[] requested) {
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
