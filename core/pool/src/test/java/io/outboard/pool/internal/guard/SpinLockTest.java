package io.outboard.pool.internal.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SpinLockTest {

    private final SpinLock lock = new SpinLock();
    private int[] shared = {0, 0};

    /** Two numbers are equal whenever the lock is free, so a second thread inside would show. */
    @Test
    void shouldLetOneThreadInAtATime() throws InterruptedException {
        final int threads = 8;
        final int rounds = 20_000;
        final List<Thread> all = new ArrayList<>();
        final AtomicBoolean torn = new AtomicBoolean();
        for (int i = 0; i < threads; i++) {
            all.add(new Thread(() -> {
                for (int round = 0; round < rounds; round++) {
                    lock.lock();
                    if (shared[0] != shared[1]) {
                        torn.set(true);
                    }
                    shared = new int[] {shared[0] + 1, shared[1] + 1};
                    lock.unlock();
                }
            }));
        }
        all.forEach(Thread::start);
        for (final Thread thread : all) {
            thread.join();
        }

        assertFalse(torn.get());
        assertEquals(threads * rounds, shared[0]);
    }

    /**
     * The lock spins for far less time. An interrupted waiter goes on waiting, mostly asleep, and stays interrupted.
     */
    @Test
    void shouldWaitForALongOwnerThoughInterrupted() throws InterruptedException {
        final CountDownLatch started = new CountDownLatch(1);
        final AtomicBoolean entered = new AtomicBoolean();
        final AtomicBoolean interrupted = new AtomicBoolean();
        lock.lock();
        final Thread waiter = new Thread(() -> {
            Thread.currentThread().interrupt();
            started.countDown();
            lock.lock();
            entered.set(true);
            interrupted.set(Thread.currentThread().isInterrupted());
            lock.unlock();
        });
        waiter.start();
        started.await();
        waiter.join(200);
        assertFalse(entered.get());
        final long cpuNanos = ManagementFactory.getThreadMXBean().getThreadCpuTime(waiter.getId());
        assertTrue(cpuNanos < 100_000_000, () -> "used " + cpuNanos + " ns of 200 ms");

        lock.unlock();
        waiter.join();

        assertTrue(entered.get());
        assertTrue(interrupted.get());
    }

    /** As long as a waiter slept, each operation of others used to make way for it for half a microsecond. */
    @Test
    void shouldNotCountASleeperAsWaiting() throws InterruptedException {
        lock.lock();
        final Thread waiter = new Thread(() -> {
            lock.lock();
            lock.unlock();
        });
        waiter.start();
        while (waiter.getState() != Thread.State.TIMED_WAITING || lock.waiting > 0) {
            Thread.onSpinWait();
        }

        lock.unlock();
        waiter.join();
        assertEquals(0, lock.waiting);
    }
}
