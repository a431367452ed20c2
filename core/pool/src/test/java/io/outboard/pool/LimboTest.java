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
import java.util.Set;
import org.junit.jupiter.api.Test;

class LimboTest {

    private static final long STREAM = 7;

    private final Limbo limbo = new Limbo();
    private final ArrayList<Limbo.Batch> taken = new ArrayList<>();

    @Test
    void shouldRefuseABlockThatIsThere() {
        assertTrue(limbo.add(256, 512, STREAM));

        assertFalse(limbo.add(256, 512, Limbo.ALL_STREAMS));

        assertEquals(512, limbo.bytes());
        assertTrue(limbo.contains(256));
        assertFalse(limbo.contains(512));
    }

    @Test
    void shouldTakeFullBatchesOnlyUnlessAllAreWanted() {
        add(Limbo.BATCH_BLOCKS + 1, Limbo.ALL_STREAMS);
        assertTrue(limbo.hasFullBatch());

        limbo.takeBatches(false, taken);
        assertEquals(1, taken.size());
        assertEquals(Limbo.BATCH_BLOCKS, taken.get(0).count);
        assertFalse(limbo.hasFullBatch());

        limbo.takeBatches(true, taken);
        assertEquals(2, taken.size());
        assertEquals(1, taken.get(1).count);
        assertEquals((Limbo.BATCH_BLOCKS + 1) * 256, limbo.bytes());
    }

    @Test
    void shouldKeepStreamsApart() {
        limbo.add(0, 256, STREAM);
        limbo.add(256, 256, STREAM + 1);
        limbo.add(512, 256, STREAM);

        limbo.takeBatches(true, taken);

        taken.sort((a, b) -> Long.compare(a.stream, b.stream));
        assertEquals(2, taken.size());
        assertEquals(STREAM, taken.get(0).stream);
        assertEquals(2, taken.get(0).count);
        assertEquals(STREAM + 1, taken.get(1).stream);
        assertEquals(DeviceWork.NO_MARK, taken.get(1).mark);
    }

    @Test
    void shouldGiveABlockToItsOwnStreamOnly() {
        limbo.add(256, 800, STREAM);

        assertEquals(Strategy.NO_SPACE, limbo.reuse(800, STREAM + 1));
        assertEquals(Strategy.NO_SPACE, limbo.reuse(800, Limbo.ALL_STREAMS));
        assertEquals(Strategy.NO_SPACE, limbo.reuse(801, STREAM), "too small");
        assertEquals(Strategy.NO_SPACE, limbo.reuse(699, STREAM), "more than an eighth is lost");
        assertEquals(256, limbo.reuse(700, STREAM), "an eighth is lost");

        assertFalse(limbo.contains(256));
        assertEquals(0, limbo.bytes());
        assertEquals(Strategy.NO_SPACE, limbo.reuse(700, STREAM));
    }

    /** What is used again leaves no hole in a batch, whatever the order. */
    @Test
    void shouldCloseABatchWithWhatIsStillInIt() {
        for (int i = 0; i < 8; i++) {
            limbo.add(i * 4096L, 256L << (i % 4), STREAM);
        }
        assertEquals(4 * 4096, limbo.reuse(256, STREAM));
        assertEquals(0, limbo.reuse(256, STREAM));
        assertEquals(6 * 4096, limbo.reuse(1024, STREAM));
        assertEquals(Strategy.NO_SPACE, limbo.reuse(256, STREAM));

        limbo.takeBatches(true, taken);

        assertEquals(1, taken.size());
        final Limbo.Batch batch = taken.get(0);
        assertEquals(5, batch.count);
        assertArrayEquals(
                new long[] {4096, 2 * 4096, 3 * 4096, 5 * 4096, 7 * 4096}, Arrays.copyOf(batch.addresses, batch.count));
        assertArrayEquals(new long[] {512, 1024, 2048, 512, 2048}, Arrays.copyOf(batch.sizes, batch.count));
    }

    /** Every block that loses no more than an eighth is in one of the classes that are looked at. */
    @Test
    void shouldFindABlockThatIsAnEighthLarger() {
        for (long bytes = 8; bytes > 0 && bytes <= 1L << 61; bytes += bytes / 13 + 1) {
            final long largest = bytes + bytes / 7;
            limbo.add(0, largest, STREAM);

            assertEquals(0, limbo.reuse(bytes, STREAM), bytes + " in " + largest);
        }
    }

    @Test
    void shouldKeepTheOthersOfABatchWhenOneIsUsedAgain() {
        add(3, STREAM);

        assertEquals(512, limbo.reuse(256, STREAM));
        assertEquals(256, limbo.reuse(256, STREAM));
        assertEquals(0, limbo.reuse(256, STREAM));
        assertEquals(Strategy.NO_SPACE, limbo.reuse(256, STREAM));
        assertEquals(0, limbo.bytes());
    }

    @Test
    void shouldLoseNoBlockAndHoldNoneTwiceWhicheverBatchTheHostHasNoMemoryFor() {
        for (int failing = 2; failing <= 8; failing++) {
            final int[] made = {0, failing};
            final Limbo failingLimbo = new Limbo(() -> {
                if (++made[0] == made[1]) {
                    throw new OutOfMemoryError("simulated");
                }
                return new Limbo.Batch();
            });
            final ArrayList<Limbo.Batch> all = new ArrayList<>();
            for (int i = 0; i < 4 * Limbo.BATCH_BLOCKS; i++) {
                final long address = 256L * i;
                final long stream = STREAM + i % 3;
                try {
                    failingLimbo.add(address, 256, stream);
                } catch (final OutOfMemoryError e) {
                    assertFalse(failingLimbo.contains(address));
                    assertEquals(address, failingLimbo.bytes());
                    assertTrue(failingLimbo.add(address, 256, stream));
                }
                if (i == 3 * Limbo.BATCH_BLOCKS) {
                    failingLimbo.takeBatches(false, all);
                }
            }
            if (made[0] < failing) {
                assertThrows(OutOfMemoryError.class, () -> failingLimbo.takeBatches(true, all));
            }
            failingLimbo.takeBatches(true, all);

            final Set<Long> seen = new HashSet<>();
            for (final Limbo.Batch batch : all) {
                for (int i = 0; i < batch.count; i++) {
                    assertEquals(batch.stream, STREAM + batch.addresses[i] / 256 % 3);
                    assertTrue(seen.add(batch.addresses[i]));
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
            limbo.add(256, 256, stream);
            limbo.reuse(256, stream);
            limbo.takeBatches(true, taken);
        }

        assertEquals(0, taken.size());
        final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(bytes < 500 * 1024, () -> "1000 streams took " + bytes + " bytes");
    }

    private void cycle() {
        add(Limbo.BATCH_BLOCKS, STREAM);
        limbo.add(1 << 20, 256, STREAM + 1);
        limbo.takeBatches(true, taken);
        while (!taken.isEmpty()) {
            final Limbo.Batch batch = taken.remove(taken.size() - 1);
            for (int i = 0; i < batch.count; i++) {
                limbo.remove(batch.addresses[i], batch.sizes[i]);
            }
            limbo.recycle(batch);
        }
    }

    private void add(final int blocks, final long stream) {
        for (int i = 0; i < blocks; i++) {
            limbo.add(256L * i, 256, stream);
        }
    }
}
