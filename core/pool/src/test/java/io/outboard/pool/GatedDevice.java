package io.outboard.pool;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A gated device ends the work before a mark when the test says so. Marks are numbered from 0, those of all work
 * together with those of streams. A thread that waits for a mark waits until then, or until a capture begins. Safe for
 * any number of threads.
 */
class GatedDevice implements DeviceWork {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<Long> out = new HashSet<>();
    private final Set<Thread> askedBy = new HashSet<>();
    private final Set<Long> awaited = new HashSet<>();
    private long marks;
    private long finished;
    private boolean capturing;
    private @Nullable Supplier<? extends Throwable> failure;

    /** Returns how many marks were made. */
    long marks() {
        return locked(() -> marks);
    }

    int marksOut() {
        return locked(out::size);
    }

    /** Returns the threads that asked this device anything. */
    Set<Thread> askedBy() {
        return locked(() -> Set.copyOf(askedBy));
    }

    /** Ends the work before the first {@code count} marks. */
    void finish(final long count) {
        change(() -> finished = Math.max(finished, count));
    }

    /** Ends all work, including that of marks to come. */
    void finishAll() {
        finish(Long.MAX_VALUE);
    }

    /** Ends the work of all marks so far; work of marks to come isn't finished. */
    void goOn() {
        change(() -> finished = marks);
    }

    void capturing(final boolean newCapturing) {
        change(() -> capturing = newCapturing);
    }

    /** Makes the wait that is going on, or the next question, fail. */
    void failOnce(final Supplier<? extends Throwable> newFailure) {
        change(() -> failure = newFailure);
    }

    private void change(final Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private <T> T locked(final Supplier<T> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isCapturing() {
        return locked(() -> capturing);
    }

    @Override
    public long mark() {
        return locked(() -> {
            askedBy.add(Thread.currentThread());
            if (capturing) {
                return NO_MARK;
            }
            out.add(marks);
            return marks++;
        });
    }

    @Override
    public long mark(final long stream) {
        return mark();
    }

    @Override
    public boolean isFinished(final long mark) {
        return locked(() -> {
            askedBy.add(Thread.currentThread());
            check(mark);
            fail();
            return mark < finished && !capturing;
        });
    }

    private void fail() {
        final Supplier<? extends Throwable> thrown = failure;
        failure = null;
        if (thrown != null) {
            throw GatedDevice.<RuntimeException>unchecked(thrown.get());
        }
    }

    @Override
    public void await(final long mark) {
        lock.lock();
        try {
            check(mark);
            askedBy.add(Thread.currentThread());
            awaited.add(mark);
            changed.signalAll();
            while (mark >= finished && !capturing && failure == null) {
                changed.awaitUninterruptibly();
            }
            fail();
        } finally {
            awaited.remove(mark);
            lock.unlock();
        }
    }

    /** Waits until a thread waits for a mark whose work hasn't ended. */
    void awaitWaiter() {
        lock.lock();
        try {
            while (awaited.stream().noneMatch(mark -> mark >= finished)) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> T unchecked(final Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Override
    public void release(final long mark) {
        locked(() -> {
            check(mark);
            return out.remove(mark);
        });
    }

    private void check(final long mark) {
        if (!out.contains(mark)) {
            throw new IllegalStateException("mark=" + mark + " must be one that wasn't released");
        }
    }
}
