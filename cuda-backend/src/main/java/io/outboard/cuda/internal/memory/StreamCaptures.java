package io.outboard.cuda.internal.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import jcuda.driver.CUstreamCaptureMode;

/**
 * The captures into graphs that the facade has begun and not ended, by their streams; and a guard between captures and the
 * calls that they don't bear: to wait for the device, to record and query events. One such call during a capture breaks it,
 * and one that runs into the driver's begin can crash the process.
 *
 * <pre>
 *   the capture:  announce; let those inside leave; the driver's begin ... the driver's end; withdraw
 *   others:       enter, unless one is announced; call the driver; leave
 * </pre>
 *
 * <p>Nobody who enters ever waits. Whoever begins a capture waits for those inside, but not for long: who is inside for that
 * long is in the driver and waits for the device, which a capture that begins later doesn't disturb; and what it waits for
 * may depend on the very thread that begins the capture. Safe for any number of threads.
 */
public final class StreamCaptures {

    /** The handle that names each thread's own default stream. */
    static final long PER_THREAD_STREAM = 2;

    private static final long PAUSE_NANOS = 100_000;

    /** 100 to 300 ms, by the system's timer, in so many steps that a pause of the virtual machine in one of them is no great part of it. */
    private static final int MOST_PAUSES = 1000;

    /** A stream, and whose it is; thread 0 for a handle that means the same to all threads. */
    private record Captured(long stream, long thread) {

        static Captured of(final long stream) {
            // A number that no later thread gets.
            return new Captured(
                    stream, stream == PER_THREAD_STREAM ? Thread.currentThread().getId() : 0);
        }
    }

    /** Contexts of the streams. */
    private final Map<Captured, Long> contexts = new ConcurrentHashMap<>();

    private final AtomicInteger inside = new AtomicInteger();

    /** Contexts that are being ended. */
    private final AtomicInteger endings = new AtomicInteger();

    /**
     * Announces a capture, and waits for those inside, some 300 ms at most. The driver's begin comes next, and {@link #ended} if
     * that fails. False if the stream was captured already.
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
        // Volatile, after the capture was announced; pairs with enter, which counts first and then looks for a capture:
        // one of the two sees the other.
        for (int i = 0; i < MOST_PAUSES && isEntered(); i++) {
            LockSupport.parkNanos(PAUSE_NANOS);
            // Else all pauses would be none.
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends a context: nobody records or queries an event meanwhile, which might be one of that context's, nor waits for one. */
    public void whileEnding(final Runnable action) {
        endings.incrementAndGet();
        try {
            awaitThoseInside();
            action.run();
        } finally {
            endings.decrementAndGet();
        }
    }

    /** Or its stream is gone. */
    public void ended(final long stream) {
        contexts.remove(Captured.of(stream));
    }

    /** The context is gone, and with it its streams. */
    public void contextEnded(final long context) {
        contexts.values().removeIf(each -> each == context);
    }

    /** Whether there is a capture, or a context is being ended: the device must be left alone. */
    public boolean any() {
        return !contexts.isEmpty() || endings.get() > 0;
    }

    /** No capture begins until {@link #leave}, except after a long wait. False if there is one; then there is nothing to leave. May be nested. */
    boolean enter() {
        // Volatile, before the look for a capture; pairs with begin.
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

    /** Does what can't be put off: no capture begins meanwhile, unless there is one already. */
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

    /** Whether somebody has entered and not left. */
    public boolean isEntered() {
        return inside.get() > 0;
    }

    /**
     * Makes a call that takes or gives back memory. While a stream is captured CUDA forbids that, though the graph has nothing
     * to do with it, unless the calling thread asks for the relaxed mode.
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
