package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Effort;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.VirtualMemorySource;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads meet in a pool at moments that are hard to hit. */
@Timeout(60)
class PoolRacesTest {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    @TempDir
    Path folder;

    /** This device is busy until it is told to end. */
    private static final class EndlessDevice extends IdleDevice {

        final CountDownLatch end = new CountDownLatch(1);

        @Override
        public boolean isFinished(final long mark) {
            return end.getCount() == 0;
        }

        @Override
        public void await(final long mark) {
            try {
                end.await();
            } catch (final InterruptedException e) {
                throw new IllegalStateException("nobody interrupts", e);
            }
        }
    }

    /** This device is idle, but only says so when another thread has begun to wait. */
    private static final class HesitantDevice extends IdleDevice {

        final CountDownLatch asked = new CountDownLatch(1);
        private final Thread waiter;

        HesitantDevice(final Thread waiter) {
            this.waiter = waiter;
        }

        @Override
        public boolean isFinished(final long mark) {
            if (Thread.currentThread() != waiter) {
                asked.countDown();
                // The other thread may also spin while it waits, so this loop has a time limit.
                final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
                while (isOnItsWay(waiter) && System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
            }
            return true;
        }
    }

    /** While one thread is told that memory is free, another tries to take the memory, and to free it again. */
    private static final class OvertakenDevice extends IdleDevice {

        final List<Thread> others = new ArrayList<>();

        /** Whether the first request is served; like the other fields, it is only for the first thread. */
        boolean served;

        private final Thread first = Thread.currentThread();
        private final Runnable other;

        OvertakenDevice(final Runnable other) {
            this.other = other;
        }

        @Override
        public void release(final long mark) {
            if (Thread.currentThread() == first && !served) {
                final Thread thread = new Thread(other);
                others.add(thread);
                thread.start();
                // The other thread may also spin while it waits, so this loop has a time limit.
                final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
                while (thread.getState() == Thread.State.RUNNABLE && System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    private static boolean isOnItsWay(final Thread thread) {
        return thread.getState() == Thread.State.NEW || thread.getState() == Thread.State.RUNNABLE;
    }

    @AfterEach
    void tellNobody() {
        ProbingProvider.tellNobody();
    }

    private static PoolBuilder over(final long bytes, final long regionBytes) {
        return Pool.over(new VirtualMemorySource(bytes)).growInPlace(false).firstRegionBytes(regionBytes);
    }

    /** A block is freed twice, the second time just when a new region is made at its address. */
    @Test
    void shouldRefuseToFreeWhatIsInARegionThatNobodyFindsYet() {
        final Pool pool = over(64 * MIB, 64 * MIB)
                .spread(1)
                .strategy(ProbingProvider.NAME)
                .build();
        final long own = pool.allocate(32 * MIB, MIB);
        pool.free(own);
        assertEquals(0, pool.trimTo(0));
        final AtomicLong refused = new AtomicLong();
        ProbingProvider.tell(region -> {
            assertThrows(InvalidAddressException.class, () -> pool.free(own));
            assertThrows(InvalidAddressException.class, () -> pool.free(region.address()));
            refused.incrementAndGet();
        });

        final long small = pool.allocate(256);

        assertTrue(refused.get() > 0);
        final long large = pool.allocate(32 * MIB);
        assertTrue(small < large || small >= large + 32 * MIB, "handed out twice");
        pool.close();
    }

    /** When the requests have waited, the regions are gone. */
    @Test
    void shouldTellWhoWaitsThatThePoolWasClosed() throws InterruptedException {
        final Set<Class<?>> thrown = ConcurrentHashMap.newKeySet();

        for (int round = 0; round < 30; round++) {
            closeWhileOthersWait(thrown);
        }

        // A request that finds memory before the regions are gone is served.
        thrown.remove(IllegalStateException.class);
        assertEquals(Set.of(), thrown);
    }

    private static void closeWhileOthersWait(final Set<Class<?>> thrown) throws InterruptedException {
        final EndlessDevice device = new EndlessDevice();
        final Pool pool =
                over(64 * MIB, 64 * MIB).reuse(ReusePolicy.STRICT, device).build();
        pool.free(pool.allocate(40 * MIB));
        final Thread[] threads = new Thread[5];
        for (int i = 0; i < threads.length; i++) {
            final boolean closes = i == threads.length - 1;
            threads[i] = new Thread(() -> {
                try {
                    if (closes) {
                        pool.close();
                    } else {
                        pool.allocate(40 * MIB);
                    }
                } catch (final Throwable e) {
                    thrown.add(e.getClass());
                }
            });
            threads[i].start();
            while (closes ? !pool.isClosed() : isOnItsWay(threads[i])) {
                Thread.onSpinWait();
            }
        }
        device.end.countDown();
        for (final Thread thread : threads) {
            thread.join();
        }
        assertThrows(IllegalStateException.class, () -> pool.allocate(256));
    }

    /** A block that was freed just after its region was gone used to be counted, and a dump failed. */
    @Tag("thorough")
    @ParameterizedTest
    @EnumSource(names = {"STRICT", "IMMEDIATE", "STREAM_ORDERED"})
    void shouldHoldNothingThoughOthersFreeWhileItIsClosed(final ReusePolicy policy) throws Exception {
        for (int round = 0; round < Effort.tries(400); round++) {
            final Pool pool = over(GIB, GIB)
                    .spread(2)
                    .reuse(policy, new IdleDevice())
                    .growInPlace(false)
                    .build();
            final long[][] blocks = {blocksOf(pool, 0), blocksOf(pool, 1)};
            final FutureTask<Boolean> freeing = new FutureTask<>(() -> {
                try {
                    for (int i = 0; i < blocks[0].length; i++) {
                        pool.freeAsync(blocks[0][i], i & 3);
                        pool.free(blocks[1][i]);
                    }
                } catch (final IllegalStateException e) {
                    assertEquals("the pool is closed", e.getMessage());
                }
                return true;
            });
            ArenaThreads.start(0, freeing);
            while (pool.statistics().liveBlocks() == 2L * blocks[0].length) {
                Thread.onSpinWait();
            }
            pool.close();
            freeing.get();

            final PoolStatistics statistics = pool.statistics();
            assertEquals(0, statistics.usedBytes(), statistics::toString);
            assertEquals(0, statistics.limboBytes(), statistics::toString);
            assertEquals(0, statistics.liveBlocks(), statistics::toString);
            pool.forEachBlock((address, sizeBytes, free) -> fail("a block at " + address));
            pool.dump(folder.resolve("dump"));
        }
    }

    private static long[] blocksOf(final Pool pool, final int arena) throws Exception {
        return ArenaThreads.call(arena, () -> {
            final long[] blocks = new long[10_000];
            for (int i = 0; i < blocks.length; i++) {
                blocks[i] = pool.allocate(256);
            }
            return blocks;
        });
    }

    /** Once a pool is closed, it shows that it is empty. Callers used to be told that it is closed. */
    @Tag("thorough")
    @Test
    void shouldShowWhoLooksThatItIsEmptyWhileItIsClosed() throws Exception {
        for (int round = 0; round < Effort.tries(20_000); round++) {
            final Pool pool = over(GIB, 4 * MIB).growInPlace(false).spread(2).build();
            pool.free(pool.allocate(256));
            final CountDownLatch looking = new CountDownLatch(1);
            final FutureTask<Long> look = new FutureTask<>(() -> {
                long largest;
                do {
                    largest = pool.largestFreeBlockBytes();
                    looking.countDown();
                } while (largest > 0);
                return largest;
            });
            ArenaThreads.start(0, look);
            looking.await();

            pool.close();

            assertEquals(0, look.get());
        }
    }

    /**
     * One thread allocates, another frees. Freed blocks are on their way first, and in limbo when they have arrived.
     */
    @Test
    void shouldRecycleWhenLimboIsFullOfWhatOtherThreadsFreed() throws Exception {
        final Pool pool = over(GIB, 512 * MIB)
                .spread(2)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .limboLimitBytes(2 * MIB)
                .build();
        pool.free(pool.allocate(256));
        final int blocks = 10_000;
        final SynchronousQueue<Long> queue = new SynchronousQueue<>();
        final FutureTask<Long> freeing = new FutureTask<>(() -> {
            long most = 0;
            for (int i = 0; i < blocks; i++) {
                pool.free(queue.take());
                most = Math.max(most, pool.statistics().limboBytes());
            }
            return most;
        });
        ArenaThreads.start(1, freeing);

        ArenaThreads.call(0, () -> {
            for (int i = 0; i < blocks; i++) {
                queue.put(pool.allocate(8192));
            }
            return blocks;
        });

        final long most = freeing.get();
        assertTrue(most <= 4 * MIB, () -> most + " bytes in limbo");
        pool.close();
    }

    /** For a moment, another thread is recycling all that is in limbo. */
    @Test
    void shouldWaitForWhatAnotherThreadRecyclesAlone() throws Exception {
        final Pool[] pool = new Pool[1];
        final FutureTask<Long> second = new FutureTask<>(() -> pool[0].allocate(20 * MIB));
        final Thread waiter = new Thread(second);
        final HesitantDevice device = new HesitantDevice(waiter);
        pool[0] = over(64 * MIB, 64 * MIB).reuse(ReusePolicy.STRICT, device).build();
        final long[] blocks = {pool[0].allocate(20 * MIB), pool[0].allocate(20 * MIB), pool[0].allocate(20 * MIB)};
        pool[0].free(blocks[0]);
        pool[0].free(blocks[1]);
        final FutureTask<Long> first = new FutureTask<>(() -> pool[0].allocate(20 * MIB));
        new Thread(first).start();
        assertTrue(device.asked.await(20, TimeUnit.SECONDS));

        waiter.start();

        assertNotEquals(first.get(), second.get());
        pool[0].close();
    }

    /**
     * What had come back used to be free before the thread that had recycled it placed its request. Other threads took
     * it, time after time.
     */
    @ParameterizedTest
    @EnumSource(names = {"TRACKED", "STREAM_ORDERED"})
    void shouldServeWhoRecyclesBeforeOthers(final ReusePolicy policy) throws InterruptedException {
        final Pool[] pool = new Pool[1];
        final OvertakenDevice device = new OvertakenDevice(() -> {
            try {
                pool[0].free(pool[0].allocate(40 * MIB));
            } catch (final DeviceOutOfMemoryException e) {
                // The memory is in use by now.
            }
        });
        pool[0] = over(64 * MIB, 64 * MIB).reuse(policy, device).build();
        final long block = pool[0].allocate(40 * MIB);
        pool[0].free(block);

        assertEquals(block, pool[0].allocate(40 * MIB));

        device.served = true;
        assertFalse(device.others.isEmpty());
        for (final Thread thread : device.others) {
            thread.join();
        }
        pool[0].free(block);
        pool[0].close();
    }

    /** Batches are used again, but must not keep what was in them. */
    @Test
    void shouldForgetChunksThatAreGone() throws Exception {
        final Queue<WeakReference<Region>> made = new ConcurrentLinkedQueue<>();
        ProbingProvider.tell(region -> made.add(new WeakReference<>(region)));
        final Pool pool =
                over(64 * GIB, GIB).spread(2).strategy(ProbingProvider.NAME).build();
        pool.free(pool.allocate(256));
        final long[] blocks = ArenaThreads.call(0, () -> {
            final long[] addresses = new long[6400];
            for (int i = 0; i < addresses.length; i++) {
                addresses[i] = pool.allocate(100 << 10);
            }
            return addresses;
        });
        ArenaThreads.call(1, () -> {
            for (final long address : blocks) {
                pool.free(address);
            }
            return blocks.length;
        });

        assertEquals(0, pool.trimTo(0));

        assertFalse(made.isEmpty());
        final long begin = System.nanoTime();
        while (made.stream().anyMatch(region -> region.get() != null)
                && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(20)) {
            System.gc();
        }
        assertEquals(0, made.stream().filter(region -> region.get() != null).count());
        pool.close();
    }
}
