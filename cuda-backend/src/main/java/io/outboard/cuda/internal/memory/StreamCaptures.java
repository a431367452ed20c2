package io.outboard.cuda.internal.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import jcuda.driver.CUstreamCaptureMode;

/**
 * This class knows which streams are being captured into graphs, as far as the facade has begun the captures, and
 * guards captures against calls that break them. These calls wait for the device, or record or query events; one that
 * runs during the driver's begin of a capture can even crash the process.
 *
 * <pre>
 *   the capture:  announce; wait until those inside have left; the driver's begin ... the driver's end; withdraw
 *   others:       enter, unless a capture is announced; call the driver; leave
 * </pre>
 *
 * <p>A thread that enters never waits. A thread that begins a capture waits for those inside, but only for a limited
 * time. The limit is safe: a thread that stays inside longer is waiting for the device in the driver, which a capture
 * that begins later doesn't disturb. The limit is necessary: such a wait may depend on the very thread that begins the
 * capture. Safe for any number of threads.
 */
public final class StreamCaptures {

    /** The handle that names each thread's own default stream. */
    public static final long PER_THREAD_STREAM = 2;

    private static final long PAUSE_NANOS = 100_000;

    /** The number of pauses in a wait of 100 to 300 ms. There are many, so that a stall in one matters little. */
    private static final int MOST_PAUSES = 1000;

    /** A captured stream has its thread's number, or 0 if the handle means the same to all threads. */
    private record Captured(long stream, long thread) {

        static Captured of(final long stream) {
            // The number identifies the thread, since no later thread gets it.
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
     * Announces a capture, and waits for the threads inside, some 300 ms at most. The caller then makes the driver's
     * begin, and calls {@link #ended} if the driver fails. Returns false if the stream was captured already.
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
        // The volatile read in isEntered comes after the announcement. It pairs with enter, which first counts itself
        // and then looks for a capture, so at least one of the two threads sees the other.
        for (int i = 0; i < MOST_PAUSES && isEntered(); i++) {
            LockSupport.parkNanos(PAUSE_NANOS);
            // A thread that stays interrupted would never pause.
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Runs an action that ends a context, while nobody records, queries or awaits an event, since the event might be
     * the context's.
     */
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

    /**
     * Enters, so that no capture begins until {@link #leave}. Returns false, without having entered, if there is a
     * capture or a context is being ended.
     */
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

    /**
     * Does a step that can't be put off. No capture begins meanwhile; but if there is one already, the step is done
     * nevertheless.
     */
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

    /**
     * Makes a call that allocates or frees device memory, in the relaxed mode: in other modes, a capture of a stream
     * forbids such calls.
     */
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
