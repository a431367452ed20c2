package io.outboard.bench.cli.plan;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A span of CPU time of the thread that makes it, or of time where the JVM can't tell CPU time. So a search finds about
 * the same on a machine that does other work, too. Confined to one thread.
 */
final class CpuTime {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final long began;
    private final long mostNs;

    CpuTime(final long mostNs) {
        this.mostNs = mostNs;
        began = now();
    }

    /** Tells whether some of the span is left. */
    boolean isLeft() {
        return now() - began < mostNs;
    }

    /** Tells how much of the span is over, in seconds. */
    double seconds() {
        return (now() - began) / 1e9;
    }

    /** Makes a span that begins now, and is half as long as what is left. */
    CpuTime half() {
        return new CpuTime(Math.max(0, mostNs - (now() - began)) / 2);
    }

    private static long now() {
        return THREADS.isCurrentThreadCpuTimeSupported() ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
    }
}
