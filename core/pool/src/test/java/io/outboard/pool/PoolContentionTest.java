package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Effort;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads that contend get arenas of their own, though nothing here spreads them. The machine decides how soon threads
 * contend, so they go on until they do, for a limited time.
 */
@Timeout(120)
class PoolContentionTest {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(20);
    private static final long NANOSECONDS = Effort.nanoseconds(2000);

    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private static PoolBuilder builder(final ReusePolicy policy) {
        return Pool.over(new VirtualMemorySource(64 * GIB))
                .reuse(policy, new IdleDevice())
                .firstRegionBytes(16 * MIB)
                .limitBytes(16 * GIB);
    }

    private void run(final int threads, final Runnable task) throws InterruptedException {
        final List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(new Thread(() -> {
                try {
                    task.run();
                } catch (final RuntimeException | Error e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        all.forEach(Thread::start);
        for (final Thread thread : all) {
            thread.join();
        }
        assertNull(failure.get(), () -> String.valueOf(failure.get()));
    }

    /** Allocates and frees until there are {@code arenas} arenas, or the time is over. */
    private static void contend(final Pool pool, final int arenas, final long sizeBytes) {
        final long end = System.nanoTime() + PATIENCE;
        final long[] blocks = new long[16];
        while (pool.arenas.count() < arenas && System.nanoTime() < end) {
            for (int round = 0; round < 64; round++) {
                for (int i = 0; i < blocks.length; i++) {
                    blocks[i] = pool.allocate(sizeBytes);
                }
                for (final long block : blocks) {
                    pool.free(block);
                }
            }
        }
    }

    private static void end(final Pool pool) {
        final PoolStatistics statistics = pool.statistics();
        assertEquals(0, statistics.usedBytes(), statistics::toString);
        assertEquals(0, statistics.liveBlocks(), statistics::toString);
        assertEquals(0, pool.trimTo(0));
        pool.close();
    }

    /** Sixteen threads with megabyte blocks used to meet at one lock, since only the first arena had such blocks. */
    @ParameterizedTest
    @CsvSource({"STRICT, 256", "STRICT, 1048576", "IMMEDIATE, 256", "IMMEDIATE, 1048576", "STREAM_ORDERED, 65536"})
    void shouldGiveThreadsThatContendArenasOfTheirOwn(final ReusePolicy policy, final long sizeBytes) throws Exception {
        final Pool pool = builder(policy).build();
        assertEquals(1, pool.arenas.count());

        run(8, () -> contend(pool, 2, sizeBytes));

        assertTrue(pool.arenas.count() >= 2, "a second arena");
        assertTrue(pool.arenas.count() <= 1 + Runtime.getRuntime().availableProcessors(), "no more than run at once");
        end(pool);
    }

    /** A thread gets memory of its own arena, so threads of different arenas don't meet in one region. */
    @Test
    void shouldServeThemFromRegionsOfTheirOwn() throws Exception {
        final Pool pool = builder(ReusePolicy.STRICT).build();
        run(8, () -> contend(pool, 2, MIB));

        final Set<Long> regions = new HashSet<>();
        final long end = System.nanoTime() + PATIENCE;
        while (regions.size() < 2 && System.nanoTime() < end) {
            run(4, () -> {
                final long block = pool.allocate(MIB);
                pool.forEachBlock((address, sizeBytes, free) -> {});
                synchronized (regions) {
                    regions.add(block >>> 32);
                }
                pool.free(block);
            });
        }

        assertTrue(pool.statistics().regions() >= 2 || regions.size() >= 2, pool.statistics()::toString);
        end(pool);
    }

    /** A single thread never contends, however much it does. */
    @Test
    void shouldKeepOneArenaForOneThread() {
        final Pool pool = builder(ReusePolicy.STRICT).build();
        for (int i = 0; i < 100_000; i++) {
            pool.free(pool.allocate(4096));
        }

        assertEquals(1, pool.arenas.count());
        end(pool);
    }

    /** One thread allocates and another frees. Each block comes back to its arena, once. */
    @ParameterizedTest
    @EnumSource
    void shouldLoseNothingThatOthersFree(final ReusePolicy policy) throws Exception {
        final Pool pool = builder(policy).limitBytes(512 * MIB).build();
        run(8, () -> contend(pool, 2, 256));
        final int pairs = 4;
        final long end = System.nanoTime() + NANOSECONDS;
        final AtomicLong freed = new AtomicLong();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < pairs; i++) {
            final BlockingQueue<Long> queue = new ArrayBlockingQueue<>(256);
            final SplittableRandom random = new SplittableRandom(i);
            threads.add(new Thread(() -> produce(pool, queue, random, end)));
            threads.add(new Thread(() -> consume(pool, queue, freed)));
        }
        threads.forEach(Thread::start);
        for (final Thread thread : threads) {
            thread.join();
        }

        assertNull(failure.get(), () -> String.valueOf(failure.get()));
        assertTrue(freed.get() > 1000, freed::toString);
        final PoolStatistics statistics = pool.statistics();
        assertTrue(statistics.allocations() >= freed.get(), statistics::toString);
        end(pool);
    }

    private void produce(
            final Pool pool, final BlockingQueue<Long> queue, final SplittableRandom random, final long end) {
        try {
            // On a busy machine, the time may be over before anything has happened.
            for (int round = 0; (round < 10 || System.nanoTime() < end) && failure.get() == null; round++) {
                for (int i = 0; i < 100; i++) {
                    queue.put(pool.allocate(1 + random.nextLong(64 << 10)));
                }
            }
        } catch (final RuntimeException | Error | InterruptedException e) {
            failure.compareAndSet(null, e);
        } finally {
            offerLast(queue);
        }
    }

    private static void offerLast(final BlockingQueue<Long> queue) {
        boolean offered = false;
        while (!offered) {
            offered = queue.offer(-1L);
        }
    }

    private void consume(final Pool pool, final BlockingQueue<Long> queue, final AtomicLong freed) {
        try {
            long count = 0;
            for (long block = queue.take(); block != -1; block = queue.take()) {
                pool.free(block);
                count++;
            }
            freed.addAndGet(count);
        } catch (final RuntimeException | Error | InterruptedException e) {
            failure.compareAndSet(null, e);
        }
    }

    /** The whole pool has one slack, rather than each arena. The first version held 37 GiB with 11 GiB in use. */
    @ParameterizedTest
    @CsvSource({"4, 4096", "16, 4096", "16, 1048576", "8, 16777216"})
    void shouldHoldNoMoreWithManyThreads(final int threads, final long sizeBytes) throws Exception {
        final BusyDevice device = new BusyDevice(4, 64, 40_000);
        final long slackBytes = 32 * MIB;
        final long limitBytes = 4 * GIB;
        final Pool pool = builder(ReusePolicy.STRICT)
                .reuse(ReusePolicy.STRICT, device)
                .limitBytes(limitBytes)
                .slackBytes(slackBytes)
                .build();
        final long end = System.nanoTime() + NANOSECONDS;

        run(threads, () -> {
            final SplittableRandom random = new SplittableRandom();
            final long[] blocks = new long[4];
            while (System.nanoTime() < end) {
                for (int i = 0; i < blocks.length; i++) {
                    blocks[i] = pool.allocate(sizeBytes - random.nextLong(sizeBytes / 2));
                }
                device.launch(random.nextInt(4));
                for (final long block : blocks) {
                    pool.free(block);
                }
            }
        });

        final PoolStatistics statistics = pool.statistics();
        // The request counts as in use.
        final long peakBytes = statistics.peakUsedBytes() + sizeBytes;
        final long boundBytes = Math.max(2 * peakBytes + slackBytes, limitBytes / 8);
        // One more step is allowed: a region that the request needs, or as much as is held at first.
        final long stepBytes = Math.max(16 * MIB, sizeBytes);
        assertTrue(statistics.heldBytes() <= boundBytes + stepBytes, statistics::toString);
        device.close();
        end(pool);
        assertEquals(0, device.marksOut());
    }

    /** Two threads free one block, and one of them is refused, whatever arenas the threads have. */
    @Test
    void shouldRefuseASecondFreeWhicheverThreadsDoIt() throws Exception {
        final Pool pool = builder(ReusePolicy.STRICT).build();
        run(8, () -> contend(pool, 2, 256));
        final AtomicLong refused = new AtomicLong();
        final int blocks = 2000;
        final long[] addresses = new long[blocks];
        for (int i = 0; i < blocks; i++) {
            addresses[i] = pool.allocate(512);
        }

        run(4, () -> {
            for (final long address : addresses) {
                try {
                    pool.free(address);
                } catch (final InvalidAddressException e) {
                    refused.incrementAndGet();
                }
            }
        });

        assertEquals(3 * blocks, refused.get());
        end(pool);
    }
}
