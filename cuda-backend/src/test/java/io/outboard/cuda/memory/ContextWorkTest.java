package io.outboard.cuda.memory;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ContextWorkTest {

    private final FakeCuda cuda = new FakeCuda(1);
    private final StreamCaptures captures = new StreamCaptures();
    private ContextWork work = new ContextWork(cuda, 0, captures, true);

    @BeforeEach
    void makeContextCurrent() {
        cuda.setDevice(0);
        work = new ContextWork(cuda, cuda.currentContextOrZero(), captures, true);
    }

    private long createStream() {
        final long stream = cuda.streams().createStream(cuda.currentContextOrZero());
        work.add(stream);
        return stream;
    }

    private void beginCapture(final long stream) {
        assertTrue(captures.begin(stream, cuda.currentContextOrZero()));
        assertEquals(0, cuda.streams().beginCapture(stream));
    }

    @Test
    void shouldCallNothingThatACaptureDoesNotBear() {
        final long captured = createStream();
        final long stream = createStream();
        final long mark = work.mark();
        assertTrue(work.isFinished(mark));
        beginCapture(captured);

        work.cover(stream);
        work.await(mark);

        assertAll(
                () -> assertFalse(work.isFinished(mark)),
                () -> assertEquals(ContextWork.NO_MARK, work.mark()),
                () -> assertEquals(ContextWork.NO_MARK, work.mark(stream)),
                () -> assertFalse(work.synchronize()),
                () -> assertFalse(cuda.streams().isCaptureBroken()));
        captures.ended(captured);
        assertTrue(cuda.streams().endCapture(captured));
        assertTrue(work.isFinished(work.mark()));
        assertTrue(work.synchronize());
        assertFalse(captures.isEntered());
    }

    @Test
    void shouldWaitForAStreamThatCouldNotBeCovered() {
        final long stream = createStream();
        cuda.streams().failRecord(cudaError.cudaErrorMemoryAllocation);
        assertThrows(CudaFailureException.class, () -> work.streamEnds(stream));

        work.mark();
        work.mark();

        assertEquals(1, cuda.streams().synchronizations(), "once");
    }

    /** One that is broken does no more work; it kept every block of this context in limbo for good. */
    @Test
    void shouldGoOnWithoutAnotherContextThatIsBroken() {
        final long other = cuda.createContext(0);
        cuda.streams().failRecord(cudaError.cudaErrorIllegalAddress);
        assertThrows(CudaFailureException.class, () -> work.cover(ContextWork.DEFAULT_STREAM, other));
        cuda.streams().breakContext(other);

        assertTrue(work.isFinished(work.mark()));
        assertTrue(work.synchronize());
    }

    /** The driver hands handles out again; every mark of such a stream was one of all. */
    @Test
    void shouldMarkAStreamByItselfThatHasTheHandleOfOneThatEnded() {
        final long busy = createStream();
        final long stream = createStream();
        work.streamEnds(stream);
        cuda.streams().destroyStream(stream);
        cuda.streams().useHandleAgain(stream);
        assertEquals(stream, createStream());
        submit(busy, () -> false);

        assertTrue(work.isFinished(work.mark(stream)));
    }

    @Test
    void shouldRecordNothingOnStreamsWhoseWorkHasFinished() {
        createStream();
        createStream();
        final int before = cuda.streams().records();

        assertTrue(work.isFinished(work.mark()));

        assertEquals(1, cuda.streams().records() - before, "the mark itself");
    }

    @Test
    void shouldCoverBlockingStreamsThatItDoesNotKnow() {
        submit(cuda.streams().createStream(cuda.currentContextOrZero()), () -> false);

        assertFalse(work.isFinished(work.mark()));
    }

    @Test
    void shouldCoverKnownStreamsOfEitherKind() {
        for (final boolean blocking : new boolean[] {true, false}) {
            final AtomicBoolean finished = new AtomicBoolean();
            final long stream = cuda.streams().createStream(cuda.currentContextOrZero(), blocking);
            work.add(stream);
            submit(stream, finished::get);

            final long mark = work.mark();

            assertFalse(work.isFinished(mark));
            finished.set(true);
            assertTrue(work.isFinished(mark));
        }
    }

    /** A record on stream 0 makes each blocking stream wait for all. */
    @Test
    void shouldNotJoinStreamsIfTheDefaultOneIsUnused() {
        final long slow = createStream();
        final long fast = createStream();
        work.defaultStreamIsUnused();
        submit(slow, () -> false);

        final long mark = work.mark();
        submit(fast, () -> true);

        assertAll(
                () -> assertFalse(work.isFinished(mark)),
                () -> assertEquals(0, cuda.queryStream(fast), "it waits for nobody"));
    }

    @Test
    void shouldLookForACaptureAgainBeforeItMarks() {
        final long captured = owe();

        assertEquals(ContextWork.NO_MARK, work.mark());

        assertTrue(cuda.streams().endCapture(captured), "the capture is whole");
        assertFalse(captures.isEntered());
    }

    @Test
    void shouldLookForACaptureAgainBeforeItSynchronises() {
        final long captured = owe();

        assertFalse(work.synchronize());

        assertTrue(cuda.streams().endCapture(captured), "the capture is whole");
        assertFalse(captures.isEntered());
    }

    /** Work that must be waited for first, and a capture that begins meanwhile. */
    private long owe() {
        final long stream = createStream();
        final long captured = createStream();
        cuda.streams().failRecord(cudaError.cudaErrorMemoryAllocation);
        assertThrows(CudaFailureException.class, () -> work.streamEnds(stream));
        cuda.streams().duringSynchronize(() -> {
            cuda.streams().duringSynchronize(() -> {});
            beginCapture(captured);
        });
        return captured;
    }

    @Test
    void shouldBeIdleOnceAllStreamsAre() {
        createStream();
        work.add(cuda.streams().createStream(cuda.currentContextOrZero(), false));

        assertTrue(work.isIdle());
    }

    @Test
    void shouldNotBeIdleWhileAnyStreamWorks() {
        for (final boolean known : new boolean[] {true, false}) {
            for (final boolean blocking : new boolean[] {true, false}) {
                final AtomicBoolean finished = new AtomicBoolean();
                final long stream = cuda.streams().createStream(cuda.currentContextOrZero(), blocking);
                if (known) {
                    work.add(stream);
                }
                submit(stream, finished::get);

                // Who doesn't tell of a stream that doesn't block has been warned.
                assertEquals(!known && !blocking, work.isIdle());
                finished.set(true);
                assertTrue(work.isIdle());
            }
        }
        assertEquals(0, cuda.streams().records());
    }

    @Test
    void shouldNotBeIdleWhileTheWorkOfADestroyedStreamGoesOn() {
        final AtomicBoolean finished = new AtomicBoolean();
        final long stream = cuda.streams().createStream(cuda.currentContextOrZero(), false);
        work.add(stream);
        submit(stream, finished::get);
        work.streamEnds(stream);
        cuda.streams().destroyStream(stream);

        assertFalse(work.isIdle());
        finished.set(true);
        assertTrue(work.isIdle());
    }

    /** One that was destroyed elsewhere crashes the driver when it is asked. */
    @Test
    void shouldAskNoKnownStreamIfThatIsNotSafe() {
        work = new ContextWork(cuda, cuda.currentContextOrZero(), captures, false);
        final long stream = createStream();
        cuda.streams().destroyStream(stream);
        assertTrue(work.isIdle());

        work.add(cuda.streams().createStream(cuda.currentContextOrZero(), false));

        assertFalse(work.isIdle(), "it can't be found out");
    }

    @Test
    void shouldNotAskWhetherItIsIdleDuringACapture() {
        final long stream = createStream();
        beginCapture(stream);

        assertFalse(work.isIdle());

        assertEquals(0, cuda.streams().queries());
        assertTrue(cuda.streams().endCapture(stream));
    }

    /** Nobody told of the capture. */
    @Test
    void shouldNotBreakACaptureWhenItIsAskedWhetherItIsIdle() {
        final long stream = createStream();
        assertEquals(0, cuda.streams().beginCapture(stream));

        assertFalse(work.isIdle());

        assertTrue(cuda.streams().endCapture(stream));
    }

    @Test
    void shouldNotCallAFailureIdle() {
        cuda.streams().breakContext(cuda.currentContextOrZero());

        assertFalse(work.isIdle());
    }

    private void submit(final long stream, final BooleanSupplier finished) {
        cuda.streams().submit(cuda.currentContextOrZero(), stream, finished);
    }
}
