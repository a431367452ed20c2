package io.outboard.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A mutual exclusion lock for critical sections of some tens of nanoseconds, none of which waits for anything.
 *
 * <p>Taking and releasing it costs one compare-and-set and one store, half of what {@code ReentrantLock} costs, whose
 * release has to look for waiters and wake one. Here waiters look for themselves: they spin, then sleep for growing
 * times. So a thread that comes back soon finds the lock still in its cache and keeps it for many operations, which is
 * what throughput under contention lives on; the price is that it isn't fair, and a waiter's latency is up to a sleep.
 *
 * <p>Not reentrant; not bound to a thread. Safe for any number of threads, virtual ones too. Makes no garbage.
 */
final class SpinLock {

    private static final VarHandle TAKEN;

    /** Spins before the first sleep: some microseconds in all. */
    private static final int MOST_SPINS = 1 << 8;

    private static final long FIRST_SLEEP_NS = 1_000;

    /** Bounds a waiter's latency. The kernel adds some 50 microseconds of its own to a sleep. */
    private static final long LONGEST_SLEEP_NS = 100_000;

    static {
        try {
            TAKEN = MethodHandles.lookup().findVarHandle(SpinLock.class, "taken", boolean.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** By {@link #TAKEN} only. */
    @SuppressWarnings("UnusedVariable")
    private boolean taken;

    void lock() {
        // Acquire; pairs with the release in unlock.
        if (!TAKEN.weakCompareAndSetAcquire(this, false, true)) {
            lockContended();
        }
    }

    void unlock() {
        // Release; pairs with the acquire in lock.
        TAKEN.setRelease(this, false);
    }

    private void lockContended() {
        int spins = 1;
        long sleepNs = FIRST_SLEEP_NS;
        do {
            if (spins < MOST_SPINS) {
                for (int i = 0; i < spins; i++) {
                    Thread.onSpinWait();
                }
                spins <<= 1;
            } else {
                LockSupport.parkNanos(this, sleepNs);
                sleepNs = Math.min(2 * sleepNs, LONGEST_SLEEP_NS);
            }
            // Reading first leaves the cache line with its owner.
        } while ((boolean) TAKEN.getOpaque(this) || !TAKEN.weakCompareAndSetAcquire(this, false, true));
    }
}
