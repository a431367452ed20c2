package io.outboard.bench.measure.threads.isolated;

/** How long threads go on: until somebody says so, or one of them fails. Safe for any number of threads. */
final class Round {

    /** Looks at a full or empty queue before a thread lets another have the core. */
    private static final int SPINS = 64;

    private volatile boolean over;

    boolean isOver() {
        return over;
    }

    void end() {
        over = true;
    }

    /** For loops that wait for another thread, which may need this one's core: the {@code waits}-th time. */
    // With more threads than cores, the one that is waited for may have none. Parking instead would take 50
    // microseconds.
    @SuppressWarnings("ThreadPriorityCheck")
    static void pause(final int waits) {
        if (waits < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }
}
