package io.outboard.pool;

import io.outboard.pool.internal.arena.Marks;
import io.outboard.pool.internal.arena.Progress;
import io.outboard.pool.internal.arena.StreamLimbo;
import io.outboard.pool.internal.arena.Streams;
import io.outboard.pool.internal.guard.SpinLock;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks the device for all arenas of a pool, one thread at a time: a mark is made only if no earlier one covers what is asked for, and
 * its answer is {@link Progress}, which everybody reads. Sixteen threads that mark at once take tens of microseconds; who finds another
 * asking waits for that answer, which comes within one or two.
 *
 * <p>The lock that is held meanwhile guards nothing else; no arena's is held. What waits for the device's work, {@link #awaitOldest} and
 * {@link #await}, does so without it. If the device fails, what it fails with is thrown, and nothing is lost or handed out.
 *
 * <p>Safe for any number of threads.
 */
final class DeviceMarks {

    /** Unfinished marks of all work, spread over the device's backlog: memory comes back by an eighth of that at a time, or less. */
    static final int MOST_MARKS = 16;

    /** Some twenty microseconds: an answer takes a few, and the thread that waits for it may not be the one that is to run. */
    private static final int MOST_SPINS = 500;

    private static final long PAUSE_NS = 50_000;

    private final DeviceWork work;
    private final Progress progress;
    private final Streams streams;
    private final SpinLock asking = new SpinLock();

    /** Of all work. */
    private final Marks all = new Marks(MOST_MARKS);

    private boolean ended;

    /** The device couldn't be marked when it was tried last, and no mark is out: nothing comes back. */
    private volatile boolean unmarkable;

    /** A thread waits for it: that releases it. No mark if none does. Written under the lock. */
    private volatile long awaited = DeviceWork.NO_MARK;

    /** So many marks like it were forgotten meanwhile: of two that are equal each is to be released. */
    private int awaitedOver;

    /** The number of the last mark of all work, or less if it was forgotten. Written under the lock. */
    private volatile long lastMade;

    private final LongAdder made = new LongAdder();

    DeviceMarks(final DeviceWork work, final Progress progress, final Streams streams) {
        this.work = work;
        this.progress = progress;
        this.streams = streams;
    }

    /** Marks of all work that were made so far. */
    long made() {
        return made.sum();
    }

    /** Whether no mark is out, and none could be made: there is nothing to wait for. */
    boolean isUnmarkable() {
        return unmarkable || work.isCapturing();
    }

    /** Whether the mark with this number has finished, or a later one; makes one, if need be. Doesn't wait for the device, but for others who ask. */
    @SuppressWarnings("ThreadPriorityCheck")
    boolean ask(final long number) {
        for (int spins = 0; progress.finished() < number; spins++) {
            if (spins > 0 && lastMade >= number && !asking.taken) {
                // Another's answer, which is for this one, too.
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

    /** As {@link #ask}, unless another thread asks: for who needs no memory now. */
    boolean askAhead(final long number) {
        if (progress.finished() >= number) {
            return true;
        }
        if (!asking.tryLock()) {
            return false;
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

    /** Waits for the oldest mark, without the lock, unless a stream is being captured. False if there is none, or another thread waits. */
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

    // Of one stream

    /** Marks a stream's work, for what was freed on it by now. It exists. */
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

    /** As {@link #ask}, also for all that was freed on any stream by now; blocks whose stream has finished come back. */
    boolean askAll(final long number) {
        final long last = Math.max(number, streams.closeAll());
        askStreams();
        final boolean finished = ask(last);
        streams.releaseFinished();
        return finished;
    }

    /** Finds out which streams have finished. */
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

    // The end

    /** Waits for all work that was submitted by now, unless a stream is being captured. For the end: the pool's marks are forgotten. */
    void await() {
        forgetAll();
        made.increment();
        work.awaitAll();
    }

    /** Nothing is marked from now on, and all marks are forgotten: by who waits for one, too, which takes no longer than {@link #await}. */
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

    /** Nothing waits for any mark; what does all the same waits for the next one of all work. */
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
