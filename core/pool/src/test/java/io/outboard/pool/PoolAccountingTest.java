package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Effort;
import io.outboard.core.VirtualMemorySource;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests say what a pool reports to hold, and what it takes. */
@Timeout(60)
class PoolAccountingTest {

    private static final long MIB = 1L << 20;

    /** What was in use when the pool was closed used to count as given back. */
    @ParameterizedTest
    @CsvSource({"STRICT, 0", "STRICT, 2", "IMMEDIATE, 2", "STREAM_ORDERED, 2"})
    void shouldHoldNothingOnceItIsClosed(final ReusePolicy policy, final int arenas) throws Exception {
        final Pool pool = Pool.over(new VirtualMemorySource())
                .reuse(policy, new IdleDevice())
                .spread(arenas)
                .build();
        for (int arena = 0; arena < 2; arena++) {
            final List<Long> blocks = ArenaThreads.call(arena, () -> {
                final List<Long> some = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    some.add(pool.allocate(8192));
                    some.add(pool.allocate(3 * MIB));
                }
                return some;
            });
            blocks.subList(0, 10).forEach(pool::free);
        }

        pool.close();

        final PoolStatistics statistics = pool.statistics();
        assertEquals(0, statistics.regions(), statistics::toString);
        assertEquals(0, statistics.heldBytes(), statistics::toString);
        assertEquals(0, statistics.usedBytes(), statistics::toString);
        assertEquals(0, statistics.limboBytes(), statistics::toString);
        assertEquals(0, statistics.liveBlocks(), statistics::toString);
    }

    /** A pool used to report 1.37 MiB in use, but no live block. */
    @ParameterizedTest
    @EnumSource(names = {"STRICT", "IMMEDIATE"})
    void shouldNeverSayThatNothingIsInUseWhileSomethingIs(final ReusePolicy policy) throws Exception {
        final Pool pool = Pool.over(new VirtualMemorySource())
                .reuse(policy, new IdleDevice())
                .spread(4)
                .build();
        final long kept = pool.allocate(4096);
        final AtomicBoolean over = new AtomicBoolean();
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final List<Thread> threads = new ArrayList<>();
        for (int pair = 0; pair < 2; pair++) {
            final Exchanger<List<Long>> exchanger = new Exchanger<>();
            for (int i = 0; i < 2; i++) {
                final Thread thread = new Thread(() -> allocateForOthers(pool, exchanger, over));
                thread.setUncaughtExceptionHandler((failed, e) -> failure.compareAndSet(null, e));
                threads.add(thread);
            }
        }
        threads.forEach(Thread::start);

        final long end = System.nanoTime() + Effort.nanoseconds(2000);
        while (System.nanoTime() < end) {
            final PoolStatistics statistics = pool.statistics();
            assertTrue(statistics.liveBlocks() >= 1, statistics::toString);
            assertTrue(statistics.usedBytes() >= 4096, statistics::toString);
        }
        over.set(true);
        for (final Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }

        assertNull(failure.get());
        pool.free(kept);
        assertEquals(0, pool.trimTo(0));
        pool.close();
    }

    /**
     * Only a part of the peak of eight threads used to be found, since the pool looked for the peak only now and then.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void shouldKnowThePeakOfSeveralThreads(final int arenas) throws Exception {
        for (int round = 0; round < 20; round++) {
            try (Pool pool = Pool.over(new VirtualMemorySource(1L << 36))
                    .reuse(ReusePolicy.STRICT, new IdleDevice())
                    .spread(arenas)
                    .build()) {
                final CyclicBarrier allThere = new CyclicBarrier(8);
                final List<FutureTask<Void>> tasks = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    final FutureTask<Void> task = new FutureTask<>(() -> {
                        final long block = pool.allocate(55 * MIB);
                        allThere.await();
                        pool.free(block);
                        return null;
                    });
                    tasks.add(task);
                    new Thread(task).start();
                }
                for (final FutureTask<Void> task : tasks) {
                    task.get();
                }

                assertEquals(8 * 55 * MIB, pool.statistics().peakUsedBytes());
            }
        }
    }

    /** Allocates blocks for another thread, and frees those that the other has allocated. */
    private static void allocateForOthers(
            final Pool pool, final Exchanger<List<Long>> exchanger, final AtomicBoolean over) {
        while (!over.get()) {
            List<Long> blocks = new ArrayList<>();
            for (int i = 0; i < 128; i++) {
                blocks.add(pool.allocate(4096));
            }
            try {
                blocks = exchanger.exchange(blocks);
            } catch (final InterruptedException e) {
                // The other thread has ended, so this thread frees its own blocks.
            }
            blocks.forEach(pool::free);
        }
    }

    /** Limbo that is looked at twice may have been filled and emptied in between. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4})
    void shouldNotGrowWhileTheDeviceIsIdleAndThereIsRoom(final int arenas) throws Exception {
        final Pool pool = Pool.over(new VirtualMemorySource(64L << 30))
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .growInPlace(false)
                .firstRegionBytes(64 * MIB)
                .limitBytes(16L << 30)
                .slackBytes(16 * MIB)
                .spread(arenas)
                .build();
        final long end = System.nanoTime() + Effort.nanoseconds(1600);
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(new Thread(() -> {
                final long[] blocks = new long[4];
                while (System.nanoTime() < end) {
                    for (int k = 0; k < blocks.length; k++) {
                        blocks[k] = pool.allocate(MIB);
                    }
                    for (final long block : blocks) {
                        pool.free(block);
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (final Thread thread : threads) {
            thread.join();
        }

        final PoolStatistics statistics = pool.statistics();
        // Each arena has a first region at most.
        assertTrue(statistics.heldBytes() <= pool.arenas.count() * 64L * MIB, statistics::toString);
        assertEquals(0, pool.trimTo(0));
        pool.close();
    }

    /** A region of all existing addresses used to take four seconds, for tables that nobody needs. */
    @Test
    void shouldBeginSoonOverASourceWithoutLimit() {
        final com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        final Pool pool =
                Pool.over(new VirtualMemorySource()).strategy("bitmask").build();
        final long before = threads.getCurrentThreadAllocatedBytes();
        final long begin = threads.getCurrentThreadCpuTime();

        pool.allocate(256);

        final long milliseconds = (threads.getCurrentThreadCpuTime() - begin) / 1_000_000;
        final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(milliseconds < 1000, () -> milliseconds + " ms, " + bytes + " bytes");
        pool.close();
    }
}
