package io.outboard.bench.measure.threads.isolated;

/**
 * A round tells threads how long they go on: until the round is ended, or one of them fails. Safe for any number of
 * threads.
 */
final class Round {

    /** The number of times that a thread looks at a full or empty queue before it yields the core. */
    private static final int SPINS = 64;

    private volatile boolean over;

    boolean isOver() {
        return over;
    }

    void end() {
        over = true;
    }

    /**
     * Waits a little inside a loop that waits for another thread, since that thread may need this thread's core; {@code
     * waits} counts the loop's passes.
     */
    // With more threads than cores, the thread that the loop waits for may have none. Parking instead would take 50
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
