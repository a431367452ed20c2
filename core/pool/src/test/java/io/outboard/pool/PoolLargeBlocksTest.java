package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.VirtualMemorySource;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks of megabytes cost what others cost, in each arena: they were searched for everywhere, each time. */
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

    /** CPU time of one thread for so many blocks. */
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
