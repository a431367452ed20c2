package io.outboard.pool;

import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The wait queue has the requests that wait for the device, the oldest first. While there are any, what comes back is
 * placed for the oldest, by its own thread. Once the oldest request is served, its thread places the requests behind it
 * as long as there is room. A request that is placed has left the queue, whether its thread is awake or not. So no
 * request is overtaken, and one is refused only if the memory that there is can't serve it.
 *
 * <p>Safe for any number of threads. The monitor guards the queue. A thread takes arenas' locks under it when the last
 * request leaves.
 */
final class WaitQueue {

    /** A request waits for memory. One thread at a time places it: its own, or that of the request before it. */
    static final class Request {

        final Arena home;
        final long sizeBytes;
        final long alignmentBytes;
        private final Thread thread = Thread.currentThread();

        /**
         * True while the request asks handlers: those behind it needn't wait for the handlers, and its own thread may
         * allocate. Guarded by the monitor.
         */
        private boolean aside;

        /** The thread that places the request just now, or null. Guarded by the monitor. */
        private @Nullable Thread placer;

        /** The address of the request's block, once another thread has placed the request. */
        volatile long address = Strategy.NO_SPACE;

        Request(final Arena home, final long sizeBytes, final long alignmentBytes) {
            this.home = home;
            this.sizeBytes = sizeBytes;
            this.alignmentBytes = alignmentBytes;
        }
    }

    /**
     * The most spins before a sleep, some twenty microseconds: on an idle device the turn comes within a few, and to
     * wake a thread takes 50.
     */
    private static final int MOST_SPINS = 8;

    private static final int SPINS_BETWEEN = 64;

    private final Arenas arenas;
    private final List<Request> requests = new ArrayList<>();

    /** How many requests another thread has placed whose own threads have yet to leave. Guarded by the monitor. */
    private int waking;

    WaitQueue(final Arenas arenas) {
        this.arenas = arenas;
    }

    /** Returns whether the calling thread has to stand behind others. */
    boolean isAhead() {
        return arenas.isAwaited() && !isAside();
    }

    private synchronized boolean isAside() {
        for (final Request request : requests) {
            if (request.aside && request.thread == Thread.currentThread()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Enters a request at the end, or before all others if the calling thread already waits and its handlers have
     * called it.
     */
    synchronized void enter(final Request request) {
        requests.add(isAside() ? 0 : requests.size(), request);
        arenas.await(true);
    }

    /** Removes a request that is served, or won't be: the next one may look. */
    synchronized void leave(final Request request) {
        if (!requests.remove(request)) {
            waking--;
        } else if (requests.isEmpty()) {
            arenas.await(false);
        } else {
            wakeFirst();
        }
    }

    /**
     * Returns whether a request has a block of which its thread doesn't know yet. The thread may free it as soon as it
     * does.
     */
    synchronized boolean isAnyWaking() {
        return waking > 0;
    }

    /** Tells that a request's thread goes to ask handlers, or comes back: the request keeps its place. */
    synchronized void stepAside(final Request request, final boolean aside) {
        request.aside = aside;
        wakeFirst();
    }

    /** Wakes all threads, since the pool is closed. */
    synchronized void wakeAll() {
        requests.forEach(request -> LockSupport.unpark(request.thread));
    }

    private void wakeFirst() {
        final Request first = firstBut(null);
        if (first != null && first.thread != Thread.currentThread()) {
            LockSupport.unpark(first.thread);
        }
    }

    /** Returns the oldest request that isn't aside and isn't the one that is given. The monitor is held. */
    private @Nullable Request firstBut(final @Nullable Request served) {
        for (final Request request : requests) {
            if (request != served && !request.aside) {
                return request;
            }
        }
        return null;
    }

    /** Waits until a request is the oldest, so that its thread is to place it, or is served, or the pool is closed. */
    void awaitTurn(final Request request) {
        boolean interrupted = false;
        for (int looks = 0; !isItsTurn(request); looks++) {
            if (looks < MOST_SPINS) {
                for (int i = 0; i < SPINS_BETWEEN && request.address < 0; i++) {
                    Thread.onSpinWait();
                }
            } else {
                LockSupport.park(this);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean isItsTurn(final Request request) {
        if (request.address >= 0 || arenas.isClosed()) {
            return true;
        }
        if (request.placer != null && request.placer != request.thread) {
            return false;
        }
        request.placer = firstBut(null) == request ? request.thread : null;
        return request.placer != null;
    }

    /** Places the requests behind one that has been served, as long as there is room. */
    void serveBehind(final Request served) {
        try {
            for (Request next = behind(served); next != null; next = behind(served)) {
                long address = Strategy.NO_SPACE;
                try {
                    address = arenas.allocateAnywhere(next.home, next.sizeBytes, next.alignmentBytes, true);
                } finally {
                    placed(next, address);
                }
                if (address < 0) {
                    return;
                }
            }
        } catch (final OutOfMemoryError ignored) {
            // The next request's thread looks itself, once the one that was served has left.
        }
    }

    /** Returns the next request, for which {@link #placed} must be called then; null if another thread places it. */
    private synchronized @Nullable Request behind(final Request served) {
        final Request next = firstBut(served);
        if (next == null || next.placer != null) {
            // No request overtakes one that is being placed.
            return null;
        }
        next.placer = Thread.currentThread();
        return next;
    }

    private synchronized void placed(final Request request, final long address) {
        request.address = address;
        request.placer = null;
        if (address >= 0) {
            // This happens now, since all others would wait behind the request until its thread has woken.
            leave(request);
            waking++;
        }
        LockSupport.unpark(request.thread);
    }
}
