package io.outboard.bench.measure.threads.isolated;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * What the calling thread uses up between two moments: bytes of garbage, and time on a core. Confined to one thread.
 */
final class Meter {

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final long askingBytes;
    private long bytes;
    private long cpuNs;

    /** The first questions make garbage themselves, so they are asked here. */
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

    /** Adds what was used up since the start. */
    void stop(final Workload.Tally tally) {
        tally.garbageBytes += threads.getCurrentThreadAllocatedBytes() - bytes - askingBytes;
        tally.cpuNs += threads.getCurrentThreadCpuTime() - cpuNs;
    }
}
