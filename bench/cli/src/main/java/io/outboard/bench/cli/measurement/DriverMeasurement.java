package io.outboard.bench.cli.measurement;

import com.sun.management.ThreadMXBean;
import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.device.DriverAllocator;
import io.outboard.bench.cli.trace.Trace;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * This class measures one of the driver's own allocators on a trace. An operation of the driver takes a thousand times
 * longer than reading a clock, so a single pass with a clock around each operation measures everything. nsPerOp is the
 * sum of the operations' times without the clock's own, divided by their number.
 */
public final class DriverMeasurement {

    /** The code that {@code cudaErrorMemoryAllocation} and {@code CUDA_ERROR_OUT_OF_MEMORY} share. */
    private static final int OUT_OF_MEMORY = 2;

    private static final int WARM_OPERATIONS = 2_000;
    private static final int OPERATIONS_A_STEP = 1_000;

    /** The work of a step: an operation takes some 30 microseconds, as long as hundreds of operations of a strategy. */
    private static final long WORK_A_STEP = OPERATIONS_A_STEP * (Progress.SECOND * 30 / 1_000_000);

    private final DriverAllocator driver;
    private final Trace trace;
    private final boolean[] full;
    private final Progress progress;
    private long failures;

    /** Samples are kept in arrays while measuring, so that all garbage is the driver's. */
    private final long[] sampledOperations = new long[2 * MemorySample.SAMPLES + 3];

    private final long[] sampledLiveBytes = new long[sampledOperations.length];
    private final long[] sampledUsedBytes = new long[sampledOperations.length];
    private int samples;

    private final long clockNs = Latencies.measureClock();
    private final OperationTimes times;

    public DriverMeasurement(final DriverAllocator driver, final Trace trace, final Progress progress) {
        this.driver = driver;
        this.trace = trace;
        this.full = new boolean[trace.slots()];
        this.progress = progress;
        times = new OperationTimes(clockNs, trace.operationCount());
    }

    /** Returns the work of one driver allocator on a trace, in the unit of {@link Progress}. */
    static long steps(final Trace trace) {
        final int warm = Math.min(WARM_OPERATIONS, trace.operationCount());
        return (long) (warm / OPERATIONS_A_STEP + trace.operationCount() / OPERATIONS_A_STEP) * WORK_A_STEP;
    }

    /**
     * Warms up, then measures.
     *
     * @param device number of the GPU
     * @throws IllegalStateException if a call fails for another reason than a lack of memory
     */
    public Measurement run(final String device) {
        // The first sample is from before the warm-up: a pool keeps what it had of the device then.
        sample(0, 0);
        replay(WARM_OPERATIONS, new Latencies(clockNs), new Latencies(clockNs));
        final Latencies allocate = new Latencies(clockNs);
        final Latencies free = new Latencies(clockNs);
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        // The first query itself makes garbage.
        threads.getCurrentThreadAllocatedBytes();
        final long allocated = threads.getCurrentThreadAllocatedBytes();
        final long ns = replay(trace.operationCount(), allocate, free);
        final long garbage = threads.getCurrentThreadAllocatedBytes() - allocated;
        return new Measurement(
                trace,
                driver.name(),
                device,
                null,
                (double) ns / trace.operationCount(),
                List.of(),
                Double.NaN,
                Double.NaN,
                allocate,
                free,
                (double) garbage / trace.operationCount(),
                Double.NaN,
                null,
                null,
                Double.NaN,
                Double.NaN,
                null,
                Double.NaN,
                failures,
                null,
                memory(),
                times);
    }

    /** Does the first {@code count} operations, frees what is left, and returns how long the operations took. */
    private long replay(final int count, final Latencies allocate, final Latencies free) {
        final long[] operations = trace.operations();
        final int end = Math.min(count, operations.length);
        final int step = Math.max(1, operations.length / MemorySample.SAMPLES);
        long ns = 0;
        long liveBytes = 0;
        failures = 0;
        samples = 1;
        for (int i = 0; i < end; i++) {
            final int slot = Trace.slot(operations[i]);
            final long bytes = Trace.bytes(operations[i]);
            if (!Trace.isFree(operations[i])) {
                final long before = System.nanoTime();
                final int code = driver.allocate(slot, bytes);
                final long elapsed = System.nanoTime() - before;
                ns += allocate.record(elapsed);
                times.record(i, elapsed);
                full[slot] = isServed(code);
                liveBytes += full[slot] ? bytes : 0;
                failures += full[slot] ? 0 : 1;
            } else if (full[slot]) {
                final long before = System.nanoTime();
                final int code = driver.free(slot);
                final long elapsed = System.nanoTime() - before;
                ns += free.record(elapsed);
                times.record(i, elapsed);
                checkFreed(code);
                full[slot] = false;
                liveBytes -= bytes;
            }
            if (i % step == step - 1 || i == operations.length - 1) {
                sample(i + 1L, liveBytes);
            }
            if (i % OPERATIONS_A_STEP == OPERATIONS_A_STEP - 1) {
                progress.step(WORK_A_STEP);
            }
        }
        for (int slot = 0; slot < full.length; slot++) {
            if (full[slot]) {
                checkFreed(driver.free(slot));
                full[slot] = false;
            }
        }
        return ns;
    }

    private void sample(final long operation, final long liveBytes) {
        sampledOperations[samples] = operation;
        sampledLiveBytes[samples] = liveBytes;
        sampledUsedBytes[samples] = driver.usedBytes();
        samples++;
    }

    private List<MemorySample> memory() {
        final List<MemorySample> memory = new ArrayList<>();
        for (int i = 0; i < samples; i++) {
            memory.add(new MemorySample(sampledOperations[i], sampledLiveBytes[i], null, null, sampledUsedBytes[i]));
        }
        return memory;
    }

    private boolean isServed(final int code) {
        if (code != 0 && code != OUT_OF_MEMORY) {
            throw new IllegalStateException(driver.name() + ": allocating failed with " + driver.codeName(code));
        }
        return code == 0;
    }

    private void checkFreed(final int code) {
        if (code != 0) {
            throw new IllegalStateException(driver.name() + ": freeing failed with " + driver.codeName(code));
        }
    }
}
