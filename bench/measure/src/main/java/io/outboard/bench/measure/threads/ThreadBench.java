package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.common.Isolation;
import io.outboard.bench.cli.common.Latencies;

/**
 * A bench runs threads that share one supply of blocks: a pool, the facades or the driver. The interface is the border
 * between the command's classes and those that every pass loads for itself, see {@link Isolation}. Each object makes
 * one pass. Confined to one thread.
 *
 * <p>A block handed out twice, a block that overlaps another, memory that isn't there, and blocks that aren't returned
 * make a pass fail with an {@link IllegalStateException} whose message says what happened.
 */
public interface ThreadBench {

    /**
     * A speed is the result of the pass for speed.
     *
     * @param opsPerSecond allocations and frees a second of all threads together, the median of the rounds
     * @param cpuNsPerOp core time of an operation, of all threads, with the time of loops that wait for other threads;
     *     the figure to trust where other programs use the cores
     * @param gcBytesPerOp garbage an operation, in bytes
     * @param heldBytes what the pool held at the end
     * @param peakHeldBytes the most that it held, sampled every few milliseconds
     * @param peakLimboBytes the most that was in limbo, sampled likewise
     * @param marksPerOp how often an operation asked the device which work has finished
     */
    record Speed(
            double opsPerSecond,
            double cpuNsPerOp,
            double gcBytesPerOp,
            long heldBytes,
            long peakHeldBytes,
            long peakLimboBytes,
            double marksPerOp) {}

    /**
     * A clocked result is the result of the pass with clocks.
     *
     * @param allocate each allocation
     * @param free each free
     */
    record Clocked(Latencies allocate, Latencies free) {}

    /**
     * A checked result is the result of the pass that checks each block.
     *
     * @param blocks how many were checked
     * @param peakLiveBytes the most bytes that were live at once, as requested
     */
    record Checked(long blocks, long peakLiveBytes) {}

    /**
     * Loads the classes for one pass, separately from all others.
     *
     * @param settings what to do
     * @return a bench that is good for one pass
     */
    static ThreadBench open(final ThreadSettings settings) {
        return Isolation.open(
                ThreadBench.class, "io.outboard.bench.measure.threads.isolated.IsolatedThreadBench", settings);
    }

    /**
     * Runs the threads at full speed.
     *
     * @return figures
     * @throws InterruptedException if the calling thread is interrupted
     */
    Speed speed() throws InterruptedException;

    /**
     * Runs the threads with a clock around each operation.
     *
     * @return figures
     * @throws InterruptedException if the calling thread is interrupted
     */
    Clocked clocked() throws InterruptedException;

    /**
     * Runs the threads, and compares every block with all others that are live.
     *
     * @return figures
     * @throws InterruptedException if the calling thread is interrupted
     */
    Checked checked() throws InterruptedException;
}
