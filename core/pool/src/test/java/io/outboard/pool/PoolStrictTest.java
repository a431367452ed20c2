package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.StrategyOptions;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** When freed blocks come back, and when the pool grows instead, with {@link ReusePolicy#STRICT}. */
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
        final Pool pool = builder().build();
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

    /**
     * What waits for a busy device on a thread of its own would use a context that is being destroyed. If that isn't destroyed after
     * all, who needs memory meanwhile gets it.
     */
    @Test
    void shouldWaitForADeviceThatMayEnd() throws Exception {
        final AtomicBoolean mayEnd = new AtomicBoolean();
        final AtomicInteger wrong = new AtomicInteger();
        final Pool pool = builder()
                .reuse(ReusePolicy.STRICT, new IdleDevice(true) {
                    @Override
                    public boolean isIdle() {
                        return false;
                    }

                    @Override
                    public boolean synchronize() {
                        wrong.addAndGet(mayEnd.get() ? 1 : 0);
                        return true;
                    }
                })
                .build();
        fill(pool);
        final FutureTask<Long> request = new FutureTask<>(() -> pool.allocate(MIB));

        pool.whileThreadsRest(() -> {
            mayEnd.set(true);
            new Thread(request).start();
            LockSupport.parkNanos(100_000_000);
            assertFalse(request.isDone());
            mayEnd.set(false);
        });

        assertTrue(request.get(10, TimeUnit.SECONDS) > 0);
        assertEquals(0, wrong.get());
    }

    /** Nobody waits for what never comes. */
    @Test
    void shouldSayThatThereIsNoMemoryWhenTheDeviceHasEnded() {
        final Pool pool = builder()
                .reuse(ReusePolicy.STRICT, new IdleDevice(true) {
                    @Override
                    public boolean isIdle() {
                        return false;
                    }
                })
                .build();
        fill(pool);

        pool.whileThreadsRest(pool::endThreads);

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(MIB));
    }

    /** With a quarter in limbo: more would be waited for ahead of need. */
    private static void fill(final Pool pool) {
        pool.allocate(3 * MIB);
        pool.free(pool.allocate(MIB));
    }

    /** A program that frees while its kernels run: with the first region alone it would wait 24 times. */
    @Test
    void shouldGrowWhereWaitsTakeMuchOfTheTime() {
        final Pool pool = builder()
                .limitBytes(1L << 30)
                .growInPlace(false)
                .reuse(ReusePolicy.STRICT, new SteadyDevice(20))
                .build();

        for (int i = 0; i < 100; i++) {
            pool.free(pool.allocate(MIB));
        }

        // Eight times what was in use at the peak.
        assertEquals(8 * MIB, pool.statistics().heldBytes());
        assertTrue(pool.statistics().synchronizations() < 16, pool.statistics()::toString);
    }

    @Test
    void shouldNotGrowWhereWaitsAreShort() {
        // The first time, when classes are loaded, may take long.
        shouldSynchroniseOnceForManyFrees();
        final long before = device.synchronizations();
        final Pool pool = builder().limitBytes(1L << 30).growInPlace(false).build();

        for (int i = 0; i < 100; i++) {
            pool.free(pool.allocate(MIB));
        }

        assertEquals(4 * MIB, pool.statistics().heldBytes());
        assertEquals(24, device.synchronizations() - before);
    }

    @Test
    void shouldWaitThoughWaitsAreDearIfItCannotGrow() {
        final Pool pool = Pool.over(new FailingMemorySource(4 * MIB))
                .firstRegionBytes(4 * MIB)
                .reuse(ReusePolicy.STRICT, new SteadyDevice(20))
                .build();
        pool.addOutOfMemoryHandler((bytes, statistics) -> fail("there is memory in limbo"));

        for (int i = 0; i < 20; i++) {
            pool.free(pool.allocate(MIB));
        }

        assertEquals(4 * MIB, pool.statistics().heldBytes());
        assertEquals(4, pool.statistics().synchronizations());
    }

    @Test
    void shouldSynchroniseWhenLimboPassesItsOwnLimit() {
        final Pool pool = builder().limboLimitBytes(512).build();
        pool.free(pool.allocate(512));
        assertEquals(0, device.synchronizations());

        pool.free(pool.allocate(1));

        assertEquals(1, device.synchronizations());
    }

    /** Another thread that goes on freeing made it wait again and again. */
    @Test
    void shouldNotWaitForEverForWhatCannotBeServed() {
        final Pool[] pool = new Pool[1];
        final SteadyDevice busy = new SteadyDevice() {
            @Override
            public boolean synchronize() {
                assertTrue(answers < 10, "it waits again and again");
                // What another thread does meanwhile.
                pool[0].free(pool[0].allocate(256));
                return super.synchronize();
            }
        };
        pool[0] = builder().reuse(ReusePolicy.STRICT, busy).build();
        pool[0].allocate(MIB);
        pool[0].free(pool[0].allocate(MIB));

        assertThrows(DeviceOutOfMemoryException.class, () -> pool[0].allocate(4 * MIB));
    }

    @Test
    void shouldNotWaitForMoreThanItsLimit() {
        final Pool pool = builder().build();
        pool.free(pool.allocate(MIB));

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(4 * MIB + 1));

        assertEquals(0, device.synchronizations());
    }
}
