package io.outboard.pool;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.VirtualMemorySource;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a pool's own thread is asked to wait for, by pools with {@link ReusePolicy#STRICT} whose device seems busy. */
class SynchronizerTest {

    private static final long MIB = 1L << 20;

    /** Finishes whenever it is waited for, but never says so before. */
    private static final class Device extends IdleDevice {

        private volatile boolean idle;
        private volatile boolean capturing;

        /** When the pool's own thread asks whether there is a capture. */
        private volatile Runnable askedByPool = () -> {};

        /** When another thread asks whether it is idle. */
        private volatile Runnable askedWhetherIdle = () -> {};

        Device(final boolean guarded) {
            super(guarded);
        }

        @Override
        public boolean isIdle() {
            askedWhetherIdle.run();
            return idle;
        }

        @Override
        public boolean isCapturing() {
            if (Thread.currentThread().getName().contains("synchronizer")) {
                askedByPool.run();
            }
            return capturing;
        }

        @Override
        public boolean synchronize() {
            return !capturing;
        }
    }

    private static PoolBuilder builder(final Device device) {
        return Pool.over(new VirtualMemorySource(64 * MIB))
                .firstRegionBytes(64 * MIB)
                .limitBytes(64 * MIB)
                .reuse(ReusePolicy.STRICT, device);
    }

    private static void allocateHalf(final Pool pool) {
        assertTimeoutPreemptively(ofSeconds(20), () -> pool.free(pool.allocate(32 * MIB)));
    }

    /** An attempt in vain counted as one for what is needed for good: out of memory, with all of it in limbo. */
    @Test
    void shouldTryAgainAfterACapture() throws InterruptedException {
        final Device device = new Device(true);
        final Pool pool = builder(device).build();
        final long[] blocks = new long[256];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = pool.allocate(MIB / 4);
        }
        final AtomicBoolean asked = new AtomicBoolean();
        device.askedByPool = () -> asked.set(true);
        device.capturing = true;
        for (final long block : blocks) {
            pool.free(block);
        }
        for (int i = 0; i < 10_000 && !asked.get(); i++) {
            Thread.sleep(1);
        }
        assertTrue(asked.get());
        Thread.sleep(20);

        device.capturing = false;
        allocateHalf(pool);
        pool.close();
    }

    @Test
    void shouldTryAgainAfterACaptureThatBeganMeanwhile() {
        final Device device = new Device(false);
        final Pool pool = builder(device).build();
        pool.free(pool.allocate(60 * MIB));
        final AtomicBoolean first = new AtomicBoolean(true);
        device.askedByPool = () -> device.capturing |= first.getAndSet(false);
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(32 * MIB));

        device.capturing = false;
        allocateHalf(pool);
        pool.close();
    }

    @Test
    void shouldThrowAFailureOnceOnly() {
        final Device device = new Device(false);
        final Pool pool = builder(device).build();
        pool.free(pool.allocate(60 * MIB));
        final AtomicBoolean first = new AtomicBoolean(true);
        device.askedByPool = () -> {
            if (first.getAndSet(false)) {
                throw new IllegalStateException("simulated");
            }
        };
        try {
            // Served if this thread has waited for its moment before it was told.
            pool.free(pool.allocate(32 * MIB));
        } catch (final IllegalStateException e) {
            assertEquals("simulated", e.getMessage());
        }

        allocateHalf(pool);
        pool.close();
    }

    /** Whatever comes back another thread takes, and frees it again: until the last time, that is bad luck. */
    @Test
    void shouldNotGiveUpBecauseOthersAreFaster() {
        final Device device = new Device(false);
        final Pool pool = builder(device).build();
        pool.free(pool.allocate(60 * MIB));
        final Thread asking = Thread.currentThread();
        final AtomicInteger rounds = new AtomicInteger();
        device.askedWhetherIdle = () -> {
            if (Thread.currentThread() == asking && rounds.incrementAndGet() <= 10) {
                device.idle = true;
                final Thread other = new Thread(() -> {
                    final long block = pool.allocate(60 * MIB);
                    device.idle = false;
                    pool.free(block);
                });
                other.start();
                join(other);
            }
        };

        pool.free(pool.allocate(32 * MIB));

        assertTrue(rounds.get() > 10);
        pool.close();
    }

    private static void join(final Thread thread) {
        try {
            thread.join();
        } catch (final InterruptedException e) {
            throw new IllegalStateException("nobody interrupts", e);
        }
    }

    @Test
    void shouldKeepTheProgramsLimitAheadOfNeed() throws InterruptedException {
        final Device device = new Device(true);
        final Pool pool = builder(device).limboLimitBytes(MIB).build();
        final long[] blocks = new long[40];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = pool.allocate(MIB);
        }
        for (final long block : blocks) {
            pool.free(block);
        }

        for (int i = 0; i < 5000 && pool.statistics().limboBytes() > 2 * MIB; i++) {
            pool.free(pool.allocate(256));
            Thread.sleep(1);
        }
        assertTrue(pool.statistics().limboBytes() <= 2 * MIB, pool.statistics()::toString);
        assertEquals(0, pool.statistics().liveBlocks());
        pool.close();
    }
}
