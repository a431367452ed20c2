package io.outboard.pool;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.simulated.SimulatedDevice;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** These tests repeat faults that programs met. */
class PoolFaultsTest {

    private static final long GIB = 1L << 30;
    private static final long MIB = 1L << 20;

    /** This device works forever, as if a kernel never ended. */
    private static final class EndlessDevice extends IdleDevice {

        final CountDownLatch end = new CountDownLatch(1);

        @Override
        public boolean isFinished(final long mark) {
            return end.getCount() == 0;
        }

        @Override
        public void await(final long mark) {
            try {
                end.await();
            } catch (final InterruptedException e) {
                throw new IllegalStateException("nobody interrupts", e);
            }
        }
    }

    /** The pool used to hold 35 and 111 GiB, since a region with 262,144 blocks counted as full. */
    @ParameterizedTest
    @CsvSource({"1000000, 1024", "1500000, 256"})
    void shouldHoldLittleMoreThanIsInUseHoweverManyBlocks(final int blocks, final long sizeBytes) {
        final Pool pool = Pool.over(new VirtualMemorySource(200 * GIB)).build();

        for (int i = 0; i < blocks; i++) {
            pool.allocate(sizeBytes);
        }

        final PoolStatistics statistics = pool.statistics();
        assertTrue(statistics.heldBytes() <= 1.3 * statistics.usedBytes(), statistics::toString);
    }

    @Test
    void shouldTakeMemoryRatherThanWaitForAKernelThatNeverEnds() {
        final EndlessDevice device = new EndlessDevice();
        final Pool pool = Pool.over(new VirtualMemorySource(100 * GIB))
                .reuse(ReusePolicy.STRICT, device)
                .build();
        final long block = pool.allocate(3 * GIB);
        pool.free(block);

        final long other = assertTimeoutPreemptively(ofSeconds(20), () -> pool.allocate(2 * GIB));

        assertNotEquals(block, other);
        device.end.countDown();
        assertEquals(0, assertTimeoutPreemptively(ofSeconds(20), () -> {
            pool.free(other);
            return pool.trimTo(0);
        }));
        pool.close();
    }

    /** A pool that has no other memory waits for the device. */
    @Test
    void shouldWaitForABusyDeviceInTheEnd() throws InterruptedException {
        final EndlessDevice device = new EndlessDevice();
        final Pool pool = Pool.over(new VirtualMemorySource(4 * GIB))
                .reuse(ReusePolicy.STRICT, device)
                .firstRegionBytes(4 * GIB)
                .build();
        final long block = pool.allocate(3 * GIB);
        pool.free(block);
        final long[] served = new long[1];
        final Thread waiter = new Thread(() -> served[0] = pool.allocate(2 * GIB));
        waiter.start();
        while (!isWaiting(waiter)) {
            Thread.onSpinWait();
        }

        device.end.countDown();
        waiter.join();

        assertEquals(block, served[0]);
        assertEquals(1, pool.statistics().synchronizations());
        pool.close();
    }

    private static boolean isWaiting(final Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    /** A thread for which there is no other memory waits, while a thread for which there is some goes on. */
    @Test
    void shouldNotHoldOthersUpWhileOneWaits() throws InterruptedException {
        final EndlessDevice device = new EndlessDevice();
        final Pool pool = Pool.over(new VirtualMemorySource(8 * GIB))
                .reuse(ReusePolicy.TRACKED, device)
                .firstRegionBytes(4 * GIB)
                .growInPlace(false)
                .build();
        pool.free(pool.allocate(3 * GIB));
        final Thread waiter = new Thread(() -> pool.allocate(7 * GIB));
        waiter.start();
        while (!isWaiting(waiter)) {
            Thread.onSpinWait();
        }

        assertTimeoutPreemptively(ofSeconds(20), () -> pool.allocate(2 * GIB));

        device.end.countDown();
        waiter.join();
        pool.close();
    }

    /**
     * The pool used to take all of its limit. It may hold an eighth of the limit, or twice what was in use plus slack.
     */
    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldWaitRatherThanGrowBeyondItsBound(final ReusePolicy policy) {
        final Pool pool = Pool.over(new VirtualMemorySource(64 * GIB))
                .reuse(policy, new SteadyDevice(true))
                .growInPlace(false)
                .firstRegionBytes(4 * MIB)
                .limitBytes(64 * MIB)
                .slackBytes(4 * MIB)
                .build();

        for (int i = 0; i < 1000; i++) {
            pool.free(pool.allocate(MIB));
        }

        final PoolStatistics statistics = pool.statistics();
        assertTrue(statistics.heldBytes() <= 8 * MIB, statistics::toString);
        assertTrue(statistics.synchronizations() > 10, statistics::toString);
    }

    /** A refusal used to take 1.1 ms and 3.6 MB, for a message that nobody may look at. */
    @Test
    void shouldNotLookAtAllBlocksToRefuseARequest() {
        final Pool pool = Pool.over(new VirtualMemorySource(GIB)).build();
        for (int i = 0; i < 100_000; i++) {
            pool.allocate(1024);
        }
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(2 * GIB));
        final long before = allocatedBytes();

        for (int i = 0; i < 100; i++) {
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(2 * GIB));
        }

        final long bytes = (allocatedBytes() - before) / 100;
        assertTrue(bytes < 16_384, () -> bytes + " bytes for a refusal");
    }

    @Test
    void shouldTellWhatThereWasThoughThePoolIsClosedWhenItIsAsked() {
        final DeviceOutOfMemoryException thrown;
        try (Pool pool = Pool.over(new VirtualMemorySource(GIB)).build()) {
            pool.allocate(MIB);
            thrown = assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(2 * GIB));
        }

        final String message = String.valueOf(thrown.getMessage());
        assertTrue(message.contains("1MiB]]"), message);
        assertFalse(message.contains("largest free block 0 bytes"), message);
    }

    /**
     * Each time limbo had 0.65 of 2^k blocks, its hash table used to be copied, which took 24 to 78 ms under the lock.
     */
    @Test
    void shouldNotCopyLimboAsItGrows() {
        final Pool pool = Pool.over(new VirtualMemorySource(100 * GIB))
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .firstRegionBytes(GIB)
                .build();
        final List<Long> blocks = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            blocks.add(pool.allocate(256));
        }
        long most = 0;
        for (final long block : blocks) {
            final long before = allocatedBytes();
            pool.free(block);
            most = Math.max(most, allocatedBytes() - before);
        }

        final long bytes = most;
        assertTrue(bytes < 65_536, () -> "a free took " + bytes + " bytes");
    }

    /** The tail used to be handed out at once, while a kernel was writing to it. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldNotHandATailOnThatTheDeviceMayBeUsing(final ReusePolicy policy) {
        final SimulatedDevice device = new SimulatedDevice();
        final Pool pool = Pool.over(new VirtualMemorySource(4 * MIB))
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB)
                .reuse(policy, device)
                .build();
        final long block = pool.allocate(4 * MIB);
        final long work = device.submit(1);

        pool.trim(block, MIB);

        assertEquals(MIB, pool.sizeOf(block));
        assertEquals(MIB, pool.statistics().usedBytes());
        assertEquals(3 * MIB, pool.statistics().limboBytes());
        assertEquals(block + MIB, pool.allocate(3 * MIB));
        assertTrue(device.hasFinished(1, work));
    }

    private static long allocatedBytes() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }
}
