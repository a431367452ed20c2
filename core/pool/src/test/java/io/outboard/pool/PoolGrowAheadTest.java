package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pool takes its next step of memory ahead of need, so that fewer requests wait for the source. */
class PoolGrowAheadTest {

    private static final long MIB = 1L << 20;

    private final FailingMemorySource source = new FailingMemorySource(8192 * MIB).growingInPlace();
    private final SimulatedDevice device = new SimulatedDevice();

    private PoolBuilder builder() {
        return Pool.over(source)
                .firstRegionBytes(32 * MIB)
                .slackBytes(512 * MIB)
                .reuse(ReusePolicy.STRICT, device);
    }

    /** The pool has no thread to grow it; the test does the work of that thread. */
    private final Pool pool = builder().build();

    private long heldMib() {
        return pool.statistics().heldBytes() / MIB;
    }

    private void allocate(final int blocks) {
        for (int i = 0; i < blocks; i++) {
            assertTrue(source.hasMemory(pool.allocate(MIB), MIB));
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldHaveAThreadThatGrowsIt() throws Exception {
        try (Pool growing = builder().growAhead(true).build()) {
            for (int i = 0; i < 25; i++) {
                growing.allocate(MIB);
            }
            while (growing.statistics().heldBytes() < 64 * MIB) {
                Thread.sleep(1);
            }
            assertTrue(source.lastCaller() != Thread.currentThread());
        }
    }

    /** The thread sleeps in other places, too, such as at a lock. A wish to grow that woke it there used to be lost. */
    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldGrowAnArenaThatWantsItWhileAnotherIsGrown() throws Exception {
        final Semaphore asked = new Semaphore(0);
        final Semaphore answers = new Semaphore(0);
        try (Pool growing = builder().spread(2).growAhead(true).build()) {
            for (int arena = 0; arena < 2; arena++) {
                ArenaThreads.call(arena, () -> growing.allocate(MIB));
            }
            final long heldBytes = growing.statistics().heldBytes();
            source.whenAsked(() -> {
                asked.release();
                answers.acquireUninterruptibly();
            });
            // The thread grows the second arena, since it has already looked at the first.
            for (int arena = 1; arena >= 0; arena--) {
                ArenaThreads.call(arena, () -> {
                    for (int i = 0; i < 24; i++) {
                        growing.allocate(MIB);
                    }
                    return 0;
                });
                asked.acquire(arena);
            }
            answers.release(10);
            while (growing.statistics().heldBytes() < heldBytes + 64 * MIB) {
                Thread.sleep(1);
            }
        }
    }

    @Test
    void shouldGrowWhenAQuarterOfAStepIsLeft() {
        allocate(24);
        pool.idle.growAhead();
        assertEquals(32, heldMib());
        allocate(1);
        pool.idle.growAhead();
        assertEquals(64, heldMib());
        pool.idle.growAhead();
        assertEquals(64, heldMib());
    }

    @Test
    void shouldServeAllRequestsWithoutTheSource() {
        allocate(1);
        for (int i = 0; i < 400; i++) {
            final long calls = source.calls();
            allocate(1);
            assertEquals(calls, source.calls());
            pool.idle.growAhead();
        }
    }

    /** Memory in limbo counts like memory in use, until the device says that it has finished. */
    @Test
    void shouldGrowForWhatIsInLimbo() {
        for (int i = 0; i < 25; i++) {
            pool.free(pool.allocate(MIB));
        }
        pool.idle.growAhead();
        assertEquals(64, heldMib());
    }

    /** Memory comes back soon on an idle device, which is asked early. */
    @Test
    void shouldNotGrowForWhatHasComeBackMeanwhile() {
        final Pool asking = builder().limboLimitBytes(8 * MIB).build();
        final long[] blocks = new long[25];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = asking.allocate(MIB);
        }
        for (final long block : blocks) {
            asking.free(block);
        }
        assertTrue(asking.statistics().limboBytes() < 20 * MIB);
        asking.idle.growAhead();
        assertEquals(32 * MIB, asking.statistics().heldBytes());
    }

    /** The device is far behind. What the pool takes beyond its slack is only for requests that are there. */
    @Test
    void shouldTakeNothingAheadBeyondTheSlack() {
        final Pool small = builder()
                .slackBytes(64 * MIB)
                .reuse(ReusePolicy.STRICT, new IdleDevice() {
                    @Override
                    public boolean isFinished(final long mark) {
                        return false;
                    }
                })
                .build();
        long grownAhead = 0;
        for (int i = 0; i < 500; i++) {
            small.free(small.allocate(MIB));
            final long before = small.statistics().heldBytes();
            final long questions = source.questions();
            small.idle.growAhead();
            final long after = small.statistics().heldBytes();
            assertTrue(after == before || after <= 64 * MIB, () -> before + " and then " + after);
            assertTrue(after > before || source.questions() == questions, "nothing is asked in vain");
            grownAhead += after - before;
        }
        assertTrue(grownAhead > 0);
        assertTrue(small.statistics().heldBytes() >= 500 * MIB);
    }

    /**
     * Where the device had no memory for a step, each request used to try to grow, and woke the thread, which tried,
     * too. All waited for the driver.
     */
    @Test
    void shouldNotWantAStepAgainThatItDidNotGet() {
        allocate(25);
        source.takeForOthers(8192 * MIB - 32 * MIB);
        pool.idle.growAhead();
        allocate(6);
        for (int i = 0; i < 10; i++) {
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(2 * MIB));
            pool.free(pool.allocate(1));
            final long questions = source.questions();
            pool.idle.growAhead();
            assertEquals(questions, source.questions());
        }
    }

    /**
     * Blocks share the pieces of steps, and a piece only moves if all blocks in it are free. Too few pieces could move.
     */
    @Test
    void shouldServeALargePartOfADeviceThatItFilled() {
        final long totalBytes = 141L << 30;
        final SplittableRandom random = new SplittableRandom(0);
        final Pool large = Pool.over(new FailingMemorySource(totalBytes).growingInPlace())
                .firstRegionBytes(64 * MIB)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .build();
        final List<Long> blocks = new ArrayList<>();
        while (large.statistics().usedBytes() < totalBytes / 20 * 17 - 64 * MIB) {
            blocks.add(large.allocate(random.nextLong(MIB, 64 * MIB)));
            large.idle.growAhead();
        }
        for (int i = 0; i < blocks.size(); i += 2) {
            large.free(blocks.get(i));
        }
        large.allocate(totalBytes / 5 * 2);
    }

    @Test
    void shouldTakeNothingBackThatWasTrimmedMeanwhile() {
        final long[] blocks = new long[25];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = pool.allocate(MIB);
        }
        for (final long block : blocks) {
            pool.free(block);
        }
        assertEquals(0, pool.trimTo(0));
        pool.idle.growAhead();
        assertEquals(0, heldMib());
    }

    /** The pool had more than it needs. A pool that is trimmed again and again used to take a step back each time. */
    @Test
    void shouldTakeNothingAheadAfterATrimBeforeARequestGrowsIt() {
        allocate(21);
        pool.allocate(200 * MIB);
        pool.idle.growAhead();
        assertTrue(heldMib() > 222);
        pool.trimTo(0);
        final long heldMib = heldMib();
        for (int i = 0; i < 100; i++) {
            pool.free(pool.allocate(256));
            pool.idle.growAhead();
        }
        assertEquals(heldMib, heldMib());
    }

    @Test
    void shouldTakeNothingAheadOfWhatIsLeftToOthers() {
        final Pool leaving = builder().leave(8192 * MIB - 32 * MIB - 255 * MIB).build();
        for (int i = 0; i < 25; i++) {
            leaving.allocate(MIB);
        }
        leaving.idle.growAhead();
        assertEquals(32 * MIB, leaving.statistics().heldBytes());
        leaving.close();
    }

    @Test
    void shouldNotGrowAheadWhereBlocksAreFreeAtOnce() {
        final Pool immediate = builder().reuse(ReusePolicy.IMMEDIATE, device).build();
        for (int i = 0; i < 30; i++) {
            immediate.allocate(MIB);
        }
        immediate.idle.growAhead();
        assertEquals(32 * MIB, immediate.statistics().heldBytes());
    }

    @Test
    void shouldNotGrowAheadWhileAStreamIsCaptured() {
        allocate(25);
        device.capturing(true);
        pool.idle.growAhead();
        assertEquals(32, heldMib());
    }

    @Test
    void shouldTakeNothingAheadOfWhatIsScarce() {
        allocate(25);
        source.takeForOthers(8192 * MIB - 32 * MIB - 255 * MIB);
        pool.idle.growAhead();
        assertEquals(32, heldMib());
    }

    @Test
    void shouldGoOnThoughTheSourceFails() {
        allocate(25);
        source.failAt(1, () -> new IllegalStateException("the device is gone"));
        pool.idle.growAhead();
        assertEquals(32, heldMib());
        allocate(40);
    }
}
