package io.outboard.cuda.memory;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
}
