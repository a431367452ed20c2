package io.outboard.bench.cli.isolated;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.measurement.MemorySample;
import io.outboard.bench.cli.measurement.OperationTimes;
import io.outboard.bench.cli.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory pass samples how much memory is used over the course of a trace. It is the first pass, because some
 * strategies remember earlier placements and would place blocks differently in a second replay. As nothing is warm yet,
 * the pass also shows how long the very first calls take.
 */
public abstract class MemoryPass {

    private final Target target;
    private final Trace trace;
    private final List<MemorySample> samples = new ArrayList<>();
    private final OperationTimes times;
    private final boolean timesCalls;
    private long failures;

    /** Makes a pass; {@code timesCalls} tells whether it times each call. */
    public MemoryPass(final Target target, final Trace trace, final boolean timesCalls) {
        this.target = target;
        this.trace = trace;
        this.timesCalls = timesCalls;
        times = new OperationTimes(timesCalls ? Latencies.measureClock() : 0, trace.operationCount());
    }

    /**
     * Runs the pass; {@code deviceUsedBytes} asks the device how much memory is in use, and is null without a device.
     */
    public final void run(final @Nullable LongSupplier deviceUsedBytes, final Progress progress) {
        progress.pass("pass 1 of 5: memory");
        final long[] operations = trace.operations();
        final int step = Math.max(1, operations.length / MemorySample.SAMPLES);
        long liveBytes = 0;
        long peakBytes = 0;
        sample(0, 0, deviceUsedBytes);
        for (int i = 0; i < operations.length; i++) {
            final int slot = Trace.slot(operations[i]);
            final long bytes = Trace.bytes(operations[i]);
            if (!Trace.isFree(operations[i])) {
                final long before = timesCalls ? System.nanoTime() : 0;
                final boolean served = target.allocate(slot, bytes);
                if (timesCalls) {
                    times.record(i, System.nanoTime() - before);
                }
                if (served) {
                    liveBytes += bytes;
                    allocated(slot, bytes);
                } else {
                    failures++;
                }
            } else if (target.wasServed(slot)) {
                final long before = timesCalls ? System.nanoTime() : 0;
                target.free(slot);
                if (timesCalls) {
                    times.record(i, System.nanoTime() - before);
                }
                liveBytes -= bytes;
                freed(slot);
            }
            final boolean sample = i % step == step - 1 || i == operations.length - 1;
            if (liveBytes > peakBytes && (sample || liveBytes == trace.peakLiveBytes())) {
                peakBytes = liveBytes;
                peaked();
            }
            if (sample) {
                sample(i + 1L, liveBytes, deviceUsedBytes);
            }
        }
        Replay.drain(target, Replay.slotsLeft(trace));
        progress.step(operations.length);
    }

    private void sample(final long operation, final long liveBytes, final @Nullable LongSupplier deviceUsedBytes) {
        samples.add(new MemorySample(
                operation,
                liveBytes,
                extentBytes(),
                regionBytes(),
                deviceUsedBytes == null ? null : deviceUsedBytes.getAsLong()));
    }

    /** Tells how long operations took, by operation number; nothing if calls weren't timed. */
    public final OperationTimes operations() {
        return times;
    }

    public final List<MemorySample> samples() {
        return samples;
    }

    /** Returns the number of allocations that found no memory. */
    public final long failures() {
        return failures;
    }

    protected abstract void allocated(int slot, long bytes);

    protected abstract void freed(int slot);

    /** Reacts to a new peak of live bytes. */
    protected abstract void peaked();

    /** Returns the current extent, null where there is no such value. */
    protected abstract @Nullable Long extentBytes();

    /** Returns the current size of the region. */
    protected abstract long regionBytes();
}
