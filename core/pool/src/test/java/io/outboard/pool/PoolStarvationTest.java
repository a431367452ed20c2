package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Effort;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Threads allocate and free as fast as they can, with ten MiB live each, in blocks of up to a MiB. If one thread waits
 * for memory, and another takes it, the first must neither make the pool grow nor fail.
 */
class PoolStarvationTest {

    private static final long MIB = 1L << 20;
    private static final long NANOSECONDS = Effort.nanoseconds(1500);
    private static final int ROUNDS = 10;

    /** This device seldom says that it has finished, but does so in the end, or a thread would wait forever. */
    private static final class SlowDevice extends IdleDevice {

        private final AtomicLong marks = new AtomicLong();
        private final AtomicLong questions = new AtomicLong();
        private final AtomicLong finished = new AtomicLong(-1);

        @Override
        public long mark() {
            return marks.getAndIncrement();
        }

        @Override
        public boolean isFinished(final long mark) {
            if (questions.incrementAndGet() % 16 == 0) {
                await(mark);
            }
            return mark <= finished.get();
        }

        @Override
        public void await(final long mark) {
            finished.accumulateAndGet(mark, Math::max);
        }
    }

    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /**
     * The pool used to hold 100 GiB after four seconds. It held 40 to 80 GiB as long as a request took the lock twice:
     * once to take what came back, and once to be placed.
     */
    @ParameterizedTest
    @CsvSource({"STRICT, 2, 0", "STRICT, 2, 2", "STRICT, 8, 4", "TRACKED, 4, 0", "TRACKED, 4, 3", "STREAM_ORDERED, 4, 2"
    })
    void shouldGrowByARegionForEachArenaAtMost(final ReusePolicy policy, final int threads, final int arenas)
            throws InterruptedException {
        final Pool pool = builder(policy, arenas)
                .firstRegionBytes(1126 * MIB)
                .limitBytes(100L << 30)
                .build();

        run(pool, threads);

        assertNull(failure.get(), () -> String.valueOf(failure.get()));
        final long mostArenas = Math.max(arenas, 1 + Runtime.getRuntime().availableProcessors());
        assertTrue(pool.statistics().heldBytes() <= (1126 + mostArenas * 64) * MIB, pool.statistics()::toString);
        end(pool);
    }

    @ParameterizedTest
    @CsvSource({"STRICT, 0", "STRICT, 4", "TRACKED, 0", "TRACKED, 4", "IMMEDIATE, 4"})
    void shouldNotRunOutOfMemoryThatIsInLimbo(final ReusePolicy policy, final int arenas) throws InterruptedException {
        final Pool pool = builder(policy, arenas)
                .firstRegionBytes(800 * MIB)
                .limitBytes(800 * MIB)
                .build();

        run(pool, 8);

        assertNull(failure.get(), () -> String.valueOf(failure.get()));
        end(pool);
    }

    /**
     * While the device is busy, the pool may grow up to its bound. A thread that had decided to grow, and then waited
     * while another grew, used to double what the other had made. In 600 short pools, fifteen held too much. Pools are
     * short since most grow soon.
     */
    @Test
    void shouldStayWithinItsBoundWhileTheDeviceIsBusy() throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            final SlowDevice device = new SlowDevice();
            final Pool pool = Pool.over(new VirtualMemorySource(100L << 30))
                    .reuse(ReusePolicy.STRICT, device)
                    .growInPlace(false)
                    .firstRegionBytes(16 * MIB)
                    .limitBytes(512 * MIB)
                    .slackBytes(16 * MIB)
                    .build();

            run(pool, 2, NANOSECONDS / ROUNDS);

            assertNull(failure.get(), () -> String.valueOf(failure.get()));
            final PoolStatistics statistics = pool.statistics();
            final long boundBytes = Math.max(2 * statistics.peakUsedBytes() + 16 * MIB, 64 * MIB);
            assertTrue(statistics.heldBytes() <= boundBytes + 16 * MIB, statistics::toString);
            device.await(Long.MAX_VALUE);
            end(pool);
        }
    }

    private static PoolBuilder builder(final ReusePolicy policy, final int arenas) {
        return Pool.over(new VirtualMemorySource(100L << 30))
                .reuse(policy, new IdleDevice())
                .growInPlace(false)
                .spread(arenas);
    }

    private static void end(final Pool pool) {
        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.trimTo(0));
        pool.close();
    }

    private void run(final Pool pool, final int threads) throws InterruptedException {
        run(pool, threads, NANOSECONDS);
    }

    private void run(final Pool pool, final int threads, final long nanoseconds) throws InterruptedException {
        final long end = System.nanoTime() + nanoseconds;
        final List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            final SplittableRandom random = new SplittableRandom(i);
            all.add(new Thread(() -> allocateAndFree(pool, random, end)));
        }
        all.forEach(Thread::start);
        for (final Thread thread : all) {
            thread.join();
        }
    }

    private void allocateAndFree(final Pool pool, final SplittableRandom random, final long end) {
        final long[] blocks = new long[20];
        try {
            while (System.nanoTime() < end && failure.get() == null) {
                for (int i = 0; i < 100; i++) {
                    final int slot = random.nextInt(blocks.length);
                    if (blocks[slot] != 0) {
                        pool.free(blocks[slot]);
                        blocks[slot] = 0;
                    }
                    blocks[slot] = pool.allocate(1 + random.nextLong(MIB));
                }
            }
            for (final long block : blocks) {
                if (block != 0) {
                    pool.free(block);
                }
            }
        } catch (final RuntimeException | Error e) {
            failure.compareAndSet(null, e);
        }
    }
}
