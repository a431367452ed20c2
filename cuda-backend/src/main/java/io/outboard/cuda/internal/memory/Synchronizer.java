package io.outboard.cuda.internal.memory;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * This class finds out what has finished by synchronising contexts, for drivers and JDKs that can't mark all work of a
 * context. A mark is a ticket: the tickets given so far are done once a synchronisation that began after them has
 * returned.
 *
 * <p>On an idle device a synchronisation takes a microsecond, so the thread that takes a ticket synchronises by itself.
 * The default stream tells whether the device is idle, but only knows of blocking streams. If a synchronisation took
 * long nevertheless, other streams are at work: for some time, only a thread of our own synchronises, which ends after
 * some seconds without work.
 *
 * <p>Safe for any number of threads.
 */
final class Synchronizer implements Runnable {

    /**
     * The time of a synchronisation from which on the device isn't taken for idle. On an idle device, a synchronisation
     * took 90 microseconds at p99.9, beside threads that launch (H100, 2026-11-22).
     */
    private static final long LONG_NANOS = 100_000;

    private static final long FIRST_DOUBT_NANOS = 100_000_000L;
    private static final long LAST_DOUBT_NANOS = 1_600_000_000L;

    /** The time for which the thread waits for work before it ends. */
    private static final long IDLE_SECONDS = 5;

    /** The interval at which the thread looks whether a capture has ended. */
    private static final long CAPTURE_PAUSE_NANOS = 1_000_000;

    private final Supplier<ContextMarks[]> contexts;
    private final StreamCaptures captures;

    private final AtomicLong given = new AtomicLong();
    private final AtomicLong done = new AtomicLong();

    /** The last failed ticket: earlier tickets that aren't done have failed, too, with the code in {@link #failure}. */
    private volatile long failed;

    private volatile int failure = CudaCalls.SUCCESS;

    /** The time until which the default stream isn't asked whether the device is idle. Races do no harm. */
    private volatile long doubtEnd = System.nanoTime();

    private volatile long doubtNanos = FIRST_DOUBT_NANOS;

    /** There is one thread, and a queue for one task; a third task would find nothing to do. */
    private final ThreadPoolExecutor thread = new ThreadPoolExecutor(
            0,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(1),
            Synchronizer::newThread,
            new ThreadPoolExecutor.DiscardPolicy());

    Synchronizer(final Supplier<ContextMarks[]> contexts, final StreamCaptures captures) {
        this.contexts = contexts;
        this.captures = captures;
    }

    private static Thread newThread(final Runnable work) {
        // The thread inherits nothing from the caller's thread.
        final Thread thread = new Thread(null, work, "outboard-synchronizer", 0, false);
        thread.setContextClassLoader(null);
        thread.setDaemon(true);
        return thread;
    }

    /** Gives a ticket, 1 or more. */
    long mark() {
        final long ticket = given.incrementAndGet();
        if (!synchronizeIfIdle()) {
            thread.execute(this);
        }
        return ticket;
    }

    /** Answers a code of {@link ContextMarks}. */
    int ask(final long ticket) {
        if (done.get() >= ticket || thread.isShutdown()) {
            return CudaCalls.SUCCESS;
        }
        if (captures.any()) {
            return ContextMarks.CAPTURED;
        }
        if (failed >= ticket) {
            CudaFailures.check("cuCtxSynchronize", failure);
        }
        synchronizeIfIdle();
        return done.get() >= ticket ? CudaCalls.SUCCESS : ContextMarks.RUNNING;
    }

    private boolean synchronizeIfIdle() {
        if (System.nanoTime() - doubtEnd < 0 || !captures.enter()) {
            return false;
        }
        try {
            for (final ContextMarks each : contexts.get()) {
                if (each.queryDefaultStream() != CudaCalls.SUCCESS) {
                    return false;
                }
            }
            final long start = System.nanoTime();
            final boolean finished = synchronizeAll();
            final long end = System.nanoTime();
            if (end - start > LONG_NANOS) {
                doubtEnd = end + doubtNanos;
                doubtNanos = Math.min(2 * doubtNanos, LAST_DOUBT_NANOS);
            }
            return finished;
        } finally {
            captures.leave();
        }
    }

    /** Synchronises inside the guard; false if a stream is captured. */
    private boolean synchronizeAll() {
        final long covered = given.get();
        int code = CudaCalls.SUCCESS;
        final ContextMarks[] all = contexts.get();
        for (final ContextMarks each : all) {
            final int answer = each.synchronize();
            if (answer == ContextMarks.CAPTURED) {
                return false;
            }
            // A failure of another context is ignored, because a broken context does no more work.
            code = each == all[0] ? answer : code;
        }
        if (code == CudaCalls.SUCCESS) {
            done.accumulateAndGet(covered, Math::max);
        } else {
            failure = code;
            failed = covered;
        }
        return true;
    }

    private boolean isBehind() {
        return Math.max(done.get(), failed) < given.get();
    }

    @Override
    public void run() {
        while (isBehind() && !thread.isShutdown()) {
            if (!synchronizeGuarded()) {
                LockSupport.parkNanos(this, CAPTURE_PAUSE_NANOS);
            }
        }
    }

    /** Synchronises on our own thread, which holds the monitor while it is in a context. */
    private synchronized boolean synchronizeGuarded() {
        if (thread.isShutdown() || !captures.enter()) {
            return false;
        }
        try {
            return synchronizeAll();
        } finally {
            captures.leave();
        }
    }

    /** Runs an action while our own thread is in no context. */
    synchronized void whileResting(final Runnable action) {
        action.run();
    }

    /** Ends the thread, since the context and all its work are gone. */
    void end() {
        thread.shutdown();
    }
}
