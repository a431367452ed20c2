package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * This class tests work with marks of contexts; {@link SynchronizerTest} tests it without. The twin on a real device is
 * {@code CudaWorkGpuTest}.
 */
class ContextWorkTest {

    private static final int MARKS = 31;

    private final FakeCuda cuda = new FakeCuda(2);
    private final StreamCaptures captures = new StreamCaptures();
    private final AtomicBoolean finished = new AtomicBoolean();
    private long context;
    private ContextWork work = work();

    @BeforeEach
    void makeContextCurrent() {
        context = cuda.currentContextOrZero();
    }

    private ContextWork work() {
        cuda.setDevice(0);
        return new ContextWork(new CudaContext(cuda, cuda.currentContextOrZero(), 0, captures));
    }

    private long createStream(final boolean blocking) {
        return cuda.streams().createStream(context, blocking);
    }

    private void submit(final long where, final long stream, final BooleanSupplier end) {
        cuda.streams().submit(where, stream, end);
    }

    private void beginCapture(final long stream) {
        assertTrue(captures.begin(stream, context));
        assertEquals(0, cuda.streams().beginCapture(stream));
    }

    @Test
    void shouldCoverStreamsOfAnyKindAndWhatDestroyedOnesHadBegun() {
        for (final boolean blocking : new boolean[] {true, false}) {
            for (final boolean destroyed : new boolean[] {true, false}) {
                finished.set(false);
                final long stream = createStream(blocking);
                submit(context, stream, finished::get);
                if (destroyed) {
                    cuda.streams().destroyStream(stream);
                }
                final long mark = work.mark();

                assertFalse(work.isFinished(mark));
                finished.set(true);
                assertTrue(work.isFinished(mark));
                work.release(mark);
            }
        }
    }

    @Test
    void shouldNotWaitForWhatCameLater() {
        final long mark = work.mark();
        submit(context, 0, () -> false);

        assertTrue(work.isFinished(mark));
    }

    @Test
    void shouldMarkAStreamByItself() {
        final long busy = createStream(true);
        final long other = createStream(true);
        submit(context, busy, finished::get);

        final long ofOther = work.mark(other);
        final long ofBusy = work.mark(busy);

        assertAll(() -> assertTrue(work.isFinished(ofOther)), () -> assertFalse(work.isFinished(ofBusy)));
        finished.set(true);
        assertTrue(work.isFinished(ofBusy));
    }

    /** A thread that makes an event may wait long beside threads that launch. */
    @Test
    void shouldMakeNoEventLater() {
        final int made = cuda.streams().eventsCreated();
        for (int i = 0; i < 1000; i++) {
            work.release(work.mark());
            work.release(work.mark(0));
        }

        assertEquals(made, cuda.streams().eventsCreated());
    }

    @Test
    void shouldHaveNoMarkLeftWhenAllAreInUse() {
        final long first = work.mark();
        for (int i = 1; i < MARKS; i++) {
            assertNotEquals(DeviceWork.NO_MARK_LEFT, work.mark());
        }
        assertEquals(DeviceWork.NO_MARK_LEFT, work.mark());
        assertNotEquals(DeviceWork.NO_MARK_LEFT, work.mark(0), "those of streams are apart");

        work.release(first);

        assertEquals(first, work.mark());
    }

    /**
     * Pools that rest keep the marks that they had when they were used last; the end of another pool once waited for
     * the marks without end.
     */
    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldLetAPoolEndThoughOthersHaveAllMarks() {
        final Pool pool = Pool.over(new VirtualMemorySource(1L << 30))
                .reuse(ReusePolicy.STRICT, work)
                .build();
        pool.free(pool.allocate(1024));
        long mark;
        do {
            mark = work.mark();
        } while (mark >= 0);
        assertEquals(DeviceWork.NO_MARK_LEFT, mark);

        pool.close();
    }

    @Test
    void shouldNotLoseAMarkThatFails() {
        cuda.streams().failRecord(cudaError.cudaErrorMemoryAllocation);
        assertThrows(CudaFailureException.class, work::mark);
        cuda.streams().failRecord(cudaError.cudaErrorMemoryAllocation);
        assertThrows(CudaFailureException.class, () -> work.mark(0));

        shouldHaveNoMarkLeftWhenAllAreInUse();
    }

    @Test
    void shouldWaitAndKeepAnInterrupt() {
        final AtomicInteger asked = new AtomicInteger();
        submit(context, createStream(false), () -> asked.incrementAndGet() > 5);
        Thread.currentThread().interrupt();

        work.await(work.mark());

        assertAll(() -> assertEquals(6, asked.get()), () -> assertTrue(Thread.interrupted()));
    }

    /** If the work stayed inside the guard, a capture could only begin once the device is done. */
    @Test
    void shouldBeInsideTheGuardOnlyWhileItAsks() throws InterruptedException {
        submit(context, createStream(false), finished::get);
        final long mark = work.mark();
        final Thread waiter = new Thread(() -> work.await(mark));
        waiter.start();
        for (int i = 0; i < 5; i++) {
            final long start = System.nanoTime();
            assertTrue(captures.begin(1, context));
            assertTrue(System.nanoTime() - start < 90_000_000, "it waits for a question at most");
            captures.ended(1);
        }
        finished.set(true);
        waiter.join();
    }

    // The following tests are about captures.

    @Test
    void shouldCallNothingThatACaptureDoesNotBear() {
        final long captured = createStream(false);
        final long mark = work.mark();
        beginCapture(captured);

        work.await(mark);

        assertAll(
                () -> assertTrue(work.isCapturing()),
                () -> assertFalse(work.isFinished(mark)),
                () -> assertEquals(DeviceWork.NO_MARK, work.mark()),
                () -> assertEquals(DeviceWork.NO_MARK, work.mark(0)),
                () -> assertFalse(cuda.streams().isCaptureBroken()));
        captures.ended(captured);
        assertTrue(cuda.streams().endCapture(captured));
        assertTrue(work.isFinished(work.mark()));
        assertFalse(captures.isEntered());
    }

    /** Nobody announced the capture, but it shows on the default stream. */
    @Test
    void shouldSeeACaptureOfABlockingStreamByItself() throws InterruptedException, ExecutionException {
        final long mark = work.mark();
        final long captured = createStream(true);
        assertEquals(0, cuda.streams().beginCapture(captured));
        // Another context is current.
        cuda.setDevice(1);

        assertAll(
                () -> assertTrue(work.isCapturing()),
                () -> assertFalse(work.isFinished(mark)),
                () -> assertEquals(DeviceWork.NO_MARK, work.mark()),
                () -> assertEquals(DeviceWork.NO_MARK, work.mark(captured)),
                () -> assertTrue(cuda.streams().endCapture(captured)));
    }

    // The following tests are about other contexts.

    @Test
    void shouldCoverOtherContextsOnceTheyAreAdded() {
        final long other = cuda.createContext(1);
        submit(other, 0, finished::get);
        assertTrue(work.isFinished(work.mark()), "it can't touch this one's memory");

        work.add(other);
        work.add(other);
        final long mark = work.mark();

        assertFalse(work.isFinished(mark));
        finished.set(true);
        assertTrue(work.isFinished(mark));
    }

    @Test
    void shouldForgetAContextThatEnded() {
        final long other = cuda.createContext(1);
        work.add(other);
        submit(other, 0, () -> false);
        final long mark = work.mark();

        cuda.endContext(other);
        work.contextEnded(other);

        assertAll(
                () -> assertTrue(work.isFinished(mark)),
                () -> assertTrue(work.isFinished(work.mark())),
                () -> assertFalse(work.covers(other)));
    }

    /** A broken context does no more work; it once kept every block of this context in limbo for good. */
    @Test
    void shouldGoOnWithoutAnotherContextThatIsBroken() {
        final long other = cuda.createContext(1);
        work.add(other);
        submit(other, 0, () -> false);
        final long before = work.mark();
        cuda.streams().breakContext(other);

        assertAll(
                () -> assertTrue(work.isFinished(before)),
                () -> assertTrue(work.isFinished(work.mark())),
                () -> assertFalse(work.covers(other)));
    }

    @Test
    void shouldTellWhenItsOwnContextIsBroken() {
        final long mark = work.mark();
        cuda.streams().breakContext(context);

        assertThrows(CudaFailureException.class, () -> work.isFinished(mark));
        assertThrows(CudaFailureException.class, () -> work.await(mark));
        assertThrows(CudaFailureException.class, work::mark);
    }

    // The following tests are about the names of streams.

    @Test
    void shouldKnowAStreamFromALaterOneOfTheSameHandle() {
        final long stream = createStream(true);
        final long first = work.idOf(stream);
        cuda.streams().destroyStream(stream);
        cuda.streams().useHandleAgain(stream);
        assertEquals(stream, createStream(true));

        assertAll(
                () -> assertNotEquals(first, work.idOf(stream)),
                () -> assertEquals(work.idOf(0), work.idOf(0)),
                () -> assertNotEquals(work.idOf(0), work.idOf(stream)));
    }

    // The following tests are about the end of the work.

    @Test
    void shouldDestroyItsEvents() {
        work.add(cuda.createContext(1));
        work.release(work.mark());

        work.close();

        assertAll(
                () -> assertEquals(0, cuda.streams().eventsOut()), () -> assertEquals(DeviceWork.NO_MARK, work.mark()));
    }

    @Test
    void shouldKeepTheEventsOfAMarkInUse() {
        final long mark = work.mark();

        work.close();

        assertTrue(work.isFinished(mark));
    }
}
