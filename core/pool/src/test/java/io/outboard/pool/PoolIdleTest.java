package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.VirtualMemorySource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Memory that wasn't needed for some time goes back to the source. */
class PoolIdleTest {

    private static final long MIB = 1L << 20;
    private static final long UNIT = 2 * MIB;

    private final FailingMemorySource source = new FailingMemorySource(256 * MIB).growingInPlace();

    private Pool pool(final long keptBytes) {
        // The period is so long that the pool's own thread does nothing during the test.
        return Pool.over(source)
                .firstRegionBytes(UNIT)
                .keep(Duration.ofDays(1), keptBytes)
                .build();
    }

    @Test
    void shouldGiveBackWhatWasNotNeededSinceTheLastTime() {
        final Pool pool = pool(0);
        final long small = pool.allocate(16 * MIB);
        final long large = pool.allocate(160 * MIB);
        pool.free(large);

        pool.idle.giveBackIdle(pool);
        assertTrue(pool.statistics().heldBytes() >= 176 * MIB, "it was needed");
        pool.idle.giveBackIdle(pool);

        assertEquals(18 * MIB, pool.statistics().heldBytes());
        assertTrue(source.hasMemory(small, 16 * MIB));
    }

    @Test
    void shouldGiveBackFreeUnitsBetweenBlocksInUse() {
        final Pool pool = pool(0);
        final List<Long> blocks = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            blocks.add(pool.allocate(4 * MIB));
        }
        for (int i = 0; i < 32; i += 2) {
            pool.free(blocks.get(i));
        }
        pool.idle.giveBackIdle(pool);

        pool.idle.giveBackIdle(pool);

        assertEquals(72 * MIB, pool.statistics().heldBytes());
    }

    /**
     * Blocks that only wait since nobody has asked the device yet aren't needed. If they counted, a pool that held much
     * would go on to hold half of it, then a quarter.
     */
    @Test
    void shouldGiveBackABurstAtOnceThoughFreesWaitForTheDevice() {
        final Pool pool = Pool.over(new VirtualMemorySource(80L << 30))
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .keep(Duration.ofDays(1), 0)
                .build();
        final Deque<Long> blocks = new ArrayDeque<>();
        for (int i = 0; i < 10_240; i++) {
            blocks.add(pool.allocate(MIB));
        }
        while (blocks.size() > 100) {
            pool.free(blocks.remove());
        }
        pool.idle.giveBackIdle(pool);
        for (int i = 0; i < 20_000; i++) {
            blocks.add(pool.allocate(MIB));
            pool.free(blocks.remove());
        }

        pool.idle.giveBackIdle(pool);

        final long held = pool.statistics().heldBytes();
        assertTrue(held <= 1024 * MIB, () -> "held " + held / MIB + " MiB for 100");
        pool.close();
    }

    @Test
    void shouldKeepWhatItIsTold() {
        final Pool pool = pool(100 * MIB);
        pool.free(pool.allocate(200 * MIB));
        pool.idle.giveBackIdle(pool);

        pool.idle.giveBackIdle(pool);

        assertEquals(100 * MIB, pool.statistics().heldBytes());
    }

    /** The pool keeps the memory, though none of it is in use when the thread looks. */
    @Test
    void shouldMapAndUnmapNothingInASteadyProgram() {
        final Pool pool = pool(0);
        pool.free(pool.allocate(200 * MIB));
        pool.idle.giveBackIdle(pool);
        final long calls = source.calls();
        for (int i = 0; i < 100; i++) {
            pool.free(pool.allocate((190 + i % 10) * MIB));
            pool.idle.giveBackIdle(pool);
        }
        assertEquals(calls, source.calls());
    }

    private Pool strictPool(final DeviceWork device) {
        return Pool.over(source)
                .firstRegionBytes(UNIT)
                .reuse(ReusePolicy.STRICT, device)
                .keep(Duration.ofDays(1), 0)
                .build();
    }

    @Test
    void shouldGiveBackWhatStaysInLimbo() {
        final Pool pool = strictPool(new IdleDevice());
        pool.free(pool.allocate(200 * MIB));
        pool.idle.giveBackIdle(pool);

        pool.idle.giveBackIdle(pool);

        assertEquals(0, pool.statistics().heldBytes());
    }

    /** A block that is in limbo while the next one is allocated needs its memory. */
    @Test
    void shouldKeepWhatLimboNeeds() {
        final Pool pool = strictPool(new SteadyDevice(true));
        long last = pool.allocate(60 * MIB);
        for (int i = 0; i < 30; i++) {
            for (int j = 0; j < 100; j++) {
                pool.free(last);
                last = pool.allocate(60 * MIB);
            }
            pool.idle.giveBackIdle(pool);
            assertTrue(
                    pool.statistics().heldBytes() >= 120 * MIB,
                    pool.statistics().toString());
        }
    }

    @Test
    void shouldDoSoByItself() throws InterruptedException {
        try (Pool pool = Pool.over(source).keep(Duration.ofMillis(20), 0).build()) {
            pool.free(pool.allocate(200 * MIB));
            awaitHeld(pool, 0);
            assertTrue(pool.allocate(200 * MIB) > 0);
        }
        assertEquals(256 * MIB, source.availableBytes());
    }

    private void awaitHeld(final Pool pool, final long bytes) throws InterruptedException {
        for (int i = 0; i < 3000 && pool.statistics().heldBytes() != bytes; i++) {
            Thread.sleep(10);
        }
        assertEquals(bytes, pool.statistics().heldBytes());
    }

    /** A thread that gave memory back would use a context that may be destroyed at that moment. */
    @Test
    void shouldKeepOffADeviceThatMayEnd() throws InterruptedException {
        final Set<Thread> before = idleThreads();
        final Pool pool = Pool.over(source).keep(Duration.ofMillis(5), 0).build();

        pool.idle.whileResting(() -> {
            pool.free(pool.allocate(200 * MIB));
            LockSupport.parkNanos(100_000_000);
            assertEquals(200 * MIB, pool.statistics().heldBytes());
        });
        awaitHeld(pool, 0);
        assertThrows(
                IllegalStateException.class,
                () -> pool.idle.whileResting(() -> {
                    throw new IllegalStateException("as told");
                }));
        pool.free(pool.allocate(200 * MIB));
        awaitHeld(pool, 0);
        pool.idle.whileResting(() -> {
            pool.idle.whileResting(pool.idle::sourceEnded);
            pool.idle.sourceEnded();
        });

        pool.free(pool.allocate(200 * MIB));
        awaitNoMoreIdleThreadsThan(before);
        assertEquals(200 * MIB, pool.statistics().heldBytes());
    }

    @Test
    void shouldWaitForAThreadThatUsesTheDevice() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final AtomicBoolean working = new AtomicBoolean();
        final Pool pool = Pool.over(source)
                .reuse(ReusePolicy.STRICT, new IdleDevice() {
                    @Override
                    public long mark() {
                        working.set(true);
                        entered.countDown();
                        LockSupport.parkNanos(100_000_000);
                        working.set(false);
                        return 0;
                    }
                })
                .keep(Duration.ofMillis(5), 0)
                .build();
        pool.free(pool.allocate(200 * MIB));
        assertTrue(entered.await(10, TimeUnit.SECONDS));

        pool.idle.whileResting(() -> assertFalse(working.get()));
        pool.idle.sourceEnded();
    }

    /** The first attempt fails, and is reported. */
    @Test
    void shouldTryAgain() throws InterruptedException {
        try (Warnings warnings = new Warnings();
                Pool pool = Pool.over(source).keep(Duration.ofMillis(20), 0).build()) {
            final long address = pool.allocate(200 * MIB);
            source.failAt(1, () -> new IllegalStateException("as told"));
            pool.free(address);
            awaitHeld(pool, 0);
            assertEquals(
                    "unnamed pool: idle memory could not be given back",
                    warnings.records().remove().getMessage());
        }
    }

    @Test
    void shouldRefuseWhatIsOutsideOfItsRange() {
        final PoolBuilder builder = Pool.over(source);
        assertThrows(IllegalArgumentException.class, () -> builder.keep(Duration.ofNanos(999_999), 0));
        assertThrows(IllegalArgumentException.class, () -> builder.keep(Duration.ofDays(1001), 0));
        assertThrows(IllegalArgumentException.class, () -> builder.keep(Duration.ofDays(1), -1));
    }

    private static Set<Thread> idleThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("outboard-idle"))
                .collect(Collectors.toSet());
    }

    /** Waits until idle threads have ended. An interrupted thread ends soon; threads of other pools may end, too. */
    private static void awaitNoMoreIdleThreadsThan(final Set<Thread> before) throws InterruptedException {
        for (int i = 0; i < 1000 && !before.containsAll(idleThreads()); i++) {
            Thread.sleep(10);
        }
        assertTrue(before.containsAll(idleThreads()));
    }

    @Test
    void shouldLeaveNoThreadIfItIsNotBuilt() throws InterruptedException {
        final Set<Thread> before = idleThreads();
        final Pool pool = Pool.over(source).name("twice").build();
        assertThrows(
                IllegalStateException.class,
                () -> Pool.over(source)
                        .name("twice")
                        .keep(Duration.ofDays(1), 0)
                        .build());
        awaitNoMoreIdleThreadsThan(before);
        pool.close();
    }

    @Test
    void shouldNotWaitForTheDeviceInVain() {
        final Pool pool = Pool.over(source)
                .firstRegionBytes(UNIT)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .keep(Duration.ofDays(1), 0)
                .build();
        final List<Long> blocks = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            blocks.add(pool.allocate(MIB));
        }
        for (int i = 0; i < 200; i += 2) {
            pool.free(blocks.get(i));
        }
        pool.idle.giveBackIdle(pool);
        pool.idle.giveBackIdle(pool);
        final PoolStatistics before = pool.statistics();
        pool.idle.giveBackIdle(pool);
        assertEquals(before.heldBytes(), pool.statistics().heldBytes());
        assertEquals(before.synchronizations(), pool.statistics().synchronizations());
    }

    /** A library beside the pool takes memory, so there is less left than there should be. */
    @Test
    void shouldGiveBackWhenTheDeviceHasLittle() {
        final Pool pool = Pool.over(source)
                .firstRegionBytes(UNIT)
                .leave(64 * MIB)
                .keep(Duration.ofDays(1), 16 * MIB)
                .build();
        // The pool's own thread is ended, so that it doesn't interfere.
        pool.idle.end();
        final long live = pool.allocate(20 * MIB);
        pool.free(pool.allocate(150 * MIB));
        pool.idle.giveBackUnderPressure(pool);
        assertEquals(170 * MIB, pool.statistics().heldBytes(), "the device has enough");

        final Region others = source.take(60 * MIB);
        pool.idle.giveBackUnderPressure(pool);
        assertEquals(132 * MIB, pool.statistics().heldBytes());
        assertEquals(64 * MIB, source.availableBytes());

        final Region more = source.take(64 * MIB);
        pool.idle.giveBackUnderPressure(pool);
        assertEquals(68 * MIB, pool.statistics().heldBytes());
        source.take(64 * MIB);
        pool.idle.giveBackUnderPressure(pool);
        assertEquals(20 * MIB, pool.statistics().heldBytes(), "what is in use stays");
        assertTrue(source.hasMemory(live, 20 * MIB));
        source.giveBack(others);
        source.giveBack(more);
        assertThrows(IllegalArgumentException.class, () -> Pool.over(source).leave(0));
    }

    @Test
    void shouldWatchTheDeviceByItself() throws InterruptedException {
        try (Pool pool = Pool.over(source).leave(200 * MIB).build()) {
            pool.free(pool.allocate(200 * MIB));
            for (int i = 0; i < 3000 && source.availableBytes() < 200 * MIB; i++) {
                Thread.sleep(10);
            }
            assertTrue(source.availableBytes() >= 200 * MIB);
        }
    }

    /** Without a pause, there would be ten warnings a second. */
    @Test
    void shouldPauseWhenItFails() {
        final Pool pool =
                Pool.over(source).firstRegionBytes(UNIT).leave(200 * MIB).build();
        // The pool's own thread is ended, so that it doesn't interfere.
        pool.idle.end();
        pool.free(pool.allocate(200 * MIB));
        source.failAt(1, () -> new IllegalStateException("as told"));
        assertThrows(IllegalStateException.class, () -> pool.idle.giveBackUnderPressure(pool));
        final long calls = source.calls();

        pool.idle.giveBackUnderPressure(pool);
        assertEquals(calls, source.calls());
        pool.idle.giveBackUnderPressure(pool);

        assertEquals(200 * MIB, source.availableBytes());
    }
}
