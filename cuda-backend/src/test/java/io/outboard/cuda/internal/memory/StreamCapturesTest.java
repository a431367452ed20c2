package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StreamCapturesTest {

    private static final long STREAM = 0x51;
    private static final long CONTEXT = 0xC0;

    private final StreamCaptures captures = new StreamCaptures();
    private final ExecutorService other = Executors.newSingleThreadExecutor();

    @AfterEach
    void stop() {
        other.shutdownNow();
    }

    @Test
    void shouldLetNobodyInWhileAStreamIsCaptured() {
        assertTrue(captures.begin(STREAM, CONTEXT));
        assertFalse(captures.enter());
        captures.ended(STREAM);

        assertTrue(captures.enter());
    }

    @Test
    void shouldTellACaptureOfACapturedStream() {
        assertTrue(captures.begin(STREAM, CONTEXT));

        assertAll(() -> assertFalse(captures.begin(STREAM, CONTEXT)), () -> assertTrue(captures.any()));
    }

    /**
     * Each thread has a default stream of the handle {@link StreamCaptures#PER_THREAD_STREAM}; the end of one thread's
     * capture once ended all such captures.
     */
    @Test
    void shouldKeepCapturesOfThreadsDefaultStreamsApart() throws InterruptedException, ExecutionException {
        assertTrue(captures.begin(StreamCaptures.PER_THREAD_STREAM, CONTEXT));
        assertTrue(other.submit(() -> captures.begin(StreamCaptures.PER_THREAD_STREAM, CONTEXT))
                .get());

        captures.ended(StreamCaptures.PER_THREAD_STREAM);

        assertTrue(captures.any(), "the other thread's");
        other.submit(() -> captures.ended(StreamCaptures.PER_THREAD_STREAM)).get();
        assertFalse(captures.any());
    }

    @Test
    void shouldForgetTheCapturesOfAContext() {
        captures.begin(STREAM, CONTEXT);
        captures.begin(STREAM + 1, CONTEXT + 1);

        captures.contextEnded(CONTEXT);
        assertTrue(captures.any());
        captures.contextEnded(CONTEXT + 1);

        assertFalse(captures.any());
    }

    /** The event that a question is about might be gone with its context. */
    @Test
    void shouldLetNobodyInWhileAContextEnds() throws InterruptedException, ExecutionException {
        assertTrue(captures.enter());
        final Future<Long> left = other.submit(() -> {
            Thread.sleep(20);
            final long now = System.nanoTime();
            captures.leave();
            return now;
        });
        final long[] ended = new long[1];

        captures.whileEnding(() -> {
            ended[0] = System.nanoTime();
            assertTrue(captures.any());
            assertFalse(captures.enter());
        });

        assertTrue(ended[0] - left.get() >= 0, "it waits for those inside");
        assertTrue(captures.enter());
    }

    /** A wait of those inside may depend on the thread that begins the capture. */
    @Test
    void shouldNotWaitForEver() {
        assertTrue(captures.enter());

        assertTrue(captures.begin(STREAM, CONTEXT));
        captures.leave();
    }

    @Test
    void shouldKeepAnInterrupt() {
        assertTrue(captures.enter());
        Thread.currentThread().interrupt();

        final long start = System.nanoTime();
        assertTrue(captures.begin(STREAM, CONTEXT));
        final long nanos = System.nanoTime() - start;

        assertAll(
                () -> assertTrue(Thread.interrupted()),
                () -> assertTrue(nanos > 50_000_000, "it waits all the same: " + nanos));
    }

    /** Of two threads, one enters the guard and one captures: never both at a time. */
    @Test
    void shouldKeepCapturesAndThoseInsideApart() throws InterruptedException, ExecutionException {
        final AtomicBoolean capturing = new AtomicBoolean();
        final AtomicBoolean finished = new AtomicBoolean();
        final AtomicInteger together = new AtomicInteger();
        final Future<Integer> entered = other.submit(() -> {
            int count = 0;
            while (!finished.get()) {
                if (captures.enter()) {
                    count++;
                    if (capturing.get()) {
                        together.incrementAndGet();
                    }
                    captures.leave();
                }
            }
            return count;
        });
        for (int i = 0; i < 20_000; i++) {
            captures.begin(STREAM, CONTEXT);
            capturing.set(true);
            capturing.set(false);
            captures.ended(STREAM);
        }
        finished.set(true);

        final int count = entered.get();
        assertEquals(0, together.get(), "of " + count);
    }
}
