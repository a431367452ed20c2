package io.outboard.pool;

import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait for the device, the oldest first. As long as there are any, what comes back is placed for the oldest, by its own
 * thread; when that has been served, it places those behind it as long as there is room. Whoever is placed has left the queue, whether its
 * thread is awake or not. So nobody is overtaken, and a request is refused only if the memory that there is can't serve it.
 *
 * <p>Safe for any number of threads. The monitor guards the queue; arenas' locks are taken under it when the last one leaves.
 */
final class WaitQueue {

    /** A request that waits: one thread at a time places it, its own or that of the one before it. */
    static final class Request {

        final Arena home;
        final long sizeBytes;
        final long alignmentBytes;
        private final Thread thread = Thread.currentThread();

        /** It asks handlers: those behind it needn't wait for that, and its own thread may allocate. Guarded by the monitor. */
        private boolean aside;

        /** Who places it just now; null for nobody. Guarded by the monitor. */
        private @Nullable Thread placer;

        /** Of its block, once another thread has placed it. */
        volatile long address = Strategy.NO_SPACE;

        Request(final Arena home, final long sizeBytes, final long alignmentBytes) {
            this.home = home;
            this.sizeBytes = sizeBytes;
            this.alignmentBytes = alignmentBytes;
        }
    }

    /** Some twenty microseconds: if the device is idle the turn comes within a few, and to wake a thread takes 50. */
    private static final int MOST_SPINS = 8;

    private static final int SPINS_BETWEEN = 64;

    private final Arenas arenas;
    private final List<Request> requests = new ArrayList<>();

    /** Requests that another thread has placed, and whose own threads have yet to leave. Guarded by the monitor. */
    private int waking;

    WaitQueue(final Arenas arenas) {
        this.arenas = arenas;
    }

    /** Whether the calling thread has to stand behind others. */
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

    /** At the end, or before all if the calling thread already waits, and its handlers have called it. */
    synchronized void enter(final Request request) {
        requests.add(isAside() ? 0 : requests.size(), request);
        arenas.await(true);
    }

    /** It is served, or won't be: the next one may look. */
    synchronized void leave(final Request request) {
        if (!requests.remove(request)) {
            waking--;
        } else if (requests.isEmpty()) {
            arenas.await(false);
        } else {
            wakeFirst();
        }
    }

    /** Whether a request has a block of which its thread doesn't know yet. The thread may free it as soon as it does. */
    synchronized boolean isAnyWaking() {
        return waking > 0;
    }

    /** It goes to ask handlers, or comes back from that: it keeps its place. */
    synchronized void stepAside(final Request request, final boolean aside) {
        request.aside = aside;
        wakeFirst();
    }

    /** The pool is closed: everybody is to look. */
    synchronized void wakeAll() {
        requests.forEach(request -> LockSupport.unpark(request.thread));
    }

    private void wakeFirst() {
        final Request first = firstBut(null);
        if (first != null && first.thread != Thread.currentThread()) {
            LockSupport.unpark(first.thread);
        }
    }

    /** The oldest that isn't aside, without looking at one. The monitor is held. */
    private @Nullable Request firstBut(final @Nullable Request served) {
        for (final Request request : requests) {
            if (request != served && !request.aside) {
                return request;
            }
        }
        return null;
    }

    /** Waits until it is the oldest, so that its thread is to place it, or is served, or the pool is closed. */
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

    /** Places those behind one that has been served, as long as there is room. */
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
            // The next one looks itself, once the one that has been served has left.
        }
    }

    /** The next one, to be {@link #placed} then; null if another thread places it. */
    private synchronized @Nullable Request behind(final Request served) {
        final Request next = firstBut(served);
        if (next == null || next.placer != null) {
            // Nobody overtakes one that is being placed.
            return null;
        }
        next.placer = Thread.currentThread();
        return next;
    }

    private synchronized void placed(final Request request, final long address) {
        request.address = address;
        request.placer = null;
        if (address >= 0) {
            // Now: until its thread has woken, all others would have to wait behind it.
            leave(request);
            waking++;
        }
        LockSupport.unpark(request.thread);
    }
}
