package io.outboard.bench.isolated;

import io.outboard.bench.common.Latencies;
import io.outboard.bench.common.Progress;
import io.outboard.bench.measure.MemorySample;
import io.outboard.bench.measure.OperationTimes;
import io.outboard.bench.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pass that looks at memory. It comes first, while what is measured is as new: some strategies remember where they were,
 * and place blocks otherwise the next time. So it also tells what the very first calls take, before anything is warm.
 */
abstract class MemoryPass {

    private final Target target;
    private final Trace trace;
    private final List<MemorySample> samples = new ArrayList<>();
    private final OperationTimes times = new OperationTimes(Latencies.measureClock());
    private long failures;

    MemoryPass(final Target target, final Trace trace) {
        this.target = target;
        this.trace = trace;
    }

    /** Does it; {@code deviceUsedBytes} asks the device how much is in use, null without one. */
    final void run(final @Nullable LongSupplier deviceUsedBytes, final Progress progress) {
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
    final List<OperationTimes.Stretch> operations() {
        return times.stretches();
    }

    final List<MemorySample> samples() {
        return samples;
    }

    /** Allocations that found no memory. */
    final long failures() {
        return failures;
    }

    abstract void allocated(int slot, long bytes);

    abstract void freed(int slot);

    /** More is live than ever before. */
    abstract void peaked();

    /** Of the moment, if there is such a thing. */
    abstract @Nullable Long extentBytes();

    /** Of the moment. */
    abstract long regionBytes();
}
