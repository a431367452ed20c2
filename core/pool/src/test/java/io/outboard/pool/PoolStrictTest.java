package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.simulated.SimulatedDevice;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** These tests say when freed blocks come back, and when the pool grows instead, with {@link ReusePolicy#STRICT}. */
class PoolStrictTest {

    private static final long MIB = 1L << 20;
    private final FailingMemorySource source = new FailingMemorySource(1L << 40);
    private final SimulatedDevice device = new SimulatedDevice();

    private PoolBuilder builder() {
        return Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 4096))
                .firstRegionBytes(4 * MIB)
                .limitBytes(4 * MIB)
                .reuse(ReusePolicy.STRICT, device);
    }

    @Test
    void shouldSynchroniseOnceForManyFrees() {
        final Pool pool = builder().slackBytes(4 * MIB).build();
        for (int i = 0; i < 2000; i++) {
            pool.free(pool.allocate(256));
        }
        assertEquals(0, device.synchronizations());
        assertEquals(2000 * 256, pool.statistics().limboBytes());

        pool.allocate(4 * MIB);

        assertEquals(1, device.synchronizations());
        assertEquals(1, pool.statistics().synchronizations());
        assertEquals(0, pool.statistics().limboBytes());
        assertEquals(0, device.marksOut());
    }

    /** A program frees while its kernels run. With the first region alone, it would wait 24 times. */
    @Test
    void shouldGrowWhereTheDeviceIsBusy() {
        final Pool pool = builder()
                .limitBytes(64 * MIB)
                .slackBytes(0)
                .growInPlace(false)
                .reuse(ReusePolicy.STRICT, new SteadyDevice(true))
                .build();

        for (int i = 0; i < 100; i++) {
            pool.free(pool.allocate(MIB));
        }

        // The pool may hold an eighth of the limit.
        assertEquals(8 * MIB, pool.statistics().heldBytes());
        assertTrue(pool.statistics().synchronizations() <= 100, pool.statistics()::toString);
    }

    @Test
    void shouldNotGrowWhereTheDeviceIsIdle() {
        final Pool pool =
                builder().limitBytes(1L << 30).slackBytes(0).growInPlace(false).build();

        for (int i = 0; i < 100; i++) {
            pool.free(pool.allocate(MIB));
        }

        assertEquals(4 * MIB, pool.statistics().heldBytes());
        assertTrue(device.synchronizations() <= 100, () -> device.synchronizations() + " marks");
    }

    @Test
    void shouldWaitThoughWaitsAreDearIfItCannotGrow() {
        final Pool pool = Pool.over(new FailingMemorySource(4 * MIB))
                .firstRegionBytes(4 * MIB)
                .reuse(ReusePolicy.STRICT, new SteadyDevice(true))
                .build();
        pool.addOutOfMemoryHandler((bytes, statistics) -> fail("there is memory in limbo"));

        for (int i = 0; i < 20; i++) {
            pool.free(pool.allocate(MIB));
        }

        assertEquals(4 * MIB, pool.statistics().heldBytes());
        assertTrue(pool.statistics().synchronizations() <= 20, pool.statistics()::toString);
    }

    @Test
    void shouldSynchroniseWhenLimboPassesItsOwnLimit() {
        final Pool pool = builder().limboLimitBytes(512).build();
        pool.free(pool.allocate(512));
        assertEquals(0, device.synchronizations());

        pool.free(pool.allocate(1));

        assertEquals(1, device.synchronizations());
    }

    /** Another thread that goes on freeing used to make the request wait again and again. */
    @Test
    void shouldNotWaitForEverForWhatCannotBeServed() throws InterruptedException {
        final Pool pool = builder().reuse(ReusePolicy.STRICT, new IdleDevice()).build();
        pool.allocate(MIB);
        pool.free(pool.allocate(MIB));
        final AtomicBoolean over = new AtomicBoolean();
        final Thread other = new Thread(() -> {
            while (!over.get()) {
                pool.free(pool.allocate(256));
            }
        });
        other.start();

        assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(4 * MIB)));

        over.set(true);
        other.join();
    }

    @Test
    void shouldNotWaitForMoreThanItsLimit() {
        final Pool pool = builder().build();
        pool.free(pool.allocate(MIB));
        final long before = device.synchronizations();

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(4 * MIB + 1));

        assertEquals(before, device.synchronizations());
    }
}
