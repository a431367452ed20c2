package io.outboard.bench.measure.soak;

import java.util.concurrent.locks.LockSupport;

/** A clock tells the time and waits for a time. Safe for any number of threads. */
interface SoakClock {

    /** The machine's clock. */
    SoakClock SYSTEM = new SoakClock() {

        private final long start = System.nanoTime();

        @Override
        public long nowNs() {
            return System.nanoTime() - start;
        }

        @Override
        public void waitUntil(final long timeNs) {
            for (long left = timeNs - nowNs(); left > 0; left = timeNs - nowNs()) {
                LockSupport.parkNanos(left);
            }
        }
    };

    /** Returns the nanoseconds since some moment, 0 or more, never less than an earlier call returned. */
    long nowNs();

    /** Returns when {@link #nowNs} is {@code timeNs} or more. */
    void waitUntil(long timeNs);
}
