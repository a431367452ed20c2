package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.VirtualMemorySource;
import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** With {@link ReusePolicy#STRICT} a thread of the pool's own synchronises ahead of need, where that may be done at any moment. */
class PoolAheadTest {

    private static final long MIB = 1L << 20;

    private static final class Device extends IdleDevice {

        private final Set<Thread> waited = ConcurrentHashMap.newKeySet();
        private final CountDownLatch first = new CountDownLatch(1);

        Device(final boolean guarded) {
            super(guarded);
        }

        @Override
        public boolean synchronize() {
            waited.add(Thread.currentThread());
            first.countDown();
            return true;
        }
    }

    private static Pool pool(final Device device) {
        return Pool.over(new VirtualMemorySource(64 * MIB))
                .firstRegionBytes(64 * MIB)
                .reuse(ReusePolicy.STRICT, device)
                .build();
    }

    /** A quarter of what the pool holds, and one batch more. */
    private static void freeMuch(final Pool pool) {
        for (int i = 0; i < 128; i++) {
            pool.free(pool.allocate(MIB / 4));
        }
    }

    @Test
    void shouldSynchroniseBeforeMemoryIsNeeded() throws InterruptedException {
        final Device device = new Device(true);
        try (Pool pool = pool(device)) {
            freeMuch(pool);
            assertTrue(device.first.await(20, TimeUnit.SECONDS));
            final long limboBytes = pool.statistics().limboBytes();

            // Its next operations find that it has.
            for (int i = 0; i < 1000 && pool.statistics().limboBytes() >= limboBytes; i++) {
                pool.free(pool.allocate(256));
                Thread.sleep(1);
            }

            assertTrue(pool.statistics().limboBytes() < limboBytes);
            assertTrue(!device.waited.contains(Thread.currentThread()));
        }
    }

    /** As many blocks as a batch has are more than the pool holds: they were waited for only when nothing was left. */
    @Test
    void shouldSynchroniseBeforeMemoryIsNeededForFewLargeBlocks() throws InterruptedException {
        final Device device = new Device(true);
        try (Pool pool = pool(device)) {
            for (int i = 0; i < 10; i++) {
                pool.free(pool.allocate(4 * MIB));
            }

            assertTrue(device.first.await(5, TimeUnit.SECONDS));
            assertTrue(!device.waited.contains(Thread.currentThread()));
        }
    }

    /** One runs always, and ends only when the program has done a step of its own: who waits for it there waits for ever. */
    private static final class Kernels extends IdleDevice {

        private int ended;
        private int waiting;
        private int leaving;
        private boolean idle;

        Kernels() {
            super(true);
        }

        /** Once all who want to wait for it do, and until they know. */
        void endOne() throws InterruptedException {
            while (Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(thread -> thread.getName().equals("outboard-kernels-synchronizer")
                            && thread.getState() != Thread.State.WAITING
                            && thread.getState() != Thread.State.TIMED_WAITING)) {
                Thread.onSpinWait();
            }
            end();
        }

        private synchronized void end() throws InterruptedException {
            ended++;
            leaving = waiting;
            waiting = 0;
            notifyAll();
            while (leaving > 0) {
                wait();
            }
        }

        synchronized void endAll() {
            idle = true;
            notifyAll();
        }

        @Override
        public synchronized boolean isIdle() {
            return idle;
        }

        @Override
        public synchronized boolean synchronize() {
            waiting++;
            try {
                for (final int before = ended; ended == before && !idle; ) {
                    wait();
                }
            } catch (final InterruptedException e) {
                throw new IllegalStateException("the test took too long", e);
            } finally {
                leaving--;
                notifyAll();
            }
            return true;
        }
    }

    /** As in the example KernelsInFlight, one allocation took as long as a kernel. */
    @Test
    void shouldNotWaitForKernelsWhilePoolsThatGrowAreSmall() {
        final Kernels device = new Kernels();
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
            final Pool pool = Pool.over(new FailingMemorySource(1024 * MIB).growingInPlace())
                    .name("kernels")
                    .firstRegionBytes(64 * MIB)
                    .reuse(ReusePolicy.STRICT, device)
                    .build();
            final SplittableRandom random = new SplittableRandom(7);
            for (int step = 0; step < 100; step++) {
                final long[] buffers = new long[8];
                for (int i = 0; i < buffers.length; i++) {
                    buffers[i] = pool.allocate(random.nextLong(MIB, 4 * MIB));
                }
                for (final long buffer : buffers) {
                    pool.free(buffer);
                }
                device.endOne();
            }
            device.endAll();
            pool.close();
        });
    }

    /** A capture that begins at that moment would break, and nobody would know why. */
    @Test
    void shouldNotSynchroniseAtAnyMomentUnlessThatIsGuarded() {
        final Device device = new Device(false);
        try (Pool pool = pool(device)) {
            freeMuch(pool);
            assertEquals(Set.of(), device.waited);

            pool.allocate(60 * MIB);
            assertEquals(Set.of(Thread.currentThread()), device.waited);
        }
    }
}
