package io.outboard.bench.measure.soak;

import java.util.concurrent.atomic.AtomicLong;

/** Time that passes when it is told to, or waited for. */
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
