package io.outboard.pool.internal.limbo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Strategy;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class LimboTest {

    private static final long STREAM = 7;

    private final StreamEpochs epochs = new StreamEpochs();
    private final Limbo limbo = new Limbo(epochs);

    private static void add(final Limbo limbo, final long retired, final long sizeBytes, final long stream) {
        limbo.reserve(stream);
        limbo.add(0, retired, sizeBytes, Long.MAX_VALUE);
    }

    private long use(final long sizeBytes, final long stream) {
        final Batch batch = limbo.use(sizeBytes, stream);
        if (batch == null) {
            return Strategy.NO_SPACE;
        }
        final long retired = batch.retired[limbo.usedAgain()];
        limbo.forget(batch);
        return retired;
    }

    /** What is over, in the order in which it is released. */
    private static List<Long> release(final Limbo from) {
        final ArrayList<Long> released = new ArrayList<>();
        for (Batch batch = from.nextReady(); batch != null; batch = from.nextReady()) {
            released.add(batch.retired[batch.count - 1]);
            from.released(1);
        }
        return released;
    }

    private void passAll() {
        for (final Epochs each : epochs.each()) {
            each.pass(each.begin());
        }
    }

    @Test
    void shouldReleaseFullBatchesOnlyUnlessAllAreClosed() {
        add(Batch.BLOCKS + 1, Limbo.ALL_STREAMS);
        passAll();
        assertEquals(Batch.BLOCKS, release(limbo).size());
        assertEquals(256, limbo.bytes());

        limbo.close();
        assertFalse(limbo.hasReady(), "freed after the epoch began, for all that is known");
        passAll();
        assertEquals(1, release(limbo).size());
        assertEquals(0, limbo.bytes());
    }

    @Test
    void shouldCloseABatchOfManyBytesThoughItsBlocksAreFew() {
        final boolean[] closed = new boolean[5];
        for (int i = 0; i < closed.length; i++) {
            limbo.reserve(Limbo.ALL_STREAMS);
            closed[i] = limbo.add(0, i, 256, 512);
        }
        assertArrayEquals(new boolean[] {false, false, true, false, false}, closed);

        passAll();
        assertEquals(List.of(2L, 1L, 0L), release(limbo));
        assertEquals(512, limbo.bytes());
    }

    /** The wait may have begun before the block was freed. */
    @Test
    void shouldNotReleaseForAnEpochThatHadBegun() {
        final long begun = epochs.all.begin();
        add(Batch.BLOCKS, Limbo.ALL_STREAMS);

        epochs.all.pass(begun);
        assertFalse(limbo.hasReady());

        epochs.all.pass(epochs.all.begin());
        assertTrue(limbo.hasReady());
    }

    /** Who waited longer comes back with an older number. */
    @Test
    void shouldNotForgetThatALaterEpochHasPassed() {
        final long first = epochs.all.begin();
        add(Batch.BLOCKS, Limbo.ALL_STREAMS);
        final long second = epochs.all.begin();

        epochs.all.pass(second);
        epochs.all.pass(first);

        assertTrue(limbo.hasReady());
    }

    @Test
    void shouldKeepStreamsApart() {
        add(limbo, 0, 256, STREAM);
        add(limbo, 256, 256, STREAM + 1);
        add(limbo, 512, 256, STREAM);
        limbo.close();

        final Epochs epochsOfStream = epochs.of(STREAM);
        epochsOfStream.pass(epochsOfStream.begin());

        assertEquals(List.of(512L, 0L), release(limbo));
        passAll();
        assertEquals(List.of(256L), release(limbo));
    }

    /** The driver gives a handle out again: what the new stream is at says nothing of the old one. */
    @Test
    void shouldKeepAStreamThatEndedApartFromTheNextWithItsHandle() {
        add(limbo, 0, 256, STREAM);
        final Epochs ended = epochs.of(STREAM);
        epochs.end(STREAM);
        limbo.endStream(STREAM);
        add(limbo, 256, 256, STREAM);
        limbo.close();

        final Epochs next = epochs.of(STREAM);
        next.pass(next.begin());
        assertEquals(List.of(256L), release(limbo));

        ended.pass(ended.begin());
        assertEquals(List.of(0L), release(limbo));
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

        limbo.close();
        passAll();

        final ArrayList<Long> sizes = new ArrayList<>();
        limbo.forEach((batch, index) -> sizes.add(batch.sizes[index]));
        assertEquals(List.of(512L, 1024L, 2048L, 512L, 2048L), sizes);
        assertEquals(List.of(7 * 4096L, 5 * 4096L, 3 * 4096L, 2 * 4096L, 4096L), release(limbo));
        assertEquals(0, limbo.bytes());
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
        for (int failing = 1; failing <= 8; failing++) {
            final int[] made = {0, failing};
            final Limbo failingLimbo = new Limbo(epochs, () -> {
                if (++made[0] == made[1]) {
                    throw new OutOfMemoryError("simulated");
                }
                return new Batch();
            });
            final ArrayList<Long> released = new ArrayList<>();
            for (int i = 0; i < 4 * Batch.BLOCKS; i++) {
                final long address = 256L * i;
                final long stream = STREAM + i % 3;
                try {
                    add(failingLimbo, address, 256, stream);
                } catch (final OutOfMemoryError e) {
                    assertEquals(address - 256L * released.size(), failingLimbo.bytes());
                    add(failingLimbo, address, 256, stream);
                }
                if (i == 2 * Batch.BLOCKS) {
                    failingLimbo.close();
                } else if (i == 3 * Batch.BLOCKS) {
                    passAll();
                    released.addAll(release(failingLimbo));
                }
            }
            failingLimbo.close();
            passAll();
            released.addAll(release(failingLimbo));

            assertEquals(4 * Batch.BLOCKS, released.size());
            assertEquals(4 * Batch.BLOCKS, new HashSet<>(released).size());
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
            limbo.close();
            epochs.end(stream);
            limbo.endStream(stream);
            passAll();
            for (final Epochs each : epochs.each()) {
                if (each != epochs.all) {
                    epochs.remove(each);
                }
            }
        }

        final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(bytes < 1000 * 1024, () -> "1000 streams took " + bytes + " bytes");
    }

    private void cycle() {
        add(Batch.BLOCKS, Limbo.ALL_STREAMS);
        add(Batch.BLOCKS, STREAM);
        add(limbo, 1 << 20, 256, STREAM + 1);
        limbo.close();
        for (final Epochs each : epochs.each()) {
            each.pass(each.begin());
        }
        while (limbo.nextReady() != null) {
            limbo.released(1);
        }
    }

    private void add(final int blocks, final long stream) {
        for (int i = 0; i < blocks; i++) {
            add(limbo, 256L * i, 256, stream);
        }
    }
}
