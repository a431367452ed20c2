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
 * The pass that looks at memory. It comes first, while what is measured is as new: some strategies remember where they
 * were, and place blocks otherwise the next time. So it also tells what the very first calls take, before anything is
 * warm.
 */
public abstract class MemoryPass {

    private final Target target;
    private final Trace trace;
    private final List<MemorySample> samples = new ArrayList<>();
    private final OperationTimes times = new OperationTimes(Latencies.measureClock());
    private long failures;

    public MemoryPass(final Target target, final Trace trace) {
        this.target = target;
        this.trace = trace;
    }

    /** Does it; {@code deviceUsedBytes} asks the device how much is in use, null without one. */
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
                final long before = System.nanoTime();
                final boolean served = target.allocate(slot, bytes);
                times.record(i, System.nanoTime() - before);
                if (served) {
                    liveBytes += bytes;
                    allocated(slot, bytes);
                } else {
                    failures++;
                }
            } else if (target.wasServed(slot)) {
                final long before = System.nanoTime();
                target.free(slot);
                times.record(i, System.nanoTime() - before);
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

    /** What operations took, by their number. */
    public final List<OperationTimes.Stretch> operations() {
        return times.stretches();
    }

    public final List<MemorySample> samples() {
        return samples;
    }

    /** Allocations that found no memory. */
    public final long failures() {
        return failures;
    }

    protected abstract void allocated(int slot, long bytes);

    protected abstract void freed(int slot);

    /** More is live than ever before. */
    protected abstract void peaked();

    /** Of the moment, if there is such a thing. */
    protected abstract @Nullable Long extentBytes();

    /** Of the moment. */
    protected abstract long regionBytes();
}
