package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Effort;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.VirtualMemorySource;
import java.util.TreeMap;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Errors of the JVM come in the middle of operations. Afterwards, a pool is as if nothing had happened, or says at each
 * call that it is broken. It is never damaged silently, and no lock stays taken.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PoolErrorsTest {

    private static final long MIB = 1L << 20;
    private static final int BLOCKS = 12;
    private static final long STREAM = 7;

    /** This handler has no host memory for the warning. */
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

    /** An operation is what a program may be doing when its stack ends. */
    enum Operation {
        ALLOCATE,
        ALLOCATE_LARGE,
        ALLOCATE_ASYNC,
        FREE,
        FREE_ASYNC,
        FREE_AT_HOME,
        TRIM,
        EXTEND,
        TRIM_TO,
        STATISTICS,
        LARGEST_FREE,
        BLOCKS_OF_POOL
    }

    private static PoolBuilder builder(final int arenas) {
        return Pool.over(new VirtualMemorySource(64 * MIB))
                .spread(arenas)
                .growInPlace(false)
                .firstRegionBytes(4 * MIB);
    }

    /**
     * This program has a pool with blocks of two arenas. Some blocks were freed by the other arena's thread, and some
     * are in limbo.
     */
    private static final class Program {

        final Pool pool = builder(2)
                .reuse(ReusePolicy.STREAM_ORDERED, new IdleDevice())
                .limboLimitBytes(64 << 10)
                .build();
        final TreeMap<Long, Long> live = new TreeMap<>();

        /** The block that was allocated. It is a field, since an assignment to a field needs no stack. */
        private long taken;

        private final int home = ArenaThreads.arenaOf(Thread.currentThread());

        Program() throws Exception {
            for (int arena = 0; arena < 2; arena++) {
                for (final long block : blocksOf(arena)) {
                    live.put(block, pool.sizeOf(block));
                }
            }
            for (final long block : blocksOf(1 - home)) {
                pool.free(block);
            }
        }

        private long[] blocksOf(final int arena) throws Exception {
            return ArenaThreads.call(arena, () -> {
                final long[] blocks = new long[BLOCKS];
                for (int i = 0; i < BLOCKS; i++) {
                    blocks[i] = pool.allocateAsync(4096 + 8192L * i, STREAM);
                }
                return blocks;
            });
        }

        /** Makes a call. The program only knows the result if the call returns. */
        void run(final Operation operation) {
            final long first = live.firstKey();
            final long last = live.lastKey();
            switch (operation) {
                case ALLOCATE -> taken = pool.allocate(8192);
                case ALLOCATE_LARGE -> taken = pool.allocate(8 * MIB);
                case ALLOCATE_ASYNC -> taken = pool.allocateAsync(4096, STREAM);
                case FREE -> {
                    pool.free(first);
                    live.remove(first);
                }
                case FREE_ASYNC -> {
                    pool.freeAsync(first, STREAM);
                    live.remove(first);
                }
                case FREE_AT_HOME -> {
                    pool.free(last);
                    live.remove(last);
                }
                case TRIM -> {
                    pool.trim(last, 256);
                    live.put(last, pool.sizeOf(last));
                }
                case EXTEND -> {
                    if (pool.extend(last, pool.sizeOf(last) + 256)) {
                        live.put(last, pool.sizeOf(last));
                    }
                }
                case TRIM_TO -> pool.trimTo(0);
                case STATISTICS -> pool.statistics();
                case LARGEST_FREE -> pool.largestFreeBlockBytes();
                case BLOCKS_OF_POOL -> pool.forEachBlock((address, sizeBytes, free) -> {});
            }
        }

        /** Frees all blocks from another thread, which would hang if a lock had stayed taken. */
        void end() throws Exception {
            final boolean broken = ArenaThreads.call(home, () -> isBroken(pool));
            ArenaThreads.call(1 - home, () -> {
                if (broken || isBroken(pool)) {
                    // Operations that only need the other arena may still work.
                    live.keySet().forEach(block -> skipBroken(() -> freeAgain(pool, block)));
                    live.keySet().forEach(block -> skipBroken(() -> pool.allocate(256)));
                    skipBroken(() -> pool.trimTo(0));
                    assertDoesNotThrow(pool::statistics);
                } else {
                    live.keySet().forEach(block -> freeAgain(pool, block));
                    if (taken != 0) {
                        pool.free(taken);
                    }
                    final PoolStatistics statistics = pool.statistics();
                    assertEquals(0, statistics.usedBytes(), statistics::toString);
                    assertEquals(0, statistics.liveBlocks(), statistics::toString);
                    assertEquals(0, pool.trimTo(0));
                }
                return pool;
            });
        }
    }

    @Tag("thorough")
    @ParameterizedTest
    @EnumSource
    void shouldBeRightOrSayThatItIsBrokenWhereverTheStackEnds(final Operation operation) throws InterruptedException {
        StackEnd.atEveryDepth(frames -> {
            final Program program = new Program();
            StackEnd.run(frames, () -> program.run(operation));
            program.end();
        });
    }

    /** The extension puts memory behind the region. The memory in use used to become negative, and memory stayed. */
    @Tag("thorough")
    @Test
    void shouldBeRightOrSayThatItIsBrokenIfTheStackEndsWhileABlockIsExtended() throws InterruptedException {
        StackEnd.atEveryDepth(frames -> {
            final Pool pool = Pool.over(new VirtualMemorySource(1L << 30))
                    .reuse(ReusePolicy.STRICT, new IdleDevice())
                    .firstRegionBytes(2 * MIB)
                    .build();
            final long block = pool.allocate(MIB);
            if (!StackEnd.run(frames, () -> pool.extend(block, 8 * MIB))) {
                ArenaThreads.call(0, () -> {
                    skipBroken(() -> {
                        pool.free(block);
                        assertEquals(0, pool.statistics().usedBytes());
                        assertEquals(0, pool.trimTo(0));
                    });
                    return pool;
                });
            }
        });
    }

    /** The lock used to stay taken forever, or a strategy was half changed. */
    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldSurviveAStackThatOverflowsOrSayThatItIsBroken(final ReusePolicy policy) throws InterruptedException {
        final Pool pool = Pool.over(new VirtualMemorySource(1L << 30))
                .reuse(policy, new IdleDevice())
                .build();
        final long[] live = new long[64];
        // A broken pool throws at each depth, which takes seconds a round, and shows nothing more.
        for (int round = 0; round < Effort.tries(60) && !isBroken(pool); round++) {
            final Thread thread = new Thread(null, () -> descend(pool, live, 0), "deep", 256 << 10);
            thread.start();
            thread.join();
        }

        if (!isBroken(pool)) {
            for (final long block : live) {
                if (block != 0) {
                    pool.free(block);
                }
            }
            assertEquals(0, pool.trimTo(0));
            assertEquals(0, pool.statistics().usedBytes());
            assertEquals(0, pool.statistics().liveBlocks());
            pool.close();
        }
    }

    /** Allocates and frees at every depth at which the stack may end. */
    @SuppressWarnings("InfiniteRecursion")
    private static void descend(final Pool pool, final long[] live, final int depth) {
        try {
            descend(pool, live, depth + 1);
        } catch (final StackOverflowError e) {
            // There is a little room here again; how little differs with each frame above.
        }
        try {
            final int slot = depth & (live.length - 1);
            final long block = live[slot];
            if (block != 0) {
                live[slot] = 0;
                boolean freed = false;
                try {
                    pool.free(block);
                    freed = true;
                } finally {
                    if (!freed) {
                        live[slot] = block;
                    }
                }
            }
            live[slot] = pool.allocate(1 + (depth & 0xfff));
        } catch (final StackOverflowError e) {
            // Nothing must have changed, unless the pool is broken.
        } catch (final IllegalStateException e) {
            assertBroken(e);
        }
    }

    /**
     * Two things used to be lost: a region that couldn't be given back, and the addresses of a tail that a request took
     * so that its block would be placed elsewhere.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLoseNothingWhicheverCallOfTheSourceThrowsAnError(final boolean inPlace) {
        long calls = 0;
        for (long failing = 0; failing <= calls; failing++) {
            final FailingMemorySource source = new FailingMemorySource(64 * MIB);
            final Pool pool = Pool.over(inPlace ? source.growingInPlace() : source)
                    .growInPlace(inPlace)
                    .firstRegionBytes(2 * MIB)
                    .limitBytes(32 * MIB)
                    .build();
            if (failing > 0) {
                source.failAt(failing, () -> {
                    throw new OutOfMemoryError("simulated");
                });
            }
            final TreeMap<Long, Long> live = new TreeMap<>();
            for (final long sizeMiB : new long[] {1, 3, 6, 1, 9}) {
                skipErrors(() -> {
                    final long block = pool.allocate(sizeMiB * MIB);
                    live.put(block, sizeMiB);
                });
            }
            if (!live.isEmpty()) {
                final long last = live.lastKey();
                pool.free(last);
                live.remove(last);
            }
            skipErrors(() -> pool.trimTo(0));
            skipErrors(() -> live.put(pool.allocate(11 * MIB), 11L));
            skipErrors(() -> pool.trimTo(0));
            calls = failing == 0 ? source.calls() : calls;

            if (!isBroken(pool)) {
                live.keySet().forEach(pool::free);
                assertEquals(0, pool.trimTo(0));
                assertEquals(64 * MIB, source.availableBytes(), "call " + failing);
                pool.free(pool.allocate(32 * MIB));
                assertEquals(0, pool.trimTo(0));
            }
            pool.close();
            assertEquals(64 * MIB, source.availableBytes(), "call " + failing);
        }
        assertTrue(calls >= 6, "enough to fail");
    }

    private static void skipErrors(final Runnable call) {
        try {
            call.run();
        } catch (final OutOfMemoryError | DeviceOutOfMemoryException e) {
            // A program would go on after such an error, too.
        } catch (final IllegalStateException e) {
            assertBroken(e);
        }
    }

    @Test
    void shouldGiveRegionsBackThoughTheLastWarningFails() {
        final FailingMemorySource source = new FailingMemorySource(1L << 30);
        final Pool pool = Pool.over(source).build();
        pool.allocate(256);
        final Logger logger = Logger.getLogger("io.outboard.pool");
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

    private static boolean isBroken(final Pool pool) {
        try {
            pool.free(pool.allocate(256));
            return false;
        } catch (final IllegalStateException e) {
            assertBroken(e);
            return true;
        }
    }

    private static void skipBroken(final Runnable call) {
        try {
            call.run();
        } catch (final IllegalStateException e) {
            assertBroken(e);
        }
    }

    private static void assertBroken(final IllegalStateException thrown) {
        assertTrue(String.valueOf(thrown.getMessage()).contains("broken"), thrown::toString);
    }

    /** Frees a block after an error that may have come when the block was free already. */
    private static void freeAgain(final Pool pool, final long block) {
        try {
            pool.free(block);
        } catch (final InvalidAddressException e) {
            // The block was free already.
        }
    }
}
