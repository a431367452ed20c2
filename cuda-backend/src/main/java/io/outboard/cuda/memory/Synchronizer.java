package io.outboard.cuda.memory;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what has finished by synchronising contexts, for drivers and JDKs that can't mark all work of one. A mark is a ticket: the tickets
 * given so far are done once a synchronisation has returned that began after them.
 *
 * <p>On an idle device that takes a microsecond, so whoever has a ticket synchronises. Whether it is idle the default stream tells, but only of
 * streams that block: if a synchronisation took long nevertheless, others are at work, and for some time a thread of our own synchronises.
 * That thread parks when there is nothing to do, and ends after some seconds of that.
 *
 * <p>Safe for any number of threads.
 */
final class Synchronizer implements Runnable {

    /** More than it takes on an idle device, beside threads that launch 90 microseconds at p99.9 (H100, 2026-11-22). */
    private static final long LONG_NANOS = 100_000;

    private static final long FIRST_DOUBT_NANOS = 100_000_000L;
    private static final long LAST_DOUBT_NANOS = 1_600_000_000L;

    /** So long the thread waits for work before it ends. */
    private static final long IDLE_NANOS = 5_000_000_000L;

    /** Between two looks whether a capture has ended. */
    private static final long CAPTURE_PAUSE_NANOS = 1_000_000;

    private final Supplier<ContextMarks[]> contexts;
    private final StreamCaptures captures;

    private final AtomicLong given = new AtomicLong();
    private final AtomicLong done = new AtomicLong();

    /** Tickets up to here that aren't done have failed, with that code. */
    private volatile long failed;

    private volatile int failure = CudaCalls.SUCCESS;

    /** Until then the default stream isn't believed. Races do no harm. */
    private volatile long doubtEnd = System.nanoTime();

    private volatile long doubtNanos = FIRST_DOUBT_NANOS;

    /** Held by the thread while it is in a context. */
    private final ReentrantLock working = new ReentrantLock();

    /** Guarded by the monitor. */
    private @Nullable Thread thread;

    private volatile boolean ended;

    Synchronizer(final Supplier<ContextMarks[]> contexts, final StreamCaptures captures) {
        this.contexts = contexts;
        this.captures = captures;
    }

    /** A ticket, 1 or more. */
    long mark() {
        final long ticket = given.incrementAndGet();
        if (!synchronizeIfIdle()) {
            wake();
        }
        return ticket;
    }

    /** A code of {@link ContextMarks}. */
    int ask(final long ticket) {
        if (done.get() >= ticket || ended) {
            return CudaCalls.SUCCESS;
        }
        if (captures.any()) {
            return ContextMarks.CAPTURED;
        }
        if (failed >= ticket) {
            CudaFailureException.check("cuCtxSynchronize", failure);
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

    /** False if a stream is captured. Guarded. */
    private boolean synchronizeAll() {
        final long covered = given.get();
        int code = CudaCalls.SUCCESS;
        final ContextMarks[] all = contexts.get();
        for (final ContextMarks each : all) {
            final int answer = each.synchronize();
            if (answer == ContextMarks.CAPTURED) {
                return false;
            }
            // Another context that is broken does no work any more.
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

    private synchronized void wake() {
        if (ended) {
            return;
        }
        if (thread == null) {
            // Without what the caller's thread would pass on.
            thread = new Thread(null, this, "outboard-synchronizer", 0, false);
            thread.setContextClassLoader(null);
            thread.setDaemon(true);
            thread.start();
        }
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        long lastWork = System.nanoTime();
        try {
            while (!ends(lastWork)) {
                if (!isBehind()) {
                    LockSupport.parkNanos(this, IDLE_NANOS);
                } else {
                    if (!synchronizeGuarded()) {
                        LockSupport.parkNanos(this, CAPTURE_PAUSE_NANOS);
                    }
                    lastWork = System.nanoTime();
                }
            }
        } finally {
            gone();
        }
    }

    /** The next one starts another. Looks under the monitor, so that none is missed. */
    private synchronized boolean ends(final long lastWork) {
        if (!ended && (isBehind() || System.nanoTime() - lastWork < IDLE_NANOS)) {
            return false;
        }
        gone();
        return true;
    }

    private synchronized void gone() {
        if (Thread.currentThread().equals(thread)) {
            thread = null;
        }
    }

    private boolean synchronizeGuarded() {
        working.lock();
        try {
            if (ended || !captures.enter()) {
                return false;
            }
            try {
                return synchronizeAll();
            } finally {
                captures.leave();
            }
        } finally {
            working.unlock();
        }
    }

    /** The thread is in no context meanwhile. */
    void whileResting(final Runnable action) {
        working.lock();
        try {
            action.run();
        } finally {
            working.unlock();
        }
    }

    /** The context is gone, with all work. The thread ends. */
    synchronized void end() {
        ended = true;
        LockSupport.unpark(thread);
    }
}
