package io.outboard.bench.measure.soak;

import java.util.concurrent.atomic.AtomicLong;

/** The clock's time passes only when a test says so, or when somebody waits for it. */
final class StoppedClock implements SoakClock {

    private final AtomicLong now = new AtomicLong();

    void advance(final long ns) {
        now.addAndGet(ns);
    }

    @Override
    public long nowNs() {
        return now.get();
    }

    @Override
    public void waitUntil(final long timeNs) {
        now.accumulateAndGet(timeNs, Math::max);
    }
}
