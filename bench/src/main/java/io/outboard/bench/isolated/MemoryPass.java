package io.outboard.bench.isolated;

import io.outboard.bench.common.Progress;
import io.outboard.bench.measure.MemorySample;
import io.outboard.bench.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One pass that looks at memory, and not at time. It comes first, while what is measured is as new: some strategies
 * remember where they were, and place blocks otherwise the next time.
 */
abstract class MemoryPass {

    private final Target target;
    private final Trace trace;
    private final List<MemorySample> samples = new ArrayList<>();
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
        for (int i = 0; i < operations.length; i++) {
            final int slot = Trace.slot(operations[i]);
            final long bytes = Trace.bytes(operations[i]);
            if (!Trace.isFree(operations[i])) {
                if (target.allocate(slot, bytes)) {
                    liveBytes += bytes;
                    allocated(slot, bytes);
                } else {
                    failures++;
                }
            } else if (target.wasServed(slot)) {
                target.free(slot);
                liveBytes -= bytes;
                freed(slot);
            }
            final boolean sample = i % step == step - 1 || i == operations.length - 1;
            if (liveBytes > peakBytes && (sample || liveBytes == trace.peakLiveBytes())) {
                peakBytes = liveBytes;
                peaked();
            }
            if (sample) {
                samples.add(new MemorySample(
                        i + 1L,
                        liveBytes,
                        extentBytes(),
                        regionBytes(),
                        deviceUsedBytes == null ? null : deviceUsedBytes.getAsLong()));
            }
        }
        Replay.drain(target, Replay.slotsLeft(trace));
        progress.step(operations.length);
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
