package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.simulated.SimulatedDevice;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** These tests say when freed blocks come back. */
class PoolReuseTest {

    private static final long MIB = 1L << 20;
    private static final long STREAM = 1;
    private static final long OTHER = 2;

    /** The number of frees that fill a batch of a stream; an arena's has room for twice as many. */
    private static final int BATCH = 64;

    private final FailingMemorySource source = new FailingMemorySource(1L << 40);
    private final SimulatedDevice device = new SimulatedDevice();

    private PoolBuilder builder(final ReusePolicy policy) {
        return Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 4096))
                .firstRegionBytes(4 * MIB)
                .limitBytes(4 * MIB)
                .reuse(policy, device);
    }

    private static void allocateAndFree(final Pool pool, final int blocks, final long sizeBytes) {
        final long[] addresses = new long[blocks];
        for (int i = 0; i < blocks; i++) {
            addresses[i] = pool.allocate(sizeBytes);
        }
        for (final long address : addresses) {
            pool.freeAsync(address, STREAM);
        }
    }

    /** On an idle device a question costs next to nothing, so the pool asks before half its slack is in limbo. */
    @Test
    void shouldHoldHalfItsSlackOnADeviceThatIsIdle() {
        final Pool pool = Pool.over(new FailingMemorySource(64L << 30).growingInPlace())
                .slackBytes(512 * MIB)
                .reuse(ReusePolicy.STRICT, device)
                .build();
        final int operations = 20_000;
        for (int i = 0; i < operations; i++) {
            pool.free(pool.allocate(MIB / 4 * (1 + i % 7)));
        }

        assertTrue(
                pool.statistics().heldBytes() <= 256 * MIB,
                () -> pool.statistics().toString());
        assertTrue(
                device.synchronizations() < operations / 100,
                () -> device.synchronizations() + " questions, each for 128 MiB that were freed");
    }

    /** The latest {@code behind} pieces of work of a late device are unfinished, unless somebody has waited. */
    private static final class LateDevice extends IdleDevice {
        private final long behind;
        private long submitted;
        private long awaited;
        private int marks;
        private int awaits;

        LateDevice(final long behind) {
            this.behind = behind;
        }

        @Override
        public long mark() {
            marks++;
            return submitted;
        }

        @Override
        public boolean isFinished(final long mark) {
            return mark <= Math.max(awaited, submitted - behind);
        }

        @Override
        public void await(final long mark) {
            awaits += isFinished(mark) ? 0 : 1;
            awaited = Math.max(awaited, mark);
        }

        /**
         * Allocates blocks of 6 to 18 MiB, each in place of freed ones, and uses each once. Returns how often a request
         * asked the device.
         */
        int allocateAndFree(final Pool pool, final long usedBytes, final int operations) {
            final Random random = new Random(7);
            final List<DeviceBuffer> live = new ArrayList<>();
            long left = usedBytes;
            int asked = 0;
            for (int i = 0; i < operations / 2; i++) {
                final long sizeBytes = MIB * (6 + random.nextInt(13));
                while (left < sizeBytes) {
                    final DeviceBuffer freed = live.remove(random.nextInt(live.size()));
                    left += freed.sizeBytes();
                    freed.close();
                }
                final int before = marks;
                live.add(pool.buffer(sizeBytes));
                left -= sizeBytes;
                asked += marks - before;
                submitted++;
            }
            return asked;
        }
    }

    /** With a quarter of the slack as the limit of limbo, the pool asked the device once in 31 operations. */
    @Test
    void shouldLetMoreWaitTheMoreIsInUse() {
        final LateDevice late = new LateDevice(0);
        final Pool pool = Pool.over(new FailingMemorySource(64L << 30).growingInPlace())
                .slackBytes(636 * MIB)
                .reuse(ReusePolicy.STRICT, late)
                .build();

        final int operations = 20_000;
        assertEquals(0, late.allocateAndFree(pool, 250 * MIB, operations), "questions of requests: a free asks before");
        assertTrue(late.marks <= operations / 80, () -> late.marks + " questions in " + operations + " operations");
        assertTrue(
                pool.statistics().heldBytes() <= pool.statistics().peakUsedBytes() + 636 * MIB,
                () -> pool.statistics().toString());
    }

    /**
     * At most half of what isn't in use may be in limbo before a free asks. With more in limbo, requests use up the
     * rest before the mark has finished, and wait.
     */
    @Test
    void shouldNotWaitWhereLittleIsLeft() {
        final LateDevice late = new LateDevice(10);
        final Pool pool = Pool.over(new FailingMemorySource(64L << 30).growingInPlace())
                .slackBytes(636 * MIB)
                .limitBytes(1024 * MIB)
                .reuse(ReusePolicy.STRICT, late)
                .build();

        late.allocateAndFree(pool, 500 * MIB, 20_000);

        assertTrue(late.awaits <= 20, () -> late.awaits + " waits for the device");
    }

    @Test
    void shouldMarkOnceForMuchAndNeverWaitWhileThereIsMemory() {
        final Pool pool = builder(ReusePolicy.TRACKED).build();
        device.submit(STREAM);

        allocateAndFree(pool, 3 * BATCH, 256);
        assertEquals(0, device.synchronizations(), "little isn't worth a mark");

        // Blocks of 10 KiB, as many as before, are worth a few marks.
        final long sizeBytes = 10 << 10;
        allocateAndFree(pool, 3 * BATCH, sizeBytes);

        assertTrue(device.synchronizations() < 3 * BATCH / 8, () -> device.synchronizations() + " marks");
        assertEquals(3 * BATCH * (256 + sizeBytes), pool.statistics().limboBytes());
        device.finishAll();
        pool.allocate(4 * MIB);
        assertEquals(0, pool.statistics().limboBytes());
        assertEquals(0, device.awaits());
    }

    @Test
    void shouldGrowRatherThanWait() {
        final Pool pool = builder(ReusePolicy.TRACKED).limitBytes(8 * MIB).build();
        final long first = pool.allocate(4 * MIB);
        device.submit(STREAM);
        pool.free(first);

        final long second = pool.allocate(4 * MIB);
        assertNotEquals(first, second);
        assertEquals(0, device.awaits());
        assertEquals(first, pool.allocate(4 * MIB), "the limit is reached: it waits");

        assertEquals(1, device.awaits());
        assertTrue(device.hasFinished(STREAM, 1));
    }

    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldWaitForAllThatIsInLimboBeforeItGivesUp(final ReusePolicy policy) {
        final Pool pool = builder(policy).build();
        final long[] blocks = freeOnSixteenStreams(pool);

        assertEquals(blocks[0], pool.allocate(4 * MIB));
    }

    /** Work of other streams may take longer, or never end. */
    @Test
    void shouldFindWhatHasFinishedBehindAnyNumberOfUnfinishedStreams() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        pool.addOutOfMemoryHandler((bytes, statistics) -> fail("there is memory"));
        final long[] blocks = freeOnSixteenStreams(pool);
        device.finishNext(12);

        assertEquals(blocks[12], pool.allocate(MIB / 4));

        assertEquals(0, device.awaits());
    }

    @Test
    void shouldWaitForNoMoreThanServesTheRequest() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        freeOnSixteenStreams(pool);

        pool.allocate(MIB / 4);

        assertEquals(1, device.awaits());
        assertEquals(device.synchronizations(), pool.statistics().synchronizations());
        assertEquals(15 * MIB / 4, pool.statistics().limboBytes());
    }

    private long[] freeOnSixteenStreams(final Pool pool) {
        final long[] blocks = new long[16];
        for (int i = 0; i < 16; i++) {
            blocks[i] = pool.allocate(MIB / 4);
        }
        for (int i = 0; i < 16; i++) {
            device.submit(i);
            pool.freeAsync(blocks[i], i);
        }
        return blocks;
    }

    @Test
    void shouldHandABlockBackToItsStreamAtOnce() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        final long block = pool.allocateAsync(MIB, STREAM);
        device.submit(STREAM);
        pool.freeAsync(block, STREAM);

        assertNotEquals(block, pool.allocateAsync(MIB, OTHER));
        assertNotEquals(block, pool.allocate(MIB));
        final PoolStatistics before = pool.statistics();
        assertEquals(block, pool.allocateAsync(MIB - 1000, STREAM));

        assertEquals(1, before.liveBlocks() - 1);
        assertEquals(MIB, before.limboBytes());
        assertEquals(3, pool.statistics().liveBlocks());
        assertEquals(0, pool.statistics().limboBytes());
        assertEquals(3 * MIB, pool.statistics().usedBytes());
        assertEquals(0, device.awaits());
    }

    /**
     * A request is rounded up to a granule before its waste in a stream's block is computed. Otherwise, a block of one
     * granule would be too large for one byte.
     */
    @Test
    void shouldHandASmallBlockBackToItsStreamAtOnce() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        final long block = pool.allocateAsync(1, STREAM);
        pool.freeAsync(block, STREAM);

        assertEquals(block, pool.allocateAsync(1, STREAM));
    }

    @Test
    void shouldNotHandABlockFreedWithoutAStreamToAnyone() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        final long block = pool.allocate(MIB);
        device.submit(STREAM);
        pool.free(block);

        assertNotEquals(block, pool.allocateAsync(MIB, STREAM));
        // Limbo has a number for all streams together, and that isn't a stream's number.
        assertNotEquals(block, pool.allocateAsync(MIB, -1));
    }

    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldRefuseWhatIsInLimbo(final ReusePolicy policy) {
        final Pool pool = builder(policy).build();
        final long block = pool.allocate(MIB / 4);
        pool.freeAsync(block, STREAM);
        final PoolStatistics before = pool.statistics();

        final InvalidAddressException thrown = assertThrows(InvalidAddressException.class, () -> pool.free(block));
        assertEquals(
                "address=0x" + Long.toHexString(block)
                        + " must be the start of a block in use: it was freed already, and the memory of its block [0x"
                        + Long.toHexString(block) + ", 256KiB] isn't released yet",
                thrown.getMessage());
        assertThrows(InvalidAddressException.class, () -> pool.freeAsync(block, OTHER));
        assertThrows(InvalidAddressException.class, () -> pool.sizeOf(block));
        assertThrows(InvalidAddressException.class, () -> pool.trim(block, 1));
        assertThrows(InvalidAddressException.class, () -> pool.extend(block, MIB));
        assertThrows(InvalidAddressException.class, () -> pool.free(block + 256));

        assertEquals(before, pool.statistics());
        assertEquals(0, pool.largestHolders().size());
    }

    /** During a capture, marks can't be made, and none is needed. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class)
    void shouldLeaveTheDeviceAloneWhileAStreamIsCaptured(final ReusePolicy policy) {
        final Pool pool = builder(policy).limitBytes(64 * MIB).build();
        device.capturing(true);

        for (int i = 0; i < 2 * BATCH; i++) {
            pool.freeAsync(pool.allocate(MIB / 4), STREAM);
        }
        pool.trimTo(0);

        assertEquals(0, device.synchronizations() + device.marksOut());
        device.endStream(STREAM);
        device.capturing(false);
        assertEquals(0, pool.trimTo(0));
    }

    /** Nobody tells the pool that a stream ends. What isn't marked by then waits for a mark of all work. */
    @Test
    void shouldFindWhatWasFreedOnAStreamThatHasEnded() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        device.submit(STREAM);
        final long block = pool.allocate(4 * MIB);
        pool.freeAsync(block, STREAM);

        device.endStream(STREAM);

        assertEquals(block, pool.allocate(4 * MIB));
        assertTrue(device.hasFinished(STREAM, 1));
        assertEquals(0, device.marksOut());
    }

    @Test
    void shouldFindWhatWasFreedOnAStreamThatEndedDuringACapture() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        device.submit(STREAM);
        final long block = pool.allocate(4 * MIB);
        device.capturing(true);
        pool.freeAsync(block, STREAM);

        device.endStream(STREAM);

        assertEquals(0, device.marksOut());
        device.capturing(false);
        assertEquals(block, pool.allocate(4 * MIB));
        assertTrue(device.hasFinished(STREAM, 1));
    }

    /** Giving memory back to the driver waits for the device, which would break the capture. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class)
    void shouldGiveNoRegionBackDuringACapture(final ReusePolicy policy) {
        final Pool pool = builder(policy).build();
        pool.free(pool.allocate(MIB));
        device.capturing(true);
        final long calls = source.calls();

        assertEquals(4 * MIB, pool.trimTo(0));

        assertEquals(calls, source.calls());
        device.capturing(false);
        assertEquals(0, pool.trimTo(0));
    }

    /** A capture begins right after the device has said that there is none. */
    @ParameterizedTest
    @EnumSource(names = {"STRICT", "TRACKED", "STREAM_ORDERED"})
    void shouldGrowIfACaptureBegins(final ReusePolicy policy) {
        final boolean[] capturing = {true};
        final SteadyDevice sudden = new SteadyDevice() {
            private boolean told;

            @Override
            public boolean isCapturing() {
                told = capturing[0] && !told;
                return capturing[0] && !told;
            }

            @Override
            public long mark() {
                return capturing[0] ? NO_MARK : super.mark();
            }

            @Override
            public boolean isFinished(final long mark) {
                assertNotEquals(NO_MARK, mark);
                return !capturing[0];
            }
        };
        final Pool pool = builder(policy)
                .reuse(policy, sudden)
                .limitBytes(8 * MIB)
                .growInPlace(false)
                .build();
        pool.free(pool.allocate(4 * MIB));

        pool.free(pool.allocate(4 * MIB));

        assertEquals(8 * MIB, pool.statistics().limboBytes());
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(MIB));
        assertEquals(0, pool.statistics().synchronizations());
        capturing[0] = false;
        pool.allocate(MIB);
        assertEquals(0, pool.statistics().limboBytes());
    }

    /** A capture keeps full batches from being marked, until their stream has ended. */
    @Test
    void shouldRecycleFullBatchesOfAStreamThatHasEnded() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        device.capturing(true);
        allocateAndFree(pool, 3 * BATCH, 256);
        device.capturing(false);

        device.endStream(STREAM);

        assertEquals(0, pool.trimTo(0));
    }

    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class)
    void shouldWaitForTheDeviceAndForgetMarksWhenItIsClosed(final ReusePolicy policy) {
        final Pool pool = builder(policy).build();
        device.submit(STREAM);
        allocateAndFree(pool, 2 * BATCH + 1, 256);
        final long block = pool.allocateAsync(256, OTHER);
        pool.freeAsync(block, OTHER);

        pool.close();

        assertTrue(device.hasFinished(STREAM, 1));
        assertEquals(0, device.marksOut());
        assertEquals(0, source.regionsOut());
        assertEquals(0, pool.statistics().limboBytes());
        assertEquals(0, pool.statistics().usedBytes());
        final long calls = device.calls();
        assertThrows(IllegalStateException.class, () -> pool.allocateAsync(256, OTHER));
        pool.trimTo(0);
        assertEquals(calls, device.calls(), "the device may be gone");
    }

    /**
     * Most answers of the device are that work has finished, and some that it hasn't, so every way of recycling is
     * taken.
     */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class)
    void shouldMakeNoGarbage(final ReusePolicy policy) {
        final com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        final SteadyDevice steady = new SteadyDevice();
        final Pool pool =
                builder(policy).reuse(policy, steady).limboLimitBytes(MIB / 2).build();
        pool.addOutOfMemoryHandler((bytes, statistics) -> false);
        final long[] live = new long[128];
        work(pool, live, 200_000);

        long leastBytes = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            work(pool, live, 20_000);
            leastBytes = Math.min(leastBytes, threads.getCurrentThreadAllocatedBytes() - before);
        }

        assertEquals(0, leastBytes, "bytes for 20000 operations");
        assertTrue(policy == ReusePolicy.IMMEDIATE || steady.answers > 1000, "limbo was recycled");
    }

    /** Allocates and frees, with up to about 1 MiB of 4 in use. Limbo is recycled whenever it reaches its limit. */
    private static void work(final Pool pool, final long[] live, final int operations) {
        for (int i = 0; i < operations; i++) {
            final int slot = (i * 31) & (live.length - 1);
            if (live[slot] != 0) {
                pool.freeAsync(live[slot], slot & 3);
            }
            final long sizeBytes = 256 + ((i * 7919L) & 8191);
            live[slot] = (i & 4) == 0 ? pool.allocateAsync(sizeBytes, i & 3) : pool.allocate(sizeBytes);
        }
    }
}
