package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.VirtualMemorySource;
import java.util.Set;
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
