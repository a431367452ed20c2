package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.common.Isolation;
import io.outboard.bench.cli.common.Latencies;

/**
 * Threads that use one pool, as the command sees them: the border between its classes and those that every pass has for
 * itself, see {@link Isolation}. One pass an object. Confined to one thread.
 *
 * <p>A block handed out twice, one that overlaps another, memory that isn't there, and blocks that don't come back make
 * a pass fail with an {@link IllegalStateException} whose message says what happened.
 */
public interface ThreadBench {

    /**
     * What came of the pass for speed.
     *
     * @param opsPerSecond allocations and frees a second of all threads together, the median of the rounds
     * @param cpuNsPerOp time on a core an operation, of all threads, waiting for each other in loops included: what
     *     is left of a figure where other programs take cores away
     * @param gcBytesPerOp garbage an operation, in bytes
     * @param heldBytes what the pool held at the end
     * @param peakHeldBytes what it held at most, of looks every few milliseconds
     * @param peakLimboBytes what was in limbo at most, likewise
     * @param marksPerOp how often an operation asked the device what is done
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
     * What came of the pass with clocks.
     *
     * @param allocate each allocation
     * @param free each free
     */
    record Clocked(Latencies allocate, Latencies free) {}

    /**
     * What came of the pass that looks at each block.
     *
     * @param blocks how many were looked at
     * @param peakLiveBytes requested bytes that were live at once, at most
     */
    record Checked(long blocks, long peakLiveBytes) {}

    /**
     * Loads what does a pass, among classes of its own.
     *
     * @param settings what to do
     * @return good for one pass
     */
    static ThreadBench open(final ThreadSettings settings) {
        return Isolation.open(
                ThreadBench.class, "io.outboard.bench.measure.threads.isolated.IsolatedThreadBench", settings);
    }

    /**
     * Threads at full speed.
     *
     * @return figures
     * @throws InterruptedException if the calling thread is interrupted
     */
    Speed speed() throws InterruptedException;

    /**
     * Threads with a clock around each operation.
     *
     * @return figures
     * @throws InterruptedException if the calling thread is interrupted
     */
    Clocked clocked() throws InterruptedException;

    /**
     * Threads whose every block is compared with all others that are live.
     *
     * @return figures
     * @throws InterruptedException if the calling thread is interrupted
     */
    Checked checked() throws InterruptedException;
}
