package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Effort;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Eight threads make every operation, for a while with each policy. Invariants are checked whenever all threads pause.
 */
@Timeout(60)
class PoolStressTest {

    private static final int THREADS = 8;
    private static final int OPERATIONS_A_PHASE = 500;
    private static final long NANOSECONDS = Effort.nanoseconds(800);
    /** The least number of phases, however slow the machine is. */
    private static final int FEWEST_PHASES = 2;

    private static final long GRANULE = 4096;
    private static final long LIMIT_BYTES = 32L << 20;

    /**
     * The most live blocks of a thread. With 8 threads and at most 128 KiB a block, all blocks and their alignment take
     * at most 14 MiB, so memory can't run out.
     */
    private static final int MOST_LIVE = 12;

    /** A block is recorded as its thread sees it. Its work goes on after it is freed. */
    private static final class Block {

        final long address;
        final long stream;
        volatile long sizeBytes;
        volatile long work;
        volatile boolean freed;
        volatile boolean ofStream;

        Block(final long address, final long sizeBytes, final long stream) {
            this.address = address;
            this.sizeBytes = sizeBytes;
            this.stream = stream;
        }
    }

    private final SimulatedDevice device = new SimulatedDevice();
    private final FailingMemorySource source = new FailingMemorySource(1L << 40);

    /** The last owner of each granule. */
    private final Map<Long, Block> shadow = new ConcurrentHashMap<>();

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<Worker> workers = new ArrayList<>();

    /** The blocks that the next thread will free, whichever it is. */
    private final Queue<Block> handed = new ConcurrentLinkedQueue<>();

    private long phases;

    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldNeverHandABlockOutTwice(final ReusePolicy policy) throws InterruptedException {
        stress(policy, 0);
    }

    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldNeverHandABlockOutTwiceInArenas(final ReusePolicy policy) throws InterruptedException {
        stress(policy, 4);
    }

    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldNeverHandABlockOutTwiceInArenasOfARegionThatGrows(final ReusePolicy policy) throws InterruptedException {
        source.growingInPlace();
        stress(policy, 4);
    }

    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldNeverHandABlockOutTwiceWhileItGrowsInPlace(final ReusePolicy policy) throws InterruptedException {
        source.growingInPlace();
        stress(policy, 0);
    }

    private void stress(final ReusePolicy policy, final int arenas) throws InterruptedException {
        final Pool pool = Pool.over(source)
                .strategy("tlsf", new StrategyOptions(GRANULE, 4096))
                .firstRegionBytes(2L << 20)
                .limitBytes(LIMIT_BYTES)
                .reuse(policy, device)
                .spread(arenas)
                .build();
        final long end = System.nanoTime() + NANOSECONDS;
        final Phaser phaser = new Phaser(THREADS) {
            @Override
            protected boolean onAdvance(final int phase, final int registered) {
                check(pool);
                phases++;
                return (phases >= FEWEST_PHASES && System.nanoTime() > end) || failure.get() != null;
            }
        };
        for (int i = 0; i < THREADS; i++) {
            workers.add(new Worker(i, pool, policy, phaser));
        }
        workers.forEach(Thread::start);
        for (final Worker worker : workers) {
            worker.join();
        }

        assertNull(failure.get(), () -> "phase " + phases + ": " + failure.get());
        assertTrue(phases >= FEWEST_PHASES, "some quiet points");
        assertTrue(pool.statistics().allocations() > THREADS * OPERATIONS_A_PHASE / 4, "most allocations succeed");
        handed.forEach(block -> pool.free(block.address));
        for (final Worker worker : workers) {
            worker.live.forEach(block -> pool.free(block.address));
        }
        device.finishAll();
        assertEquals(0, pool.trimTo(0));
        assertEquals(1L << 40, source.availableBytes());
        assertEquals(0, device.marksOut());
        pool.close();
        assertEquals(0, source.regionsOut());
    }

    private void check(final Pool pool) {
        try {
            final PoolStatistics statistics = pool.statistics();
            long usedBytes = 0;
            int blocks = 0;
            final List<List<Block>> held = new ArrayList<>(List.of(List.copyOf(handed)));
            workers.forEach(worker -> held.add(worker.live));
            for (final List<Block> live : held) {
                for (final Block block : live) {
                    assertEquals(block.sizeBytes, pool.sizeOf(block.address));
                    usedBytes += block.sizeBytes;
                    blocks++;
                }
            }
            final long[] bytes = new long[2];
            pool.forEachBlock((address, sizeBytes, free) -> bytes[free ? 1 : 0] += sizeBytes);
            assertEquals(usedBytes, statistics.usedBytes());
            assertEquals(blocks, statistics.liveBlocks());
            assertEquals(bytes[0] - usedBytes, statistics.limboBytes());
            assertEquals(bytes[1], statistics.freeBytes());
            assertEquals(bytes[0] + bytes[1], statistics.heldBytes());
            assertEquals(source.regionsOut(), statistics.regions());
            assertEquals((1L << 40) - source.availableBytes(), statistics.heldBytes());
            assertTrue(statistics.heldBytes() <= LIMIT_BYTES);
        } catch (final AssertionError | RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }

    private final class Worker extends Thread {

        final List<Block> live = new ArrayList<>();
        private final Pool pool;
        private final ReusePolicy policy;
        private final Phaser phaser;
        private final SplittableRandom random;
        private long stream;

        Worker(final int number, final Pool pool, final ReusePolicy policy, final Phaser phaser) {
            this.pool = pool;
            this.policy = policy;
            this.phaser = phaser;
            random = new SplittableRandom(number);
            stream = number + 1L;
        }

        @Override
        public void run() {
            while (!phaser.isTerminated()) {
                for (int i = 0; i < OPERATIONS_A_PHASE && failure.get() == null; i++) {
                    try {
                        operate();
                    } catch (final AssertionError | RuntimeException e) {
                        failure.compareAndSet(null, e);
                    }
                }
                phaser.arriveAndAwaitAdvance();
            }
        }

        private void operate() {
            final int choice = random.nextInt(100);
            if (choice < 45 && live.size() < MOST_LIVE) {
                allocate();
            } else if (choice < 85) {
                free();
            } else if (choice < 90) {
                device.finishNext(stream);
            } else if (choice < 94) {
                extend();
            } else if (choice < 97) {
                trim();
            } else if (choice < 98) {
                pool.trimTo(random.nextLong(LIMIT_BYTES));
            } else if (choice < 99) {
                device.endStream(stream);
                stream += THREADS;
            } else {
                assertTrue(pool.largestFreeBlockBytes() <= LIMIT_BYTES);
                assertTrue(pool.largestHolders().size() <= 8);
                assertTrue(pool.statistics().freeBytes() >= 0);
            }
        }

        private void allocate() {
            final long sizeBytes = GRANULE * (1L + random.nextInt(32)) - random.nextInt((int) GRANULE);
            final boolean ordered = random.nextBoolean();
            final long address = ordered
                    ? pool.allocateAsync(sizeBytes, stream)
                    : pool.allocate(sizeBytes, GRANULE << random.nextInt(3));
            final Block block = new Block(address, pool.sizeOf(address), stream);
            claim(block, 0, block.sizeBytes, ordered);
            assertTrue(pool.contains(address + block.sizeBytes - 1), "its memory is there");
            live.add(block);
            if (policy != ReusePolicy.IMMEDIATE) {
                block.work = device.submit(stream);
            }
        }

        /** Takes granules for a block. The work of each granule's previous owner must be over. */
        private void claim(final Block block, final long from, final long to, final boolean ordered) {
            for (long offset = from; offset < to; offset += GRANULE) {
                final Block before = shadow.put(block.address + offset, block);
                if (before != null) {
                    assertTrue(before.freed, "in use by another");
                    final boolean ownStream = ordered && before.ofStream && before.stream == stream;
                    assertTrue(ownStream || device.hasFinished(before.stream, before.work), "work is unfinished");
                }
            }
        }

        private void free() {
            if (!live.isEmpty()) {
                Block block = live.remove(random.nextInt(live.size()));
                if (random.nextBoolean()) {
                    handed.add(block);
                    block = handed.poll();
                }
                if (block == null) {
                    return;
                }
                block.ofStream = policy == ReusePolicy.STREAM_ORDERED && block.stream == stream && random.nextBoolean();
                // The block is marked as freed before the pool is told, since another thread may then own it at once.
                block.freed = true;
                if (block.ofStream) {
                    pool.freeAsync(block.address, stream);
                } else {
                    pool.free(block.address);
                }
            }
        }

        private void extend() {
            if (!live.isEmpty()) {
                final Block block = live.get(random.nextInt(live.size()));
                final long wanted = block.sizeBytes + GRANULE * (1L + random.nextInt(4));
                if (pool.extend(block.address, wanted)) {
                    claim(block, block.sizeBytes, wanted, false);
                    block.sizeBytes = wanted;
                }
            }
        }

        /** Trims a block. Only one policy hands the tail out at once; with the others, work goes on in the tail. */
        private void trim() {
            if (!live.isEmpty()) {
                final Block block = live.get(random.nextInt(live.size()));
                final Block tail = new Block(block.address, 0, block.stream);
                tail.work = block.work;
                tail.freed = true;
                final long kept = GRANULE * (1 + random.nextLong(block.sizeBytes / GRANULE));
                for (long offset = kept; offset < block.sizeBytes; offset += GRANULE) {
                    assertTrue(shadow.replace(block.address + offset, block, tail), "in use by this");
                }
                pool.trim(block.address, kept);
                block.sizeBytes = kept;
            }
        }
    }
}
