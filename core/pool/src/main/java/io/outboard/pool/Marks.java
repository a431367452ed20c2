package io.outboard.pool;

import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.guard.Failures;
import io.outboard.pool.internal.limbo.Epochs;
import io.outboard.pool.internal.limbo.Limbo;
import io.outboard.pool.internal.limbo.StreamEpochs;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Marks of the device's work, of all or of each stream, and what is known of them: with {@link ReusePolicy#TRACKED} and {@link
 * ReusePolicy#STREAM_ORDERED} an epoch passes when the work before its mark has finished.
 *
 * <p>The mark lock guards them, and is held while the device is asked about them. No arena's lock is held then.
 */
final class Marks {

    private final DeviceWork work;
    private final Arenas arenas;
    private final StreamEpochs epochs;
    private final PoolEvents events;

    /** How often the device was waited for. */
    private final LongAdder waits;

    private final ReentrantLock markLock = new ReentrantLock();

    /** Somebody waits for a mark, with the mark lock, because there is no other memory. */
    private volatile boolean awaiting;

    /** Guarded by the mark lock. */
    private boolean ended;

    Marks(final DeviceWork work, final Arenas arenas, final PoolEvents events, final LongAdder waits) {
        this.work = work;
        this.arenas = arenas;
        epochs = arenas.epochs;
        this.events = events;
        this.waits = waits;
    }

    /** Then the mark lock isn't to be had soon. */
    boolean isAwaiting() {
        return awaiting;
    }

    /** How many haven't passed, or have still to be made. */
    int count() {
        markLock.lock();
        try {
            int count = 0;
            for (final Epochs each : epochs.each()) {
                count += each.marks() + (each.isAwaited() ? 1 : 0);
            }
            return count;
        } finally {
            markLock.unlock();
        }
    }

    /** Marks what waits for a mark, and what has finished passes. */
    void markAndPass() {
        markLock.lock();
        markPassAndUnlock();
    }

    /** As {@link #markAndPass}, unless somebody has the mark lock. */
    void tryMarkAndPass() {
        if (markLock.tryLock()) {
            markPassAndUnlock();
        }
    }

    private void markPassAndUnlock() {
        try {
            markAndAsk();
        } finally {
            passAndUnlock();
        }
    }

    /** The stream is about to be destroyed: what was freed on it is marked now, or later with all streams. */
    void endStream(final long stream) {
        markLock.lock();
        try {
            final Epochs ending = epochs.end(stream);
            if (ending != null) {
                try {
                    for (final Arena arena : arenas.all()) {
                        arena.endStream(stream);
                    }
                    if (ending.isAwaited() && !ended && !work.isCapturing()) {
                        mark(ending);
                    }
                } finally {
                    ending.stream = Limbo.ALL_STREAMS;
                }
            }
        } finally {
            markLock.unlock();
        }
    }

    /** Nothing is marked from now on; when the device was waited for, all marks are forgotten. */
    void end(final Runnable waitForDevice, final Failures failures) {
        markLock.lock();
        try {
            ended = true;
            failures.attempt(waitForDevice);
            for (final Epochs each : epochs.each()) {
                while (each.marks() > 0) {
                    final long mark = each.firstMark();
                    each.removeFirst();
                    failures.attempt(() -> work.release(mark));
                }
            }
        } finally {
            markLock.unlock();
        }
    }

    // For a request that is placed with the mark lock held

    void lock() {
        markLock.lock();
    }

    /** Marks what waits for a mark, and finds out which marks have finished. Never waits. */
    void markAndAsk() {
        if (ended || work.isCapturing()) {
            return;
        }
        for (final Epochs each : epochs.each()) {
            if (each.isAwaited()) {
                mark(each);
            }
        }
        for (final Epochs each : epochs.each()) {
            ask(each);
            if (each != epochs.all && each.stream == Limbo.ALL_STREAMS && each.marks() == 0 && !each.isAwaited()) {
                each.passFinished();
                epochs.remove(each);
            }
        }
    }

    /** Begins an epoch whose end a mark tells; none if the device can't be marked now. */
    private void mark(final Epochs each) {
        each.reserveMark();
        final long epoch = each.begin();
        final long mark = each.stream == Limbo.ALL_STREAMS ? work.mark() : work.mark(each.stream);
        if (mark != DeviceWork.NO_MARK) {
            each.marked(epoch, mark);
        }
    }

    /** Finds out which marks have finished. Their epochs may pass then: here they don't yet. */
    private void ask(final Epochs each) {
        while (each.marks() > 0 && work.isFinished(each.firstMark())) {
            final long mark = each.firstMark();
            // First the epoch, so that it passes though the device may fail to forget the mark.
            each.firstFinished();
            work.release(mark);
        }
    }

    /** Waits for the oldest mark. */
    void awaitOldest() {
        Epochs oldest = null;
        for (final Epochs each : epochs.each()) {
            if (each.marks() > 0 && (oldest == null || each.firstEpoch() < oldest.firstEpoch())) {
                oldest = each;
            }
        }
        if (oldest == null || ended || work.isCapturing()) {
            return;
        }
        final PoolEvents.@Nullable SynchronisedEvent event = events.beginSynchronised();
        awaiting = true;
        try {
            work.await(oldest.firstMark());
        } finally {
            awaiting = false;
        }
        waits.increment();
        if (event != null) {
            event.commit(false);
        }
        ask(oldest);
    }

    /** What has finished passes, also if asking the device has failed for the rest. */
    void passAndUnlock() {
        try {
            epochs.pass(StreamEpochs.MARKED);
        } finally {
            markLock.unlock();
        }
    }
}
