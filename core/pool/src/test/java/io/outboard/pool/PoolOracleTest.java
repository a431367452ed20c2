package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Effort;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.PoolOracle.Block;
import io.outboard.pool.PoolOracle.HazardError;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs of many threads run on a busy device, and an oracle that knows nothing of the pool's code checks them. */
@Timeout(120)
class PoolOracleTest {

    private static final long MIB = 1L << 20;
    private static final int STREAMS = 4;
    private static final long NANOSECONDS = Effort.nanoseconds(1200);
    private static final long LEAST_REUSED = 50;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final Queue<Block> handed = new ConcurrentLinkedQueue<>();
    private final AtomicLong allocations = new AtomicLong();
    private final BusyDevice device = new BusyDevice(STREAMS, 64, 60_000);
    private final PoolOracle oracle = new PoolOracle(device);

    private static PoolBuilder builder(final boolean inPlace, final int arenas) {
        return Pool.over(new VirtualMemorySource(1L << 40))
                .growInPlace(inPlace)
                .firstRegionBytes(4 * MIB)
                .limitBytes(96 * MIB)
                .spread(arenas);
    }

    @ParameterizedTest
    @CsvSource({
        "STRICT, 1, true, 0",
        "STRICT, 2, true, 2",
        "STRICT, 4, false, 0",
        "STRICT, 16, false, 4",
        "STRICT, 16, true, 0",
        "TRACKED, 4, true, 4",
        "TRACKED, 16, false, 0",
        "STREAM_ORDERED, 1, true, 0",
        "STREAM_ORDERED, 2, false, 2",
        "STREAM_ORDERED, 4, true, 4",
        "STREAM_ORDERED, 16, true, 0",
        "STREAM_ORDERED, 16, false, 4"
    })
    void shouldHandOutNothingThatIsInUse(
            final ReusePolicy policy, final int threads, final boolean inPlace, final int arenas) throws Exception {
        run(builder(inPlace, arenas).reuse(policy, device).build(), threads, 12);
    }

    /**
     * With little memory each request waits, and with much memory none does; the pool takes other paths in each case.
     */
    @ParameterizedTest
    @CsvSource({"STRICT, 12", "STRICT, 1024", "STREAM_ORDERED, 12", "STREAM_ORDERED, 1024"})
    void shouldHandOutNothingThatIsInUseWithLittleMemoryOrMuch(final ReusePolicy policy, final long limitMiB)
            throws Exception {
        run(builder(true, 3).reuse(policy, device).limitBytes(limitMiB * MIB).build(), 6, 12);
    }

    @ParameterizedTest
    @EnumSource(names = {"STRICT", "STREAM_ORDERED"})
    void shouldHandOutNothingThatIsInUseToThreadsThatEndSoon(final ReusePolicy policy) throws Exception {
        final Pool pool = builder(true, 4).reuse(policy, device).build();
        final long end = System.nanoTime() + NANOSECONDS;
        while ((System.nanoTime() < end || oracle.reused() <= LEAST_REUSED) && failure.get() == null) {
            final List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                final Worker worker = new Worker(pool, i, 8);
                threads.add(new Thread(() -> {
                    worker.run(200);
                    worker.leave();
                }));
            }
            runAll(threads);
        }
        end(pool);
    }

    @ParameterizedTest
    @EnumSource(names = {"STRICT", "STREAM_ORDERED"})
    void shouldHandOutNothingThatIsInUseToVirtualThreads(final ReusePolicy policy) throws Exception {
        final Method start = virtualThreads();
        Assumptions.assumeTrue(start != null, "this JDK has no virtual threads");
        final Pool pool =
                builder(true, 0).reuse(policy, device).limitBytes(512 * MIB).build();
        final List<Thread> threads = new ArrayList<>();
        final int tries = Effort.tries(400);
        for (int i = 0; i < 2000; i++) {
            final Worker worker = new Worker(pool, i, 2);
            threads.add((Thread) Objects.requireNonNull(start).invoke(null, (Runnable) () -> {
                worker.run(tries);
                worker.leave();
            }));
        }
        for (final Thread thread : threads) {
            thread.join();
        }
        end(pool);
    }

    private static @Nullable Method virtualThreads() {
        try {
            return Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (final NoSuchMethodException e) {
            return null;
        }
    }

    /**
     * This test shows that the oracle finds faults: these programs leave order to the pool, and this policy keeps none.
     */
    @Test
    void shouldFindAPoolThatDoesNotWait() {
        assertThrows(
                HazardError.class,
                () -> run(builder(true, 0).reuse(ReusePolicy.IMMEDIATE).build(), 2, 12));
    }

    @Test
    void shouldKnowWhatIsInUse() {
        final Block block = oracle.allocated(4096, 4096, PoolOracle.NO_STREAM);

        assertThrows(HazardError.class, () -> oracle.allocated(8191, 1, 0));
        assertThrows(HazardError.class, () -> oracle.allocated(0, 4097, 0));
        oracle.allocated(8192, 1, 0);
        oracle.freeing(block, PoolOracle.NO_STREAM);
        oracle.allocated(5000, 100, 0);
        oracle.allocated(4096, 904, 0);
        oracle.allocated(5100, 3092, 0);
        assertThrows(HazardError.class, () -> oracle.allocated(5000, 1, 0));
    }

    private void run(final Pool pool, final int threads, final int mostLive) throws Exception {
        final long end = System.nanoTime() + NANOSECONDS;
        final List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            final Worker worker = new Worker(pool, i, mostLive);
            all.add(new Thread(() -> {
                // On a busy machine, the time may be over before anything has happened.
                while ((System.nanoTime() < end || oracle.reused() <= LEAST_REUSED) && failure.get() == null) {
                    worker.run(100);
                }
                worker.leave();
            }));
        }
        runAll(all);
        end(pool);
    }

    private static void runAll(final List<Thread> threads) throws InterruptedException {
        threads.forEach(Thread::start);
        for (final Thread thread : threads) {
            thread.join();
        }
    }

    private void end(final Pool pool) throws Exception {
        rethrow();
        for (Block block = handed.poll(); block != null; block = handed.poll()) {
            oracle.freeing(block, PoolOracle.NO_STREAM);
            pool.free(block.address());
        }
        device.close();
        final PoolStatistics statistics = pool.statistics();
        assertEquals(0, statistics.usedBytes(), statistics::toString);
        assertEquals(0, statistics.liveBlocks(), statistics::toString);
        assertTrue(statistics.peakUsedBytes() >= oracle.peakBytes() / 2, statistics::toString);
        assertTrue(allocations.get() > 100, "most allocations succeed");
        assertTrue(oracle.reused() > LEAST_REUSED, "memory came back: " + oracle.reused());
        assertEquals(0, pool.trimTo(0));
        pool.close();
        assertEquals(0, device.marksOut());
        assertNull(device.wrongUse());
    }

    private void rethrow() throws Exception {
        final Throwable thrown = failure.get();
        if (thrown instanceof Error error) {
            throw error;
        } else if (thrown != null) {
            throw new AssertionError(thrown);
        }
    }

    /** A worker is one thread of a program. Others free the blocks that it leaves. */
    private final class Worker {

        private final List<Block> live = new ArrayList<>();
        private final Pool pool;
        private final SplittableRandom random;
        private final int stream;
        private final int mostLive;

        Worker(final Pool pool, final int number, final int mostLive) {
            this.pool = pool;
            this.mostLive = mostLive;
            random = new SplittableRandom(number);
            stream = number % STREAMS;
        }

        void run(final int operations) {
            try {
                for (int i = 0; i < operations && failure.get() == null; i++) {
                    final boolean interrupted = random.nextInt(32) == 0;
                    if (interrupted) {
                        Thread.currentThread().interrupt();
                    }
                    operate();
                    assertEquals(interrupted, Thread.interrupted(), "the interrupt is the caller's");
                }
            } catch (final RuntimeException | Error e) {
                failure.compareAndSet(null, e);
            }
        }

        /** Ends the worker with blocks in use, which others take over. */
        void leave() {
            handed.addAll(live);
            live.clear();
        }

        /** Takes over a block that others have left. */
        private void take() {
            final Block block = handed.poll();
            if (block != null) {
                live.add(block);
            }
        }

        private void operate() {
            final int choice = random.nextInt(200);
            if (choice < 100 && live.size() < mostLive) {
                allocate();
            } else if (choice < 198) {
                free();
            } else if (choice < 199) {
                pool.trimTo(random.nextLong(64 * MIB));
            } else {
                assertTrue(pool.statistics().usedBytes() >= 0);
            }
        }

        private void allocate() {
            final long sizeBytes = 1 + random.nextLong(random.nextInt(40) == 0 ? 2 * MIB : 64 << 10);
            final int on = random.nextBoolean() ? stream : PoolOracle.NO_STREAM;
            try {
                final long address =
                        on == PoolOracle.NO_STREAM ? pool.allocate(sizeBytes) : pool.allocateAsync(sizeBytes, on);
                live.add(oracle.allocated(address, sizeBytes, on));
                allocations.incrementAndGet();
                // A kernel uses the block, on the block's stream or on any.
                device.launch(on == PoolOracle.NO_STREAM ? random.nextInt(STREAMS) : on);
            } catch (final DeviceOutOfMemoryException e) {
                free();
            }
        }

        private void free() {
            if (live.isEmpty()) {
                take();
                return;
            }
            final Block block = live.remove(random.nextInt(live.size()));
            if (random.nextInt(3) == 0) {
                handed.add(block);
                take();
                return;
            }
            final int on = random.nextInt(4) == 0 ? PoolOracle.NO_STREAM : block.stream();
            oracle.freeing(block, on);
            if (on == PoolOracle.NO_STREAM) {
                pool.free(block.address());
            } else {
                pool.freeAsync(block.address(), on);
            }
        }
    }
}
