package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.VirtualMemorySource;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks of megabytes cost as much as others, in each arena. The pool used to search everywhere for each of them. */
class PoolLargeBlocksTest {

    private static final long MIB = 1L << 20;
    private static final int ROUNDS = 24;
    private static final int BLOCKS = 2000;

    @ParameterizedTest
    @CsvSource({"IMMEDIATE, 8", "IMMEDIATE, 2", "STRICT, 8"})
    void shouldCostAThreadOfAnyArenaTheSame(final ReusePolicy policy, final long sizeMiB) throws Exception {
        final long one = leastNanoseconds(policy, 0, sizeMiB * MIB);
        final long first = leastNanoseconds(policy, 2, sizeMiB * MIB);

        final long most = 3 * one + 40L * BLOCKS;
        assertTrue(first <= most, () -> first / BLOCKS + " ns a block, where one arena takes " + one / BLOCKS);
    }

    /**
     * A request that has no room to grow is served from what other arenas have free. With 16 threads, each used to wait
     * for the one that grew, 0.1 ms on average, just to learn that there was no memory (H100, 2026-11-27).
     */
    @Test
    void shouldServeARequestWhileAnotherArenaGrows() throws Exception {
        final GatedDevice device = new GatedDevice();
        final FailingMemorySource source = new FailingMemorySource(8L << 30).growingInPlace();
        final Pool pool =
                Pool.over(source).reuse(ReusePolicy.STRICT, device).spread(2).build();
        final long boundBytes = 1L << 30;
        final CountDownLatch growing = new CountDownLatch(1);
        final CountDownLatch grown = new CountDownLatch(1);
        final FutureTask<Object> grows = new FutureTask<>(() -> {
            while (true) {
                if (pool.statistics().heldBytes() > boundBytes * 3 / 5) {
                    source.refuse(() -> {
                        growing.countDown();
                        awaitUninterruptibly(grown);
                        return DeviceOutOfMemoryException.ofDevice(1, 0, 1, "simulated");
                    });
                }
                pool.free(pool.allocate(16 * MIB));
                if (growing.getCount() == 0) {
                    return true;
                }
            }
        });
        ArenaThreads.start(0, grows);
        growing.await();
        device.finishAll();

        final long heldBytes = pool.statistics().heldBytes();
        final FutureTask<Long> served = new FutureTask<>(() -> pool.allocate(boundBytes - heldBytes + MIB));
        ArenaThreads.start(1, served);

        try {
            assertTrue(heldBytes < boundBytes, "there is room, but not for all of the block");
            pool.free(served.get(20, TimeUnit.SECONDS));
        } finally {
            grown.countDown();
        }
        grows.get();
        pool.close();
    }

    /** The request counts for the bound. Otherwise it would wait for the device, though there is memory. */
    @Test
    void shouldGrowForABlockThatIsLargerThanAllBefore() {
        final Pool pool = Pool.over(new FailingMemorySource(1L << 30).growingInPlace())
                .reuse(ReusePolicy.STRICT, new GatedDevice())
                .slackBytes(16 * MIB)
                .build();
        pool.free(pool.allocate(64 * MIB));

        final long block = assertTimeoutPreemptively(Duration.ofSeconds(20), () -> pool.allocate(200 * MIB));

        assertEquals(200 * MIB, pool.sizeOf(block));
    }

    private static void awaitUninterruptibly(final CountDownLatch latch) {
        try {
            latch.await();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns the CPU time in which one thread frees and allocates {@link #BLOCKS} blocks, the least of {@link #ROUNDS}
     * rounds.
     */
    private static long leastNanoseconds(final ReusePolicy policy, final int arenas, final long sizeBytes)
            throws Exception {
        final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        final Pool pool = Pool.over(new VirtualMemorySource(1L << 40))
                .reuse(policy, new IdleDevice())
                .firstRegionBytes(1L << 30)
                .limitBytes(4L << 30)
                .spread(arenas)
                .build();
        final long least = ArenaThreads.call(1, () -> {
            final long[] live = new long[4];
            for (int i = 0; i < live.length; i++) {
                live[i] = pool.allocate(sizeBytes);
            }
            long fewest = Long.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                final long begin = threads.getCurrentThreadCpuTime();
                for (int i = 0; i < BLOCKS; i++) {
                    pool.free(live[i & 3]);
                    live[i & 3] = pool.allocate(sizeBytes);
                }
                fewest = Math.min(fewest, threads.getCurrentThreadCpuTime() - begin);
            }
            for (final long block : live) {
                pool.free(block);
            }
            return fewest;
        });
        pool.close();
        return least;
    }
}
