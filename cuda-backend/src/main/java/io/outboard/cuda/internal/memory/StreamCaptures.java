package io.outboard.cuda.internal.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import jcuda.driver.CUstreamCaptureMode;

/**
 * The captures into graphs that the facade has begun and not ended, by their streams; and a guard between captures and
 * the calls that break them: to wait for the device, and to record and query events. One that runs into the driver's
 * begin of a capture can crash the process.
 *
 * <pre>
 *   the capture:  announce; let those inside leave; the driver's begin ... the driver's end; withdraw
 *   others:       enter, unless one is announced; call the driver; leave
 * </pre>
 *
 * <p>Nobody who enters ever waits. A thread that begins a capture waits for those inside, but not for long: a thread
 * that stays inside waits for the device in the driver, which a capture that begins later doesn't disturb. What it
 * waits for may even depend on the thread that begins the capture. Safe for any number of threads.
 */
public final class StreamCaptures {

    /** The handle that names each thread's own default stream. */
    static final long PER_THREAD_STREAM = 2;

    private static final long PAUSE_NANOS = 100_000;

    /** Together they take 100 to 300 ms. They are many, so that a stall in one of them matters little. */
    private static final int MOST_PAUSES = 1000;

    /** A stream, and the thread that it belongs to; the thread is 0 if the handle means the same to all threads. */
    private record Captured(long stream, long thread) {

        static Captured of(final long stream) {
            // No later thread gets the same number.
            return new Captured(
                    stream, stream == PER_THREAD_STREAM ? Thread.currentThread().getId() : 0);
        }
    }

    /** Maps each stream that is captured to its context. */
    private final Map<Captured, Long> contexts = new ConcurrentHashMap<>();

    private final AtomicInteger inside = new AtomicInteger();

    /** Counts contexts that are being ended. */
    private final AtomicInteger endings = new AtomicInteger();

    /**
     * Announces a capture, and waits for those inside, some 300 ms at most. The driver's begin comes next, and {@link
     * #ended} if that fails. The answer is false if the stream was captured already.
     */
    public boolean begin(final long stream, final long context) {
        if (contexts.putIfAbsent(Captured.of(stream), context) != null) {
            return false;
        }
        awaitThoseInside();
        return true;
    }

    private void awaitThoseInside() {
        boolean interrupted = false;
        // This volatile read comes after the announcement; it pairs with enter, which counts first and then looks for a
        // capture: one of the two sees the other.
        for (int i = 0; i < MOST_PAUSES && isEntered(); i++) {
            LockSupport.parkNanos(PAUSE_NANOS);
            // A thread that stays interrupted would never pause.
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends a context while nobody records, queries or awaits an event, which might be one of that context's. */
    public void whileEnding(final Runnable action) {
        endings.incrementAndGet();
        try {
            awaitThoseInside();
            action.run();
        } finally {
            endings.decrementAndGet();
        }
    }

    /** Says that a stream's capture has ended, or that the stream is gone. */
    public void ended(final long stream) {
        contexts.remove(Captured.of(stream));
    }

    /** Says that a context is gone, and with it its streams. */
    public void contextEnded(final long context) {
        contexts.values().removeIf(each -> each == context);
    }

    /** Answers whether the device must be left alone, since there is a capture, or a context is being ended. */
    public boolean any() {
        return !contexts.isEmpty() || endings.get() > 0;
    }

    /** Keeps captures from beginning until {@link #leave}; false if there is one, and nothing to leave. */
    boolean enter() {
        // This volatile write comes before the look for a capture; it pairs with awaitThoseInside.
        inside.incrementAndGet();
        if (any()) {
            leave();
            return false;
        }
        return true;
    }

    void leave() {
        inside.decrementAndGet();
    }

    /** Does a step that can't be put off; no capture begins meanwhile, unless there is one already. */
    void guarded(final Runnable step) {
        final boolean entered = enter();
        try {
            step.run();
        } finally {
            if (entered) {
                leave();
            }
        }
    }

    /** Answers whether somebody has entered and not left. */
    public boolean isEntered() {
        return inside.get() > 0;
    }

    /** Makes a call that takes or gives back memory; captures of streams forbid it, except in this relaxed mode. */
    public static int relaxed(final CudaCalls calls, final IntSupplier call) {
        final int[] mode = {CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED};
        final boolean exchanged = calls.exchangeCaptureMode(mode) == CudaCalls.SUCCESS;
        try {
            return call.getAsInt();
        } finally {
            if (exchanged) {
                calls.exchangeCaptureMode(mode);
            }
        }
    }
}
