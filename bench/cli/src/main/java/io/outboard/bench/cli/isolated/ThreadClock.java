package io.outboard.bench.cli.isolated;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * A thread clock tells how much the calling thread has had so far: time, time on a processor, and garbage. What other
 * programs do while the thread waits for a processor is in the first only.
 */
interface ThreadClock {

    /** The clock of the JVM. */
    ThreadClock OF_JVM = new ThreadClock() {

        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        @Override
        public long wallNs() {
            return System.nanoTime();
        }

        @Override
        public long cpuNs() {
            return threads.getCurrentThreadCpuTime();
        }

        @Override
        public long allocatedBytes() {
            return threads.getCurrentThreadAllocatedBytes();
        }
    };

    /** Returns nanoseconds since any moment. */
    long wallNs();

    /** Returns nanoseconds on a processor. */
    long cpuNs();

    /** Returns bytes of objects. */
    long allocatedBytes();
}
