package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Strategy;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LimboTest {

    private static final long STREAM = 7;

    private final Lane lane = lane();
    private final Limbo limbo = new Limbo(lane);
    private final Limbo.Chain chain = new Limbo.Chain();
    private final ArrayList<Limbo.Batch> taken = new ArrayList<>();

    private static Lane lane() {
        final PoolBuilder builder = Pool.over(new FailingMemorySource(1 << 20));
        return new Lanes(builder, new RegionMaker(builder, new PoolEvents(null))).main();
    }

    private static void add(final Limbo limbo, final long retired, final long sizeBytes, final long stream) {
        limbo.reserve(stream);
        limbo.add(0, retired, sizeBytes);
    }

    private long use(final long sizeBytes, final long stream) {
        final Limbo.Batch batch = limbo.use(sizeBytes, stream);
        if (batch == null) {
            return Strategy.NO_SPACE;
        }
        final long retired = batch.retired[limbo.usedAgain];
        limbo.forget(batch);
        return retired;
    }

    private void take(final Limbo from, final boolean all, final List<Limbo.Batch> to) {
        from.take(all, chain);
        for (Limbo.Batch batch = chain.poll(); batch != null; batch = chain.poll()) {
            to.add(batch);
        }
    }

    @Test
    void shouldTakeFullBatchesOnlyUnlessAllAreWanted() {
        add(Limbo.BATCH_BLOCKS + 1, Limbo.ALL_STREAMS);
        assertTrue(limbo.hasFull());

        take(limbo, false, taken);
        assertEquals(1, taken.size());
        assertEquals(Limbo.BATCH_BLOCKS, taken.get(0).count);
        assertFalse(limbo.hasFull());

        take(limbo, true, taken);
        assertEquals(2, taken.size());
        assertEquals(1, taken.get(1).count);
        assertEquals((Limbo.BATCH_BLOCKS + 1) * 256, limbo.bytes());
    }

    @Test
    void shouldKeepStreamsApart() {
        add(limbo, 0, 256, STREAM);
        add(limbo, 256, 256, STREAM + 1);
        add(limbo, 512, 256, STREAM);

        take(limbo, true, taken);

        taken.sort((a, b) -> Long.compare(a.stream, b.stream));
        assertEquals(2, taken.size());
        assertEquals(STREAM, taken.get(0).stream);
        assertEquals(2, taken.get(0).count);
        assertEquals(STREAM + 1, taken.get(1).stream);
        assertEquals(DeviceWork.NO_MARK, taken.get(1).mark);
    }

    @Test
    void shouldGiveABlockToItsOwnStreamOnly() {
        add(limbo, 256, 800, STREAM);

        assertEquals(Strategy.NO_SPACE, use(800, STREAM + 1));
        assertEquals(Strategy.NO_SPACE, use(800, Limbo.ALL_STREAMS));
        assertEquals(Strategy.NO_SPACE, use(801, STREAM), "too small");
        assertEquals(Strategy.NO_SPACE, use(699, STREAM), "more than an eighth is lost");
        assertEquals(256, use(700, STREAM), "an eighth is lost");

        assertEquals(0, limbo.bytes());
        assertEquals(Strategy.NO_SPACE, use(700, STREAM));
    }

    /** What is used again leaves no hole in a batch, whatever the order. */
    @Test
    void shouldCloseABatchWithWhatIsStillInIt() {
        for (int i = 0; i < 8; i++) {
            add(limbo, i * 4096L, 256L << (i % 4), STREAM);
        }
        assertEquals(4 * 4096, use(256, STREAM));
        assertEquals(0, use(256, STREAM));
        assertEquals(6 * 4096, use(1024, STREAM));
        assertEquals(Strategy.NO_SPACE, use(256, STREAM));

        take(limbo, true, taken);

        assertEquals(1, taken.size());
        final Limbo.Batch batch = taken.get(0);
        assertEquals(5, batch.count);
        assertArrayEquals(
                new long[] {4096, 2 * 4096, 3 * 4096, 5 * 4096, 7 * 4096}, Arrays.copyOf(batch.retired, batch.count));
        assertArrayEquals(new long[] {512, 1024, 2048, 512, 2048}, Arrays.copyOf(batch.sizes, batch.count));
    }

    /** Every block that loses no more than an eighth is in one of the classes that are looked at. */
    @Test
    void shouldFindABlockThatIsAnEighthLarger() {
        for (long bytes = 8; bytes > 0 && bytes <= 1L << 61; bytes += bytes / 13 + 1) {
            final long largest = bytes + bytes / 7;
            add(limbo, 0, largest, STREAM);

            assertEquals(0, use(bytes, STREAM), bytes + " in " + largest);
        }
    }

    @Test
    void shouldKeepTheOthersOfABatchWhenOneIsUsedAgain() {
        add(3, STREAM);

        assertEquals(512, use(256, STREAM));
        assertEquals(256, use(256, STREAM));
        assertEquals(0, use(256, STREAM));
        assertEquals(Strategy.NO_SPACE, use(256, STREAM));
        assertEquals(0, limbo.bytes());
    }

    @Test
    void shouldLoseNoBlockAndHoldNoneTwiceWhicheverBatchTheHostHasNoMemoryFor() {
        for (int failing = 2; failing <= 8; failing++) {
            final int[] made = {0, failing};
            final Limbo failingLimbo = new Limbo(lane, owner -> {
                if (++made[0] == made[1]) {
                    throw new OutOfMemoryError("simulated");
                }
                return new Limbo.Batch(owner);
            });
            final ArrayList<Limbo.Batch> all = new ArrayList<>();
            for (int i = 0; i < 4 * Limbo.BATCH_BLOCKS; i++) {
                final long address = 256L * i;
                final long stream = STREAM + i % 3;
                try {
                    add(failingLimbo, address, 256, stream);
                } catch (final OutOfMemoryError e) {
                    assertEquals(address, failingLimbo.bytes());
                    add(failingLimbo, address, 256, stream);
                }
                if (i == 3 * Limbo.BATCH_BLOCKS) {
                    take(failingLimbo, false, all);
                }
            }
            if (made[0] < failing) {
                assertThrows(OutOfMemoryError.class, () -> take(failingLimbo, true, all));
            }
            take(failingLimbo, true, all);

            final Set<Long> seen = new HashSet<>();
            for (final Limbo.Batch batch : all) {
                for (int i = 0; i < batch.count; i++) {
                    assertEquals(batch.stream, STREAM + batch.retired[i] / 256 % 3);
                    assertTrue(seen.add(batch.retired[i]));
                }
            }
            assertEquals(4 * Limbo.BATCH_BLOCKS, seen.size());
        }
    }

    @Test
    void shouldMakeNoGarbageOnceThereAreBatchesEnough() {
        final com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 20_000; i++) {
            cycle();
        }

        long leastBytes = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1000; i++) {
                cycle();
            }
            leastBytes = Math.min(leastBytes, threads.getCurrentThreadAllocatedBytes() - before);
        }

        assertEquals(0, leastBytes);
    }

    /** A program may make a stream for every task, so what is kept for one that has gone must not add up. */
    @Test
    void shouldKeepNothingOfStreamsThatAreNotUsedAnyMore() {
        final com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = 0;
        for (int stream = 0; stream < 2000; stream++) {
            if (stream == 1000) {
                before = threads.getCurrentThreadAllocatedBytes();
            }
            add(limbo, 256, 256, stream);
            use(256, stream);
            take(limbo, true, taken);
        }

        assertEquals(0, taken.size());
        final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(bytes < 500 * 1024, () -> "1000 streams took " + bytes + " bytes");
    }

    private void cycle() {
        add(Limbo.BATCH_BLOCKS, STREAM);
        add(limbo, 1 << 20, 256, STREAM + 1);
        limbo.take(true, chain);
        limbo.collect(chain);
        while (limbo.nextReady() != null) {
            limbo.released();
        }
    }

    private void add(final int blocks, final long stream) {
        for (int i = 0; i < blocks; i++) {
            add(limbo, 256L * i, 256, stream);
        }
    }
}
