package io.outboard.bench.measure.threads.isolated;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * A meter measures what the calling thread uses between two moments: bytes of garbage, and core time. Confined to one
 * thread.
 */
final class Meter {

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final long askingBytes;
    private long bytes;
    private long cpuNs;

    /** Asks for the counters once, since the first calls make garbage themselves. */
    Meter() {
        threads.getCurrentThreadCpuTime();
        threads.getCurrentThreadAllocatedBytes();
        final long before = threads.getCurrentThreadAllocatedBytes();
        askingBytes = threads.getCurrentThreadAllocatedBytes() - before;
    }

    void start() {
        cpuNs = threads.getCurrentThreadCpuTime();
        bytes = threads.getCurrentThreadAllocatedBytes();
    }

    /** Adds what the thread used since the start. */
    void stop(final Workload.Tally tally) {
        tally.garbageBytes += threads.getCurrentThreadAllocatedBytes() - bytes - askingBytes;
        tally.cpuNs += threads.getCurrentThreadCpuTime() - cpuNs;
    }
}
