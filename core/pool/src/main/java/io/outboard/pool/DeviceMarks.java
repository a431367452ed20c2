package io.outboard.pool;

import io.outboard.pool.internal.arena.Marks;
import io.outboard.pool.internal.arena.Progress;
import io.outboard.pool.internal.arena.StreamLimbo;
import io.outboard.pool.internal.arena.Streams;
import io.outboard.pool.internal.guard.SpinLock;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * This class asks the device for all arenas of a pool, one thread at a time, since sixteen that mark at once take tens
 * of microseconds. A mark is made only if no earlier one covers what is asked for; its answer is {@link Progress},
 * which everybody reads. A thread that finds another asking waits for that answer, a microsecond or two.
 *
 * <p>The lock that is held meanwhile guards nothing else, no arena's is held, and none while a thread waits for the
 * device's work. If the device fails, what it fails with is thrown, and nothing is lost or handed out.
 *
 * <p>Safe for any number of threads.
 */
final class DeviceMarks {

    /**
     * The most marks of all work. Unfinished marks are spread over the device's backlog, so at most an eighth of the
     * backlog comes back at a time.
     */
    static final int MOST_MARKS = 16;

    /**
     * The most spins of a thread that waits for an answer, some twenty microseconds. An answer takes a few, unless the
     * thread that must give it doesn't run.
     */
    private static final int MOST_SPINS = 500;

    private static final long PAUSE_NS = 50_000;

    private final DeviceWork work;
    private final Progress progress;
    private final Streams streams;
    private final SpinLock asking = new SpinLock();

    /** The marks of all work. */
    private final Marks all = new Marks(MOST_MARKS);

    private boolean ended;

    /** True if the device couldn't be marked at the last attempt, and no mark is out, so that nothing comes back. */
    private volatile boolean unmarkable;

    /** The mark that a thread waits for, and releases then. Written under the lock. */
    private volatile long awaited = DeviceWork.NO_MARK;

    /** The number of marks equal to {@link #awaited} that were forgotten meanwhile, each of which must be released. */
    private int awaitedOver;

    /** The number of the last mark of all work, or less if it was forgotten. Written under the lock. */
    private volatile long lastMade;

    private final LongAdder made = new LongAdder();

    DeviceMarks(final DeviceWork work, final Progress progress, final Streams streams) {
        this.work = work;
        this.progress = progress;
        this.streams = streams;
    }

    long made() {
        return made.sum();
    }

    /** Returns whether no mark is out, and none could be made, so that there is nothing to wait for. */
    boolean isUnmarkable() {
        return unmarkable || work.isCapturing();
    }

    /**
     * Returns whether a mark with this number or a later one has finished. Makes a mark if need be, and doesn't wait
     * for it.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    boolean ask(final long number) {
        for (int spins = 0; progress.finished() < number; spins++) {
            if (spins > 0 && lastMade >= number && !asking.taken) {
                // Another thread's answer serves this thread, too.
                return progress.finished() >= number;
            }
            if (asking.tryLock()) {
                try {
                    return askAlone(number);
                } finally {
                    asking.taken = false;
                }
            }
            if (spins < MOST_SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
        return true;
    }

    /** Does what {@link #ask} does, but gives up if another thread asks: for a caller that needs no memory now. */
    boolean askAhead(final long number) {
        if (progress.finished() >= number || !asking.tryLock()) {
            return progress.finished() >= number;
        }
        try {
            return askAlone(number);
        } finally {
            asking.taken = false;
        }
    }

    private boolean askAlone(final long number) {
        removeFinished();
        if (progress.finished() < number && lastMade < number && !ended) {
            final long begun = progress.begin();
            final long mark = work.mark();
            unmarkable = mark == DeviceWork.NO_MARK && all.isEmpty();
            if (mark >= 0) {
                made.increment();
                lastMade = begun;
                add(all, mark, begun);
                if (all.oldest() == mark) {
                    removeFinished();
                }
            }
        }
        return progress.finished() >= number;
    }

    /** Notes that a mark has finished before it is forgotten: the device may fail at that. */
    private void removeFinished() {
        while (!all.isEmpty() && work.isFinished(all.oldest())) {
            progress.finish(all.oldestNumber());
            forget(all.removeOldest());
        }
    }

    private void add(final Marks marks, final long mark, final long number) {
        marks.add(mark, number);
        if (marks.isFull()) {
            forget(marks.removeClosest());
        }
    }

    private void forget(final long mark) {
        if (mark == awaited) {
            awaitedOver++;
        } else {
            work.release(mark);
        }
    }

    /**
     * Waits for the oldest mark, or a capture, without the lock. Returns false if there is no mark, or another thread
     * waits.
     */
    boolean awaitOldest() {
        final long mark = beginAwait();
        if (mark == DeviceWork.NO_MARK) {
            return false;
        }
        try {
            work.await(mark);
            return true;
        } finally {
            endAwait(mark);
        }
    }

    private long beginAwait() {
        asking.lock();
        try {
            if (awaited != DeviceWork.NO_MARK || ended) {
                return DeviceWork.NO_MARK;
            }
            Marks oldest = all;
            for (final StreamLimbo stream : streams.all()) {
                final Marks marks = stream.marks;
                if (!marks.isEmpty() && (oldest.isEmpty() || marks.oldestNumber() < oldest.oldestNumber())) {
                    oldest = marks;
                }
            }
            awaited = oldest.isEmpty() ? DeviceWork.NO_MARK : oldest.oldest();
            return awaited;
        } finally {
            asking.taken = false;
        }
    }

    private void endAwait(final long mark) {
        asking.lock();
        try {
            awaited = DeviceWork.NO_MARK;
            while (awaitedOver > 0) {
                awaitedOver--;
                work.release(mark);
            }
        } finally {
            asking.taken = false;
        }
    }

    /** Marks the work of a stream, which exists, for what was freed on it by now. */
    void mark(final StreamLimbo stream, final long handle) {
        try {
            asking.lock();
            try {
                if (!ended) {
                    final long begun = progress.begin();
                    final long mark = work.mark(handle);
                    if (mark >= 0) {
                        add(stream.marks, mark, begun);
                    }
                }
            } finally {
                asking.taken = false;
            }
        } finally {
            stream.wasMarked();
        }
    }

    /**
     * Does what {@link #ask} does, for what was freed on streams by now, too; blocks whose stream has finished come
     * back.
     */
    boolean askAll(final long number) {
        final long last = Math.max(number, streams.closeAll());
        askStreams();
        final boolean finished = ask(last);
        streams.releaseFinished();
        return finished;
    }

    void askStreams() {
        for (final StreamLimbo stream : streams.all()) {
            final Marks marks = stream.marks;
            if (!marks.isEmpty()) {
                asking.lock();
                try {
                    while (!marks.isEmpty() && work.isFinished(marks.oldest())) {
                        stream.finished = marks.oldestNumber();
                        forget(marks.removeOldest());
                    }
                } finally {
                    asking.taken = false;
                }
            }
        }
    }

    /** Waits, at the end, for all work that was submitted by now, or a capture. The pool's marks are forgotten. */
    void await() {
        forgetAll();
        made.increment();
        work.awaitAll();
    }

    /** Marks nothing from now on, and forgets all marks once nobody waits for one any more. */
    void end() {
        asking.lock();
        ended = true;
        asking.taken = false;
        // From now on nobody begins to wait.
        while (awaited != DeviceWork.NO_MARK) {
            LockSupport.parkNanos(this, PAUSE_NS);
        }
        forgetAll();
    }

    /** Forgets all marks. What still waits for one of them waits for the next mark of all work. */
    void forgetAll() {
        asking.lock();
        try {
            while (!all.isEmpty()) {
                lastMade = progress.finished();
                forget(all.removeOldest());
            }
            for (final StreamLimbo stream : streams.all()) {
                while (!stream.marks.isEmpty()) {
                    forget(stream.marks.removeOldest());
                }
            }
        } finally {
            asking.taken = false;
        }
    }
}
