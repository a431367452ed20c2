package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.arena.StreamLimbo;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Marks can't be made, or not at the best time. Still, nothing is lost, and nothing comes back early. */
class PoolMarksTest {

    private static final long MIB = 1L << 20;
    private static final long STREAM = 1;

    private final FailingMemorySource source = new FailingMemorySource(1L << 40);
    private final SimulatedDevice device = new SimulatedDevice();

    private final Region region = new Region(0, MIB);
    private final Strategy strategy = Strategies.named("tlsf").create(region, new StrategyOptions(256, 1024));
    private final Arenas arenas = new Arenas(false, 0, Long.MAX_VALUE, 0);
    private final Arena arena = arenas.home();
    private final Segment segment = new Segment(arena, region, strategy, null, 1024, 1024);
    private final DeviceMarks marks = new DeviceMarks(device, arenas.progress, arenas.streams);

    private PoolBuilder builder(final ReusePolicy policy) {
        return Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 4096))
                .firstRegionBytes(4 * MIB)
                .limitBytes(4 * MIB)
                .reuse(policy, device);
    }

    /** Whichever call of the device fails, the block is freed, and comes back even if its stream has ended. */
    @Test
    void shouldRecycleWhatCouldNotBeMarkedBeforeItsStreamEnded() {
        for (int failing = 1; failing <= 6; failing++) {
            final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
            final long stream = 100L + failing;
            final long block = pool.allocateAsync(4 * MIB, stream);
            device.submit(stream);
            device.failAt(failing, () -> new IllegalStateException("no event"));
            try {
                pool.freeAsync(block, stream);
            } catch (final IllegalStateException e) {
                assertEquals("no event", e.getMessage());
            }
            device.failAt(Long.MAX_VALUE / 2, () -> new IllegalStateException("never"));
            device.endStream(stream);

            assertEquals(0, pool.statistics().liveBlocks());
            assertEquals(block, pool.allocate(4 * MIB));
            assertTrue(device.hasFinished(stream, 1));
            pool.free(block);
            assertEquals(0, pool.trimTo(0));
            assertEquals(0, device.marksOut());
        }
    }

    @Test
    void shouldAskAgainAfterTheDeviceFailed() {
        final Pool pool = builder(ReusePolicy.STRICT).build();
        pool.free(pool.allocate(4 * 256));
        device.failAt(1, () -> new IllegalStateException("broken"));
        assertThrows(IllegalStateException.class, () -> pool.trimTo(0));

        assertEquals(0, pool.trimTo(0));
        assertEquals(0, device.marksOut());
    }

    /** The driver hands out a handle again. What was freed on the old stream has nothing to do with the new one. */
    @Test
    void shouldKeepAStreamThatEndedApartFromTheNextWithItsHandle() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        final long block = pool.allocateAsync(MIB, STREAM);
        device.submit(STREAM);
        pool.freeAsync(block, STREAM);
        device.endStream(STREAM);
        device.beginStream(STREAM);

        assertNotEquals(block, pool.allocateAsync(MIB, STREAM));

        device.finishAll();
        assertEquals(2 * MIB, pool.sizeOf(pool.allocate(2 * MIB)));
    }

    /** A thread may free into limbo just when another thread finds limbo empty, and forgets all marks. */
    @Test
    void shouldNotTakeWorkForFinishedWhoseMarkItForgets() {
        final long block = place(1)[0];
        device.submit(STREAM);
        marks.mark(Objects.requireNonNull(arenas.streams.free(segment, block, STREAM, 0)), STREAM);

        marks.forgetAll();
        arenas.streams.releaseFinished();
        assertEquals(256, arena.limboBytes());
        assertEquals(0, device.marksOut());

        device.finishAll();
        assertTrue(marks.ask(arenas.closeAll()));
        arenas.streams.releaseFinished();
        assertEquals(0, arena.limboBytes());
    }

    /** All work has finished before the mark of one stream is made. Only that stream knows of the mark. */
    @Test
    void shouldKnowAStreamUntilItsWorkIsMarked() {
        final long[] blocks = place(100);
        final StreamLimbo late = Objects.requireNonNull(arenas.streams.free(segment, blocks[0], STREAM, 0));
        for (int i = 1; i < blocks.length; i++) {
            marks.mark(Objects.requireNonNull(arenas.streams.free(segment, blocks[i], STREAM + i, 0)), STREAM + i);
        }
        assertTrue(marks.ask(arenas.closeAll()));
        marks.askStreams();
        arenas.streams.releaseFinished();
        assertEquals(0, arena.limboBytes());
        assertEquals(1, arenas.streams.all().length, "the others are forgotten");

        marks.mark(late, STREAM);
        assertEquals(1, device.marksOut());
        marks.askStreams();
        assertEquals(0, device.marksOut());
    }

    /** Places blocks in one arena, and returns their addresses. */
    private long[] place(final int blocks) {
        final long[] addresses = new long[blocks];
        arena.lock();
        arena.add(segment);
        for (int i = 0; i < blocks; i++) {
            addresses[i] = arena.placeIn(segment, 256, 1);
        }
        arena.unlock();
        return addresses;
    }

    /** Events are made ahead of need, so there may be none left. The pool then manages with those that it has. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldDoWithFewMarks(final ReusePolicy policy) {
        device.mostMarks(1);
        final Pool pool = builder(policy).build();

        for (int i = 0; i < 2560; i++) {
            final long stream = i % 5;
            final long block = pool.allocateAsync(64 << 10, stream);
            device.submit(stream);
            pool.freeAsync(block, stream);
        }
        device.finishAll();

        assertEquals(0, pool.trimTo(0));
        assertEquals(0, device.marksOut());
    }

    /**
     * The device is far behind. The first 32 marks used to be the only ones until the device had come so far, and then
     * memory came back all at once.
     */
    @Test
    void shouldGetMemoryBackLittleByLittleFromADeviceThatIsFarBehind() {
        final AtomicInteger made = new AtomicInteger();
        final AtomicInteger done = new AtomicInteger();
        final DeviceMarks far = new DeviceMarks(
                new IdleDevice() {
                    @Override
                    public long mark() {
                        return made.incrementAndGet();
                    }

                    @Override
                    public boolean isFinished(final long mark) {
                        return mark <= done.get();
                    }
                },
                arenas.progress,
                arenas.streams);
        for (int i = 1; i <= 1000; i++) {
            assertFalse(far.ask(i));
        }
        assertEquals(1000, made.get());

        for (int eighth = 1; eighth <= 8; eighth++) {
            done.set(125 * eighth);
            far.ask(1000);
            final long finished = arenas.progress.finished();
            assertTrue(finished <= 125L * eighth && finished > 125L * (eighth - 1), () -> finished + " of " + done);
        }
    }

    /**
     * Another pool has all marks of the same device. The device used to count as one that can't be marked, and the
     * request was refused.
     */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldWaitForAMarkThatOthersHave() throws Exception {
        device.mostMarks(1);
        final Pool pool = builder(ReusePolicy.STRICT).build();
        final long block = pool.allocate(4 * MIB);
        device.submit(STREAM);
        final long other = device.mark();
        pool.free(block);
        final FutureTask<Long> request = new FutureTask<>(() -> pool.allocate(4 * MIB));
        awaitPause(new Thread(request));
        device.release(other);

        assertEquals(block, request.get());
        assertTrue(device.hasFinished(STREAM, 1));
    }

    /** The pool used to give back memory that the device still worked on. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldWaitForTheDeviceAtTheEndThoughNoMarkIsLeft() throws Exception {
        device.mostMarks(1);
        final Pool pool = builder(ReusePolicy.STRICT).build();
        pool.allocate(MIB);
        device.submit(STREAM);
        final long other = device.mark();
        final Thread thread = new Thread(pool::close);
        awaitPause(thread);
        assertEquals(1, source.regionsOut());

        device.release(other);

        thread.join();
        assertTrue(device.hasFinished(STREAM, 1));
    }

    /** All marks in use are of a stream, and have finished. Nobody used to ask about them any more. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldCloseThoughItsStreamsHaveAllMarks() {
        device.mostMarks(1);
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        final long[] blocks = new long[64];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = pool.allocateAsync(32 << 10, STREAM);
        }
        device.submit(STREAM);
        for (final long block : blocks) {
            pool.freeAsync(block, STREAM);
        }
        assertEquals(1, device.marksOut());
        device.finishAll();

        pool.close();

        assertEquals(0, device.marksOut());
    }

    /**
     * The block is freed while a mark is made. Work of the block may come after the mark, so the block waits for the
     * next one.
     */
    @Test
    void shouldNotFreeWithAMarkWhatIsFreedWhileThatIsMade() {
        final long[] blocks = place(4);
        final DeviceMarks slow = new DeviceMarks(
                new IdleDevice() {
                    @Override
                    public long mark() {
                        if (arenas.totals.frees() == 1) {
                            arena.free(segment, blocks[1]);
                            arena.close();
                        }
                        return 0;
                    }

                    @Override
                    public long mark(final long stream) {
                        arenas.streams.free(segment, blocks[3], STREAM, 0);
                        return 0;
                    }
                },
                arenas.progress,
                arenas.streams);
        arena.free(segment, blocks[0]);

        assertTrue(slow.ask(arena.close()));
        arenas.releaseAll();
        assertEquals(256, arena.limboBytes());

        assertTrue(slow.ask(arena.close()));
        arenas.releaseAll();
        assertEquals(0, arena.limboBytes());

        slow.mark(Objects.requireNonNull(arenas.streams.free(segment, blocks[2], STREAM, 0)), STREAM);
        slow.askStreams();
        arenas.releaseAll();
        assertEquals(256, arena.limboBytes(), "of a stream, too");
    }

    /**
     * The device fails to forget one of two marks. Nobody used to look at the other again, and closing waited forever.
     */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldWaitForWorkThoughTheDeviceFailedToForgetAMark() {
        final AtomicInteger left = new AtomicInteger(2);
        final AtomicBoolean finished = new AtomicBoolean();
        final DeviceMarks few = new DeviceMarks(
                new IdleDevice() {
                    @Override
                    public long mark() {
                        return left.get() == 0 ? NO_MARK_LEFT : left.decrementAndGet();
                    }

                    @Override
                    public boolean isFinished(final long mark) {
                        return finished.get();
                    }

                    @Override
                    public void release(final long mark) {
                        if (finished.get()) {
                            left.incrementAndGet();
                        } else {
                            throw new IllegalStateException("it fails");
                        }
                    }
                },
                arenas.progress,
                arenas.streams);
        for (final long block : place(2)) {
            arena.free(segment, block);
            assertFalse(few.ask(arena.close()));
        }
        assertThrows(IllegalStateException.class, few::forgetAll);
        finished.set(true);

        few.await();

        assertEquals(1, left.get());
    }

    /** A mark may be a point in time, so two marks may be equal. The one without a waiter used to be never released. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldReleaseEachOfTwoEqualMarksThoughOneIsAwaited() throws Exception {
        final long[] blocks = place(2);
        final AtomicInteger out = new AtomicInteger();
        final AtomicBoolean finished = new AtomicBoolean();
        final CountDownLatch awaiting = new CountDownLatch(1);
        final CountDownLatch end = new CountDownLatch(1);
        final DeviceMarks equal = new DeviceMarks(
                new IdleDevice() {
                    @Override
                    public long mark() {
                        out.incrementAndGet();
                        return 0;
                    }

                    @Override
                    public boolean isFinished(final long mark) {
                        return finished.get();
                    }

                    @Override
                    public void await(final long mark) {
                        awaiting.countDown();
                        try {
                            end.await();
                        } catch (final InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }

                    @Override
                    public void release(final long mark) {
                        out.decrementAndGet();
                    }
                },
                arenas.progress,
                arenas.streams);
        for (final long block : blocks) {
            arena.free(segment, block);
            assertFalse(equal.ask(arena.close()));
        }
        assertEquals(2, out.get());
        final Thread waiter = new Thread(equal::awaitOldest);
        waiter.start();
        awaiting.await();

        finished.set(true);
        assertTrue(equal.ask(arena.close()));
        end.countDown();
        waiter.join();

        assertEquals(0, out.get());
    }

    /** Starts the thread, and waits until it pauses or has ended. */
    private static void awaitPause(final Thread thread) {
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING && thread.getState() != Thread.State.TERMINATED) {
            Thread.onSpinWait();
        }
    }
}
