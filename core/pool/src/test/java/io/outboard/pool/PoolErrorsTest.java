package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.InvalidAddressException;
import io.outboard.core.VirtualMemorySource;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Errors of the virtual machine in the middle of things: nothing is lost, no lock stays taken. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PoolErrorsTest {

    private static final long MIB = 1L << 20;

    /** There is no host memory for the warning. */
    private static final class FailingHandler extends Handler {

        @Override
        public void publish(final LogRecord record) {
            throw new OutOfMemoryError("for the test");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    private static PoolBuilder builder(final int arenas) {
        return Pool.over(new VirtualMemorySource(64 * MIB))
                .spread(arenas)
                .growInPlace(false)
                .firstRegionBytes(64 * MIB);
    }

    @Test
    void shouldNotLoseAChunkThatEmptiesAtTheEndOfTheStack() throws InterruptedException {
        final Pool pool = builder(1).build();
        pool.free(pool.allocate(256));
        final long[] blocks = new long[7];

        StackEnd.atEveryDepth(frames -> {
            // More than a chunk holds of them: one that is empty stays, the other goes back with its last block.
            for (int i = 0; i < blocks.length; i++) {
                blocks[i] = pool.allocate(256 << 10);
            }
            final long last = pool.allocate(256 << 10);
            for (final long block : blocks) {
                pool.free(block);
            }
            if (!StackEnd.run(frames, () -> pool.free(last))) {
                freeAgain(pool, last);
            }
        });

        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.trimTo(0));
    }

    @Test
    void shouldNotLoseFreedBlocksWhenStatisticsMeetTheEndOfTheStack() throws InterruptedException {
        final Pool pool = builder(2).build();
        pool.free(pool.allocate(256));

        StackEnd.atEveryDepth(frames -> {
            final int other = 1 - ArenaThreads.arenaOf(Thread.currentThread());
            final long[] blocks = ArenaThreads.call(other, () -> {
                final long[] addresses = new long[20];
                for (int i = 0; i < addresses.length; i++) {
                    addresses[i] = pool.allocate(4096 + 8192L * i);
                }
                return addresses;
            });
            for (final long block : blocks) {
                pool.free(block);
            }
            StackEnd.run(frames, pool::statistics);
        });

        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.trimTo(0));
    }

    /** Upkeep comes after it, and may find no stack: the caller would free the block again, by then another's. */
    @Test
    void shouldNotFreeABlockAndThrow() throws InterruptedException {
        final Pool pool =
                builder(2).reuse(ReusePolicy.IMMEDIATE, new IdleDevice()).build();

        StackEnd.atEveryDepth(frames -> {
            final int home = ArenaThreads.arenaOf(Thread.currentThread());
            final long[] blocks = ArenaThreads.call(home, () -> {
                final long[] addresses = new long[256];
                for (int i = 0; i < addresses.length; i++) {
                    addresses[i] = pool.allocate(256);
                }
                return addresses;
            });
            ArenaThreads.call(1 - home, () -> {
                for (int i = 0; i < 128; i++) {
                    pool.free(blocks[i]);
                }
                return 0;
            });
            final int[] freed = {128};
            final Runnable freeRest = () -> {
                while (freed[0] < blocks.length) {
                    pool.free(blocks[freed[0]]);
                    freed[0]++;
                }
            };
            StackEnd.run(frames, freeRest);
            freeRest.run();
        });

        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.trimTo(0));
    }

    @Test
    void shouldReleaseEveryLockAtTheEndOfTheStack() throws InterruptedException {
        final Pool pool = builder(2)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .limboLimitBytes(1)
                .build();

        StackEnd.atEveryDepth(frames -> {
            final long block = pool.allocate(4096);
            StackEnd.run(frames, () -> pool.trimTo(0));
            if (!StackEnd.run(frames, () -> pool.free(block))) {
                freeAgain(pool, block);
            }
            StackEnd.run(frames, pool::largestFreeBlockBytes);
            StackEnd.run(frames, () -> pool.streamEnds(1));
        });

        // From another thread, which a lock that stayed taken would hold up.
        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.trimTo(0));
    }

    /** Who couldn't tell the pool so must do it again before the stream ends; what was told in part counts. */
    @Test
    void shouldMarkAllOfAStreamThatEndsThoughTheStackEndedBefore() throws InterruptedException {
        StackEnd.atEveryDepth(frames -> {
            final SimulatedDevice device = new SimulatedDevice();
            final Pool pool =
                    builder(1).reuse(ReusePolicy.STREAM_ORDERED, device).build();
            final long block = pool.allocateAsync(4096, 7);
            device.submit(7);
            pool.freeAsync(block, 7);
            if (!StackEnd.run(frames, () -> pool.streamEnds(7))) {
                pool.streamEnds(7);
            }
            device.endStream(7);
            device.finishAll();

            assertEquals(0, pool.trimTo(0));
            assertEquals(0, device.marksOut());
        });
    }

    @Test
    void shouldGiveRegionsBackThoughTheLastWarningFails() {
        final FailingMemorySource source = new FailingMemorySource(1L << 30);
        final Pool pool = Pool.over(source).build();
        pool.allocate(256);
        final Logger logger = Logger.getLogger("io.outboard.core");
        final Handler handler = new FailingHandler();
        logger.addHandler(handler);
        try {
            assertThrows(OutOfMemoryError.class, pool::close);
        } finally {
            logger.removeHandler(handler);
        }

        pool.close();

        assertTrue(pool.isClosed());
        assertEquals(0, source.regionsOut());
    }

    /** After an error, which may have come when the block was free already. */
    private static void freeAgain(final Pool pool, final long block) {
        try {
            pool.free(block);
        } catch (final InvalidAddressException e) {
            // It was.
        }
    }
}
